//! The one intermediate form: the meaning of a text after all names are resolved, all dimensions
//! are checked, and every path places its task once. The interpreter, the prover and the emitter
//! read this form only.
//!
//! Numbers are 64-bit integers and saturate: counts, nanoseconds, weights (100 is the default, as
//! `scx.weight` of sched_ext), ratios in per cent.

mod expr;
mod partition;
mod proof;
mod visit;

pub use expr::{Aggregate, Bool, Comparison, Event, Level, Num, Place, QueueAt, Set};
pub use partition::{Cpus, Meet, Partition, Tasks};
pub use proof::{Bound, Claim, ClaimKind, Protocol};
pub use visit::{Visitor, visit, visit_balance, visit_block, visit_bool, visit_num, visit_queue};

use crate::syntax::Span;

/// A file that compiled.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// Its policies, in the order of the text.
    pub policies: Vec<Policy>,
    /// How the CPUs are divided among them. Empty: the first policy has the whole machine.
    pub partitions: Vec<Partition>,
}

/// One policy.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// Its name.
    pub name: String,
    /// Constants, with their defaults.
    pub params: Vec<Variable>,
    /// Variables of every task.
    pub task_vars: Vec<Variable>,
    /// Variables of every CPU.
    pub cpu_vars: Vec<Variable>,
    /// Its queues.
    pub queues: Vec<Queue>,
    /// The handlers of task events, with [`Event`] as index. The first four place their task
    /// exactly once on every path, the others never do.
    pub handlers: [Vec<Stmt>; Event::COUNT],
    /// The places where a CPU looks for its next task, in order.
    pub dispatch: Vec<Attempt>,
    /// How a CPU that found no task takes one from other queues: the meaning of
    /// [`Attempt::Balance`].
    pub idle: Option<Balance>,
    /// Regular balances.
    pub periodic: Vec<Periodic>,
    /// How queues and idle CPUs avoid missing each other. The safe protocol, unless the text says
    /// `unsafe protocol`.
    pub protocol: Protocol,
    /// The claims to prove, in the order of the text.
    pub claims: Vec<Claim>,
    /// The position of each handler, in the order of `handlers`; for an absent handler, the
    /// position of the policy.
    pub handler_spans: [Span; Event::COUNT],
    /// From `policy` to `}`.
    pub span: Span,
}

/// A constant, or a variable of tasks or CPUs.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its dimension.
    pub dimension: Dimension,
    /// Its initial value.
    pub value: i64,
    /// Who writes the variable.
    pub writer: Writer,
    /// Its position in the text.
    pub span: Span,
}

/// The dimension of a number. Only numbers of the same dimension can be added and compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// How many.
    Count,
    /// Nanoseconds.
    Time,
    /// Weights of tasks and sums of them.
    Weight,
}

/// Who writes a variable, and so how outdated a value can be for other readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    /// Never written: a parameter.
    Constant,
    /// A task variable: written by handlers of that task while it is in no queue, or by the holder
    /// of the lock of the queue that it is in.
    Queue,
    /// A CPU variable: written by handlers that run on that CPU. Other readers may see an older
    /// value.
    Cpu,
    /// Written by any handler, through atomic addition. Every reader may see an older value.
    Shared,
}

/// A queue for every group of one level. A put, take or steal holds the queue's lock for that one
/// operation only.
#[derive(Clone, Debug, PartialEq)]
pub struct Queue {
    /// Its name.
    pub name: String,
    /// The task variable that orders the queue: least first, ties first in, first out. `None`:
    /// first in, first out.
    pub key: Option<usize>,
    /// There is one for each group of this level.
    pub per: Level,
    /// Its position in the text.
    pub span: Span,
}

/// A statement. Code is straight-line with branches, without loops.
#[derive(Clone, Debug, PartialEq)]
pub enum Stmt {
    /// Binds `slot` to the idle CPU nearest to `near` that the task may use, and claims its idle
    /// flag in the same step; or binds it to none.
    Claim {
        /// The policy's CPU slot.
        slot: usize,
        /// Only CPUs in the group of this level that contains `near`.
        within: Option<Level>,
        /// The place to search from.
        near: Place,
        /// The levels that define "nearest", narrow to wide; CPUs that share none of them come
        /// last.
        by: Vec<Level>,
    },
    /// Binds a CPU slot to the CPU with the greatest (or least) `key`; ties go to the lowest CPU.
    /// `set` is never empty.
    Pick {
        /// The policy's CPU slot.
        slot: usize,
        /// The CPUs to choose from.
        set: Set,
        /// The item that is bound to each of them in `key`.
        item: usize,
        /// The number to compare.
        key: Num,
        /// Greatest, or least.
        greatest: bool,
    },
    /// Binds a number slot.
    Let(usize, Num),
    /// Sets a variable of the task.
    SetTask(usize, Num),
    /// Sets a variable of a CPU, or adds to it.
    SetCpu {
        /// The variable.
        var: usize,
        /// The CPU.
        cpu: Place,
        /// The new value, or the amount to add.
        value: Num,
        /// Whether the value is added, atomically.
        add: bool,
    },
    /// The task waits in a queue; then one idle CPU that may run it and would look there is woken.
    Put(Put),
    /// The task runs next on a claimed CPU.
    Run {
        /// The slot that holds the CPU.
        slot: usize,
        /// The slice, in ns; `None`: the task runs as long as it wants.
        slice: Option<Num>,
        /// Its position in the text.
        span: Span,
    },
    /// A CPU looks for its next task: at once if `preempt`, otherwise only if it is idle.
    Kick {
        /// The CPU.
        cpu: Place,
        /// Whether the task that runs there is interrupted.
        preempt: bool,
    },
    /// A branch.
    If {
        /// What decides.
        condition: Bool,
        /// The statements if it holds.
        then: Vec<Stmt>,
        /// The statements if it does not hold.
        otherwise: Vec<Stmt>,
    },
}

/// `put t in QUEUE slice E wake within LEVEL`
#[derive(Clone, Debug, PartialEq)]
pub struct Put {
    /// The queue.
    pub queue: QueueAt,
    /// The slice once the task is taken, in ns; `None`: the task runs as long as it wants.
    pub slice: Option<Num>,
    /// An idle CPU is woken only in this group around the task's last CPU; [`Level::Machine`]
    /// unless the text names a narrower level.
    pub wake: Level,
    /// Its position in the text.
    pub span: Span,
}

/// One of the places where a dispatching CPU looks.
#[derive(Clone, Debug, PartialEq)]
pub enum Attempt {
    /// The first task of a queue that may run here.
    Take(QueueAt, Span),
    /// [`Policy::idle`].
    Balance,
}

/// How tasks are taken from the queues of other CPUs. Every queue of the victims' level is a
/// candidate, except the own one: first those within the first of `levels`, then those within the
/// next.
///
/// `me` and the candidate are [`Place::Me`] and [`Place::Other`] in the expressions.
#[derive(Clone, Debug, PartialEq)]
pub struct Balance {
    /// The levels to search, narrow to wide: candidates share a group of this level with `me`.
    pub levels: Vec<Level>,
    /// The queue to take from; the candidates are its groups.
    pub from: usize,
    /// The condition for a candidate. Read without locks: any value that it reads may be outdated.
    pub filter: Bool,
    /// Which candidate that passed the filter is tried first.
    pub choose: Choose,
    /// How many tasks to take, at least one.
    pub count: Num,
    /// The own queue that receives them; `None`: the task goes directly onto the CPU.
    pub into: Option<usize>,
    /// The condition that is checked again under the lock of the queue, besides that a task there
    /// may run here. Emitted code can only check [`Bool::Const`] `true`; anything stronger holds in
    /// the model only.
    pub recheck: Bool,
    /// The task variable that is carried over: a task's distance from the least key of the old
    /// queue becomes its distance from that of the new one.
    pub rebase: Option<usize>,
    /// How many more candidates are tried after a failure; `None`: all.
    pub retry: Option<u64>,
    /// Positions in the text, for error messages.
    pub spans: BalanceSpans,
}

impl Policy {
    /// The ordered queue that a CPU takes from first, and the variable that orders it. The task
    /// that runs on the CPU counts in that order.
    pub fn order(&self) -> Option<(&QueueAt, usize)> {
        self.dispatch.iter().find_map(|attempt| match attempt {
            Attempt::Take(at, _) => Some((at, self.queues[at.queue].key?)),
            Attempt::Balance => None,
        })
    }
}

impl Balance {
    /// The numbers that the re-check remembers from the choice of the candidate, in order.
    pub fn remembered(&self) -> Vec<Num> {
        struct Seen(Vec<(usize, Num)>);
        impl Visitor for Seen {
            fn num(&mut self, num: &Num) {
                if let Num::Seen(index, inner) = num {
                    self.0.push((*index, (**inner).clone()));
                }
            }
        }
        let mut seen = Seen(Vec::new());
        visit_bool(&self.recheck, &mut seen);
        seen.0.sort_by_key(|(index, _)| *index);
        seen.0.into_iter().map(|(_, num)| num).collect()
    }
}

/// The positions of the clauses of a balance.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BalanceSpans {
    /// The whole balance.
    pub whole: Span,
    /// `level`.
    pub levels: Span,
    /// `filter`.
    pub filter: Span,
    /// `choose`.
    pub choose: Span,
    /// `steal`.
    pub steal: Span,
    /// `retry`.
    pub retry: Span,
}

/// Which candidate is tried first. No proof depends on it.
#[derive(Clone, Debug, PartialEq)]
pub enum Choose {
    /// The first one, in the order of their numbers starting after `me`.
    Any,
    /// The one with the greatest or least key; ties go to the nearest to `me` if `near`, then as
    /// with `Any`.
    Best {
        /// The number to compare.
        key: Num,
        /// Greatest, or least.
        greatest: bool,
        /// Whether the nearest wins a tie.
        near: bool,
    },
}

/// A balance that is done regularly.
#[derive(Clone, Debug, PartialEq)]
pub struct Periodic {
    /// The period, in ns.
    pub period: Num,
    /// Only the lowest online CPU of each group of this level does it; `None`: every CPU.
    pub leader: Option<Level>,
    /// The balance.
    pub balance: Balance,
}
