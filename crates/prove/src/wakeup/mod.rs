//! No lost wakeup: while a task waits and a CPU sleeps that would take it, somebody is on the way.
//!
//! # The protocol
//! Every CPU has a *cell* that says `busy`, `idle`, or `claimed for t`. It is ours: sched_ext's own
//! idle mask is refreshed on idle-to-idle transitions without `ops.update_idle` being called
//! (kernel/sched/ext_idle.c), so nobody could look again there. Cells change by atomic exchange.
//!
//! - *Put* t: insert it. Then look at the cells of the CPUs that may take it, one after the other;
//!   the first that is `idle` becomes `claimed for t`, and that CPU is kicked.
//! - *Dispatch* on c: c's cell becomes `idle`. Then c scans the queues that it reads, each at its
//!   own instant. If it finds nothing it sleeps. If it takes a task, its cell becomes `busy`. Then,
//!   for each task t that waits, c looks for an idle CPU that would take t, claims it for t and
//!   kicks it, as the enqueuer of t did (the *chain*): c *owes* that to t. Then it runs what it
//!   took.
//! - A kick wakes whoever sleeps, is kept by whoever scans, and is nothing to whoever is busy.
//!
//! A wakeup belongs to a task, and is handed on until that task is taken or none is idle that
//! would take it. That is what affinities need. To wake *one* CPU for *some* task that is left
//! ([`Chain::One`], [`Chain::OneAnywhere`]) loses wakeups: of a task that the one could not take,
//! and of all others once the task chosen leaves its queue without being taken. It is enough to
//! hand on the wakeups of the tasks that one was claimed for ([`Chain::Owed`]), at most two, since
//! a CPU says `idle` anew after it was claimed.
//!
//! # What is proved
//! [`invariant`]: for any number of CPUs, tasks, queues and enqueuers, any affinities and any
//! queues read by any CPUs, that the protocol loses no wakeup, provided that
//! 1. a put looks for exactly the CPUs that would take the task: which are allowed and whose
//!    dispatch reads its queue. Whether a policy's puts do is a question to the policy
//!    ([`System::blind_spots`] answers it for one machine);
//! 2. a scan that takes nothing has read every queue that the CPU reads, each at an instant at
//!    which it held no task that may run there (`retry untried`, a filter that lets pass whatever
//!    holds such a task, also once the CPU was given one directly): obligations of the claim;
//! 3. whoever moves a task into another queue then looks for an idle CPU as a put does: a CPU may
//!    have read the new queue before, and read the old one after;
//! 4. a handler that claimed a CPU runs a task there or kicks it, on every path.
//!
//! [`explore`] and [`search`]: the same for a few CPUs and tasks, every interleaving, without the
//! first premise.
//!
//! Cells and queues are taken as sequentially consistent. Tasks given to a claimed CPU directly
//! (`run t on c`) are part of both; that such a task may have to wait behind another one in the
//! CPU's local queue is not a lost wakeup, and is not covered. Queues are read, and
//! cells looked at, in any order.

mod explore;
pub mod invariant;

mod lost;
pub(crate) mod search;
pub(crate) mod state;
mod symmetry;
mod trace;

pub use explore::{Explored, explore};
pub use lost::Lost;
pub use search::{Bounds, Searched, search, systems};
pub use trace::{Step, Trace};
use wastenot_rota::ir::Protocol;

/// So many CPUs, and so many tasks, a [`System`] can have.
pub const SIZE_MAX: usize = 4;

/// So many queues.
pub const QUEUES_MAX: usize = 8;

/// CPUs, one bit each.
pub type Cpus = u8;

/// CPUs and tasks that follow the protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct System {
    /// How many CPUs, at most [`SIZE_MAX`].
    pub cpus: usize,
    /// Tasks, at most [`SIZE_MAX`].
    pub tasks: Vec<Task>,
    /// Whether a task is put again after it has run; else it runs once.
    pub again: bool,
    /// Queues that these tasks are put in.
    pub queues: Vec<Queue>,
    /// How waiting tasks are moved from queue to queue.
    pub moves: Vec<Move>,
    /// How many tasks are put at once.
    pub enqueuers: usize,
    /// How CPUs and enqueuers keep from missing each other.
    pub variant: Variant,
}

/// A task, and what its put does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// Where it may run.
    pub allowed: Cpus,
    /// For whom its put looks: of these, those that are allowed and read its queue.
    pub woken: Cpus,
    /// Among whom an idle CPU is looked for first, to run it directly; of these, those allowed.
    pub direct: Cpus,
    /// Where it waits: index into [`System::queues`].
    pub queue: usize,
}

/// A queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queue {
    /// Whose dispatch looks into it.
    pub readers: Cpus,
    /// Whether tasks leave it in the order in which they came; else in any order.
    pub fifo: bool,
}

/// What periodic balancing may do at any time: the first task of a queue that somebody may run who
/// balances goes into another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// Out of this queue.
    pub from: usize,
    /// Into this one.
    pub into: usize,
    /// For these CPUs.
    pub by: Cpus,
    /// Whether an idle CPU is looked for and kicked afterwards, as after a put.
    pub wakes: bool,
}

/// The protocol, or what is left of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    /// An idle CPU is looked for before the task is in its queue.
    pub kick_first: bool,
    /// A CPU scans first and says that it is idle afterwards.
    pub no_rescan: bool,
    /// What a CPU does that took a task.
    pub chain: Chain,
}

/// How a CPU that took a task passes wakeups on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chain {
    /// For each task that waits: the protocol.
    Each,
    /// For each task that it was claimed for and did not take: as good, and less work.
    Owed,
    /// For one task of those that it could have taken, if an idle CPU may take that.
    One,
    /// For one task of all that wait anywhere, if an idle CPU may take that.
    OneAnywhere,
    /// Not at all.
    Not,
}

impl Variant {
    /// What a text asks for.
    pub fn of(protocol: &Protocol) -> Variant {
        Variant {
            kick_first: protocol.kick_first,
            no_rescan: protocol.no_rescan,
            chain: if protocol.no_chain { Chain::Not } else { Chain::Each },
        }
    }
}

impl System {
    /// Who would take a task: who is allowed and would find it.
    pub fn takers(&self, task: usize) -> Cpus {
        self.takers_in(self.tasks[task].queue, task)
    }

    /// The same, if it waits in this queue.
    fn takers_in(&self, queue: usize, task: usize) -> Cpus {
        self.tasks[task].allowed & self.queues[queue].readers & self.all()
    }

    /// For whom the put of a task looks.
    pub fn woken(&self, task: usize) -> Cpus {
        self.takers(task) & self.tasks[task].woken
    }

    /// Those who would take a task and for whom its put does not look: there a wakeup is lost as
    /// soon as they are the ones who sleep. The invariant needs that there are none.
    pub fn blind_spots(&self) -> Vec<(usize, Cpus)> {
        let missed = |task| (task, self.takers(task) & !self.woken(task));
        (0..self.tasks.len()).map(missed).filter(|(_, cpus)| *cpus != 0).collect()
    }

    fn all(&self) -> Cpus {
        ((1u32 << self.cpus) - 1) as Cpus
    }
}
