//! What is to be proved, and the protocol that the proof is about.

use super::Num;
use crate::syntax::Span;

/// Something that a text claims.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// What.
    pub kind: ClaimKind,
    /// Where it stands.
    pub span: Span,
}

/// The properties (docs/reference/rota.md says what each means).
#[derive(Clone, Debug, PartialEq)]
pub enum ClaimKind {
    /// Every task that is put somewhere can be found there by a CPU that may run it.
    NoLostTask,
    /// While a task waits and a CPU that would take it sleeps, somebody is on the way.
    NoLostWakeup,
    /// Theorem 2: an idle CPU fails only as often as others were faster.
    WorkConservation,
    /// Theorem 1: without events no violation outlasts so many rounds.
    Rounds(Bound),
    /// Levels nest, cover the machine and end with it; leaders are there and not held up.
    Hierarchy,
    /// A task in a queue that is first in first out waits for no more dispatches than stand before
    /// it, and direct runs.
    Wait,
    /// The key of ordered queues never falls, but where it is carried over to another queue, and
    /// is greater after its task ran.
    VtMonotone,
    /// A task that is new or slept is put, or started, no further than this behind the least key of
    /// its queue, and keeps its distance when it is taken to another.
    Lag(Num),
    /// Periodic balancing moves tasks from long queues to empty ones, and comes to an end when
    /// nothing happens.
    Settles,
    /// Nothing that one partition does changes anything of another. Never written: whatever has
    /// partitions claims it, and the next one.
    Isolation,
    /// What every partition's policy has, the machine has.
    Composition,
}

impl ClaimKind {
    /// Its word.
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
    /// What it says, in one sentence.
    pub fn meaning(&self) -> &'static str {
        match self {
            ClaimKind::NoLostTask => {
                "every task that is put somewhere is found there by a CPU that may run it"
            }
            ClaimKind::NoLostWakeup => {
                "while a task waits and a CPU that would take it sleeps, somebody is on the way"
            }
            ClaimKind::WorkConservation => {
                "an idle CPU that fails k times while tasks wait that it may run was outrun by k \
                 takes of others"
            }
            ClaimKind::Rounds(Bound::IdleCpus) => {
                "without events, no CPU is idle while a task waits that it may run after as many \
                 rounds as CPUs were idle"
            }
            ClaimKind::Rounds(Bound::IdleCpusAndMoves) => {
                "without events, no CPU is idle while a task waits that it may run after as many \
                 rounds as CPUs were idle and tasks were moved by periodic balancing"
            }
            ClaimKind::Hierarchy => {
                "levels nest and end with the machine; leaders are there and not held up"
            }
            ClaimKind::Wait => {
                "a task waits for no more dispatches than tasks stand before it, and direct runs"
            }
            ClaimKind::VtMonotone => {
                "keys of ordered queues do not fall, and rise while their task runs"
            }
            ClaimKind::Lag(_) => {
                "a task that slept is put no further behind the least key, and keeps its distance \
                 when it is taken to another queue"
            }
            ClaimKind::Settles => {
                "periodic balancing moves somebody, and without events comes to an end"
            }
            ClaimKind::Isolation => {
                "nothing that is done in one partition changes anything of another"
            }
            ClaimKind::Composition => "what is proved of every partition holds of the machine",
        }
    }
}

/// How many rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// `idle_cpus`: as many as CPUs are idle.
    IdleCpus,
    /// `idle_cpus + periodic_moves`: and one for each task that periodic balancing moves meanwhile.
    IdleCpusAndMoves,
}

/// How queues and idle CPUs keep from missing each other. Every field is `false` in what is
/// emitted; `true` is a fault that a text asks for in order to see what comes of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Protocol {
    /// An idle CPU is looked for before the task is in its queue (`enqueue: kick, insert`).
    pub kick_first: bool,
    /// A CPU looks for tasks first and says that it is idle afterwards (`idle: no_rescan`).
    pub no_rescan: bool,
    /// A CPU that took a task does not pass the wakeup on (`dispatch: no_chain`).
    pub no_chain: bool,
    /// A steal trusts what was read without the lock (`steal: unchecked`).
    pub unchecked: bool,
    /// Groups of nodes are those of Linux before 4.12, made from CPU 0's point of view
    /// (`groups: cpu0`).
    pub groups_from_cpu0: bool,
    /// Where it stands.
    pub span: Span,
}

impl Protocol {
    /// Whether nothing unsafe is asked for.
    pub fn is_safe(&self) -> bool {
        *self == Protocol { span: self.span, ..Protocol::default() }
    }
}
