//! The one intermediate form: what a text means once every name is known, every dimension is right
//! and every path places its task once. The interpreter, the prover and the emitter read this and
//! nothing else.
//!
//! Numbers are 64-bit integers and saturate: counts, nanoseconds, weights (100 is the default, as
//! `scx.weight` of sched_ext), ratios in per cent.

mod expr;
mod partition;
mod proof;
mod visit;

pub use expr::{Aggregate, Bool, Comparison, Event, Level, Num, Place, QueueAt, Set};
pub use partition::{Cpus, Meet, Partition};
pub use proof::{Bound, Claim, ClaimKind, Protocol};
pub use visit::{Visitor, visit, visit_balance, visit_block, visit_bool, visit_num, visit_queue};

use crate::syntax::Span;

/// A file that means something.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// Its policies, in the order of the text.
    pub policies: Vec<Policy>,
    /// How CPUs are parted among them. Empty: the first policy has the machine.
    pub partitions: Vec<Partition>,
}

/// One policy.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// Its name.
    pub name: String,
    /// Constants, with their defaults.
    pub params: Vec<Variable>,
    /// What it keeps of every task.
    pub task_vars: Vec<Variable>,
    /// What it keeps of every CPU.
    pub cpu_vars: Vec<Variable>,
    /// Its queues.
    pub queues: Vec<Queue>,
    /// What is done when something happens to a task, by [`Event`] as index. The first four place
    /// their task exactly once on every path, the others never do.
    pub handlers: [Vec<Stmt>; Event::COUNT],
    /// Where a CPU looks for its next task, one after the other.
    pub dispatch: Vec<Attempt>,
    /// How a CPU that found nobody takes from others: what [`Attempt::Balance`] means.
    pub idle: Option<Balance>,
    /// What is done regularly.
    pub periodic: Vec<Periodic>,
    /// How queues and idle CPUs keep from missing each other. The safe one, unless the text says
    /// `unsafe protocol`.
    pub protocol: Protocol,
    /// What is to be proved, as the text lists it.
    pub claims: Vec<Claim>,
    /// Where each handler stands, in the order of `handlers`; of one that no text has, the policy.
    pub handler_spans: [Span; Event::COUNT],
    /// From `policy` to `}`.
    pub span: Span,
}

/// A constant, or a variable of tasks or CPUs.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// What it is a number of.
    pub dimension: Dimension,
    /// What it begins with.
    pub value: i64,
    /// Who writes it.
    pub writer: Writer,
    /// Where it stands.
    pub span: Span,
}

/// What a number is a number of. Only equals are added and compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// How many.
    Count,
    /// Nanoseconds.
    Time,
    /// Weights of tasks and sums of them.
    Weight,
}

/// Who writes a variable, and so how old a value may be that somebody else reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    /// Nobody: a parameter.
    Constant,
    /// Of a task: handlers of that task while it is in no queue, or whoever holds the lock of the
    /// queue that it is in.
    Queue,
    /// Of a CPU: handlers that run on that CPU. Others read what may be old.
    Cpu,
    /// Anybody, by atomic addition. All read what may be old.
    Shared,
}

/// A queue for every group of one level. Whoever puts, takes or steals holds its lock for that one
/// operation, and for no other.
#[derive(Clone, Debug, PartialEq)]
pub struct Queue {
    /// Its name.
    pub name: String,
    /// By which task variable it is ordered, least first and equals first in first out; `None` is
    /// first in first out.
    pub key: Option<usize>,
    /// There is one for each group of this level.
    pub per: Level,
    /// Where it stands.
    pub span: Span,
}

/// What is done. Straight-line code with branches, no loops.
#[derive(Clone, Debug, PartialEq)]
pub enum Stmt {
    /// Binds `slot` to the idle CPU nearest to `near` that the task may use, whose idle flag is
    /// claimed in the same moment; or to none.
    Claim {
        /// Which of the policy's CPU slots.
        slot: usize,
        /// Only in the group of this level that `near` is in.
        within: Option<Level>,
        /// Near what.
        near: Place,
        /// Nearest by these levels, narrow to wide; CPUs that share none of them come last.
        by: Vec<Level>,
    },
    /// Binds a CPU slot to the CPU for which `key` is greatest (or least), of equals the lowest.
    /// `set` is never empty.
    Pick {
        /// Which of the policy's CPU slots.
        slot: usize,
        /// Among these.
        set: Set,
        /// Bound to each of them in `key`.
        item: usize,
        /// What is compared.
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
        /// Which.
        var: usize,
        /// Of whom.
        cpu: Place,
        /// Its value, or what is added.
        value: Num,
        /// Whether it is added, in one step.
        add: bool,
    },
    /// The task waits in a queue, then one idle CPU that may use it and would look there is woken.
    Put(Put),
    /// The task runs next on a CPU that was claimed.
    Run {
        /// The slot that holds it.
        slot: usize,
        /// How long, in ns; `None` is for as long as it wants.
        slice: Option<Num>,
        /// Where it stands.
        span: Span,
    },
    /// A CPU looks for its next task: at once if `preempt`, else if it is idle.
    Kick {
        /// Which.
        cpu: Place,
        /// Whether who runs there is interrupted.
        preempt: bool,
    },
    /// One or the other.
    If {
        /// What decides.
        condition: Bool,
        /// If so.
        then: Vec<Stmt>,
        /// If not.
        otherwise: Vec<Stmt>,
    },
}

/// `put t in QUEUE slice E wake within LEVEL`
#[derive(Clone, Debug, PartialEq)]
pub struct Put {
    /// Where it waits.
    pub queue: QueueAt,
    /// How long it may run once it is taken, in ns; `None` is for as long as it wants.
    pub slice: Option<Num>,
    /// An idle CPU is woken only in this group of where the task was last; [`Level::Machine`]
    /// unless the text says less.
    pub wake: Level,
    /// Where it stands.
    pub span: Span,
}

/// One of the places where a CPU that dispatches looks.
#[derive(Clone, Debug, PartialEq)]
pub enum Attempt {
    /// The first task of a queue that may run here.
    Take(QueueAt, Span),
    /// [`Policy::idle`].
    Balance,
}

/// How tasks are taken from the queues of others. There is a candidate for each queue of the
/// victims' level, but the own one: those of the first of `levels` first, then those of the next.
///
/// `me` and the candidate are [`Place::Me`] and [`Place::Other`] in the expressions.
#[derive(Clone, Debug, PartialEq)]
pub struct Balance {
    /// Where to look: candidates in the same group of this level, narrow to wide.
    pub levels: Vec<Level>,
    /// From which queue, of whose groups the candidates are.
    pub from: usize,
    /// Who may be taken from. Read without locks: every read may be older than the one before.
    pub filter: Bool,
    /// Which of those that passed the filter is tried first.
    pub choose: Choose,
    /// How many tasks, at least one.
    pub count: Num,
    /// Into which queue of my own; `None` is onto my CPU.
    pub into: Option<usize>,
    /// What is asked again under the lock of the queue, besides that a task there may run here.
    /// [`Bool::Const`] `true` is all that emitted code can ask; anything more holds of the model
    /// only.
    pub recheck: Bool,
    /// The task variable that is carried over: what it was ahead of the least of that queue it is
    /// ahead of the least of the new one.
    pub rebase: Option<usize>,
    /// How many more candidates are tried after a failure; `None` is all.
    pub retry: Option<u64>,
    /// Where things stand, for whoever has to say what is wrong.
    pub spans: BalanceSpans,
}

impl Policy {
    /// The ordered queue that a CPU takes from first, and the variable that it is ordered by: in
    /// its order whoever runs on that CPU counts.
    pub fn order(&self) -> Option<(&QueueAt, usize)> {
        self.dispatch.iter().find_map(|attempt| match attempt {
            Attempt::Take(at, _) => Some((at, self.queues[at.queue].key?)),
            Attempt::Balance => None,
        })
    }
}

impl Balance {
    /// The numbers that its re-check remembers from when the candidate was chosen, in their order.
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

/// Where the clauses of a balance stand.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BalanceSpans {
    /// All of it.
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
    /// The first one, in the order of their numbers from `me` on.
    Any,
    /// The one with the greatest or least key; of equals the nearest to `me` if `near`, then as
    /// with `Any`.
    Best {
        /// What is compared.
        key: Num,
        /// Greatest, or least.
        greatest: bool,
        /// Whether the nearest of equals comes first.
        near: bool,
    },
}

/// A balance that is done regularly.
#[derive(Clone, Debug, PartialEq)]
pub struct Periodic {
    /// How often, in ns.
    pub period: Num,
    /// Only the lowest CPU that is online of each group of this level does it; `None` is every CPU.
    pub leader: Option<Level>,
    /// What is done.
    pub balance: Balance,
}
