//! What is to be proved, and the protocol that the proof is about.

use super::Num;
use crate::syntax::Span;

/// A property that a text claims.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The property.
    pub kind: ClaimKind,
    /// Its position in the text.
    pub span: Span,
}

/// The properties (docs/reference/rota.md explains each).
#[derive(Clone, Debug, PartialEq)]
pub enum ClaimKind {
    /// For every task that is put somewhere, there is a CPU that may run it and looks there.
    NoLostTask,
    /// While a task waits and a CPU that would take it sleeps, a CPU is about to take the task.
    NoLostWakeup,
    /// Theorem 2: the attempts of an idle CPU fail only as often as other CPUs were faster.
    WorkConservation,
    /// Theorem 1: without events, no violation lasts longer than this many rounds.
    Rounds(Bound),
    /// Levels nest, cover the machine and end with it; leaders exist and are not held up.
    Hierarchy,
    /// A task in a first-in-first-out queue waits for no more dispatches than there are tasks
    /// before it, plus direct runs.
    Wait,
    /// The key of an ordered queue never falls, except where it is carried over to another queue,
    /// and a task's key is greater after the task ran.
    VtMonotone,
    /// A task that is new or slept is put, or started, at most this far behind the least key of its
    /// queue, and keeps its distance when it moves to another queue.
    Lag(Num),
    /// Periodic balancing moves tasks from long queues to empty ones, and ends if no event happens.
    Settles,
    /// No action of one partition changes the state of another. Never written in a text: every text
    /// with partitions claims this and the next one.
    Isolation,
    /// The machine has every property that the policies of all partitions have.
    Composition,
}

impl ClaimKind {
    /// Its word in the language.
    pub fn name(&self) -> &'static str {
        match self {
            ClaimKind::NoLostTask => "no_lost_task",
            ClaimKind::NoLostWakeup => "no_lost_wakeup",
            ClaimKind::WorkConservation => "work_conservation",
            ClaimKind::Rounds(_) => "rounds",
            ClaimKind::Hierarchy => "hierarchy",
            ClaimKind::Wait => "wait",
            ClaimKind::VtMonotone => "vt_monotone",
            ClaimKind::Lag(_) => "lag",
            ClaimKind::Settles => "settles",
            ClaimKind::Isolation => "isolation",
            ClaimKind::Composition => "composition",
        }
    }
    /// Its meaning, in one sentence.
    pub fn meaning(&self) -> &'static str {
        match self {
            ClaimKind::NoLostTask => {
                "if a task is in a queue, at least one CPU takes tasks from this queue and may run \
                 this task"
            }
            ClaimKind::NoLostWakeup => {
                "while a task waits and a CPU that would take this task sleeps, a wakeup is pending"
            }
            ClaimKind::WorkConservation => {
                "if an idle CPU searches k times and finds no task, although waiting tasks may run \
                 on this CPU, other CPUs took at least k of these tasks"
            }
            ClaimKind::Rounds(Bound::IdleCpus) => {
                "after a limited number of rounds without events, every CPU that may run a waiting \
                 task is busy; the limit is the number of CPUs that were idle"
            }
            ClaimKind::Rounds(Bound::IdleCpusAndMoves) => {
                "after a limited number of rounds without events, every CPU that may run a waiting \
                 task is busy; the limit is the number of CPUs that were idle plus the number of \
                 tasks that periodic balancing moved"
            }
            ClaimKind::Hierarchy => {
                "levels are nested, the last level is the whole machine, and no leader is offline \
                 or delayed forever"
            }
            ClaimKind::Wait => {
                "the number of dispatches for which a task waits is at most the number of tasks \
                 ahead of it plus the number of direct runs"
            }
            ClaimKind::VtMonotone => {
                "keys of ordered queues never decrease, and the key of a task increases when the \
                 task runs"
            }
            ClaimKind::Lag(_) => {
                "when a task that slept is queued, its key is at most the given time below the \
                 least key of the queue; a move to another queue keeps this distance"
            }
            ClaimKind::Settles => {
                "periodic balancing can move tasks, but without events it moves only a limited \
                 number of tasks"
            }
            ClaimKind::Isolation => "no step in one partition changes the state of another",
            ClaimKind::Composition => {
                "claims that are proved for every partition hold for the machine"
            }
        }
    }
}

/// The bound on rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// `idle_cpus`: one for each idle CPU.
    IdleCpus,
    /// `idle_cpus + periodic_moves`: one more for each task that periodic balancing moves
    /// meanwhile.
    IdleCpusAndMoves,
}

/// How queues and idle CPUs avoid missing each other. In emitted code every field is `false`;
/// `true` is a fault that a text requests in order to show its consequences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Protocol {
    /// The idle CPU is searched before the task is in its queue (`enqueue: kick, insert`).
    pub kick_first: bool,
    /// A CPU looks for tasks first and sets its idle flag afterwards (`idle: no_rescan`).
    pub no_rescan: bool,
    /// A CPU that took a task does not pass the wakeup on (`dispatch: no_chain`).
    pub no_chain: bool,
    /// A steal trusts what was read without the lock (`steal: unchecked`).
    pub unchecked: bool,
    /// NUMA groups are those of Linux before 4.12, built from CPU 0's point of view (`groups:
    /// cpu0`).
    pub groups_from_cpu0: bool,
    /// Its position in the text.
    pub span: Span,
}

impl Protocol {
    /// Whether no fault is requested.
    pub fn is_safe(&self) -> bool {
        *self == Protocol { span: self.span, ..Protocol::default() }
    }
}
