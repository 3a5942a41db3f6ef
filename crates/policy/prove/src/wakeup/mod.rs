//! No lost wakeup: while a task waits and a CPU sleeps that would take it, a CPU is on the way.
//!
//! # The protocol
//! Every CPU has a *cell* with the value `busy`, `idle` or `claimed for t`. The cell is our own:
//! the kernel refreshes the idle mask of sched_ext on idle-to-idle transitions without a call of
//! `ops.update_idle` (kernel/sched/ext_idle.c), so a policy could not scan again there. Cells
//! change by atomic exchange.
//!
//! - *Put* t: insert it. Then look at the cells of the CPUs that may take it, one after the other;
//!   the first that is `idle` becomes `claimed for t`, and that CPU is kicked.
//! - *Dispatch* on c: c's cell becomes `idle`. Then c scans the queues that it reads, each at its
//!   own instant. If it finds nothing it sleeps. If it takes a task, its cell becomes `busy`. Then,
//!   for each task t that waits, c looks for an idle CPU that would take t, claims it for t and
//!   kicks it, as the enqueuer of t did (the *chain*): c *owes* that to t. Then it runs what it
//!   took.
//! - A kick wakes a CPU that sleeps, stays pending on a CPU that scans, and has no effect on a CPU
//!   that is busy.
//!
//! A wakeup belongs to a task, and is handed on until that task is taken or no CPU is idle that
//! would take it. Affinities require this. Waking *one* CPU for *some* task that is left
//! ([`Chain::One`], [`Chain::OneAnywhere`]) loses wakeups: that of a task that this CPU may not
//! take, and those of all other tasks if the chosen task leaves its queue without being taken. It
//! is enough that a CPU hands on the wakeups of the tasks for which it was claimed
//! ([`Chain::Owed`]). These are at most two, since the cell becomes `idle` again after a claim.
//!
//! # What is proved
//! [`invariant`] shows that the protocol loses no wakeup, for any number of CPUs, tasks, queues and
//! enqueuers, any affinities and any queues read by any CPUs, provided that
//! 1. a put looks for exactly the CPUs that would take the task: the CPUs that are allowed and
//!    whose dispatch reads its queue. Whether the puts of a policy do so depends on the policy
//!    ([`System::blind_spots`] answers it for one machine);
//! 2. a scan that takes no task has read every queue that the CPU reads, each at an instant at
//!    which it held no task that may run there. This needs `retry untried` and a filter that passes
//!    every queue with such a task, also after the CPU was given a task directly: obligations of
//!    the claim;
//! 3. after a CPU moves a task into another queue, it looks for an idle CPU as a put does: a CPU
//!    may read the new queue before the move and the old queue after it;
//! 4. a handler that claimed a CPU runs a task there or kicks it, on every path.
//!
//! [`explore`] and [`search`] check the same for a few CPUs and tasks, in every interleaving,
//! without the first premise.
//!
//! Cells and queues are assumed to be sequentially consistent. Both parts include tasks that are
//! given to a claimed CPU directly (`run t on c`). Such a task may have to wait behind another one
//! in the local queue of the CPU: that is not a lost wakeup, and is not covered. CPUs read queues
//! and cells in any order.

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

/// The most CPUs, and the most tasks, of a [`System`].
pub const SIZE_MAX: usize = 4;

/// The most queues of a [`System`].
pub const QUEUES_MAX: usize = 8;

/// A set of CPUs, one bit each.
pub type Cpus = u8;

/// CPUs and tasks that follow the protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct System {
    /// How many CPUs, at most [`SIZE_MAX`].
    pub cpus: usize,
    /// The tasks, at most [`SIZE_MAX`].
    pub tasks: Vec<Task>,
    /// Whether a task is put again after it has run. Otherwise it runs once.
    pub again: bool,
    /// The queues into which these tasks are put.
    pub queues: Vec<Queue>,
    /// The moves of waiting tasks from queue to queue.
    pub moves: Vec<Move>,
    /// How many puts may be under way at once.
    pub enqueuers: usize,
    /// The variant of the protocol.
    pub variant: Variant,
}

/// A task, and what its put does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// The CPUs where it may run.
    pub allowed: Cpus,
    /// Its put looks for those of these CPUs that are allowed and read its queue.
    pub woken: Cpus,
    /// Its put first looks for an idle CPU among those of these that are allowed, to run it
    /// directly.
    pub direct: Cpus,
    /// The queue where it waits: index into [`System::queues`].
    pub queue: usize,
}

/// A queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queue {
    /// The CPUs whose dispatch reads it.
    pub readers: Cpus,
    /// Whether tasks leave it in the order in which they came. Otherwise they leave in any order.
    pub fifo: bool,
}

/// A move that periodic balancing may make at any time: the first task of a queue that one of the
/// balancing CPUs may run goes into another queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// Out of this queue.
    pub from: usize,
    /// Into this one.
    pub into: usize,
    /// The CPUs that balance.
    pub by: Cpus,
    /// Whether the mover then looks for an idle CPU and kicks it, as after a put.
    pub wakes: bool,
}

/// The protocol, or a broken variant of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    /// The enqueuer looks for an idle CPU before the task is in its queue.
    pub kick_first: bool,
    /// A CPU scans first and sets its cell to `idle` afterwards.
    pub no_rescan: bool,
    /// How a CPU that took a task hands wakeups on.
    pub chain: Chain,
}

/// How a CPU that took a task hands wakeups on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chain {
    /// For each task that waits: the protocol.
    Each,
    /// For each task for which it was claimed and that it did not take: equally safe, less work.
    Owed,
    /// For one of the tasks that it could have taken, if an idle CPU may take that task.
    One,
    /// For one of all waiting tasks, if an idle CPU may take that task.
    OneAnywhere,
    /// Not at all.
    Not,
}

impl Variant {
    /// The variant that a policy asks for.
    pub fn of(protocol: &Protocol) -> Variant {
        Variant {
            kick_first: protocol.kick_first,
            no_rescan: protocol.no_rescan,
            chain: if protocol.no_chain { Chain::Not } else { Chain::Each },
        }
    }
}

impl System {
    /// The CPUs that would take a task: those that are allowed and read its queue.
    pub(crate) fn takers(&self, task: usize) -> Cpus {
        self.takers_in(self.tasks[task].queue, task)
    }

    /// The CPUs that would take a task if it waited in this queue.
    fn takers_in(&self, queue: usize, task: usize) -> Cpus {
        self.tasks[task].allowed & self.queues[queue].readers & self.all()
    }

    /// The CPUs for which the put of a task looks.
    pub fn woken(&self, task: usize) -> Cpus {
        self.takers(task) & self.tasks[task].woken
    }

    /// For each task, the CPUs that would take it but for which its put does not look. If only such
    /// CPUs sleep, a wakeup is lost. The invariant requires that there are none.
    pub fn blind_spots(&self) -> Vec<(usize, Cpus)> {
        let missed = |task| (task, self.takers(task) & !self.woken(task));
        (0..self.tasks.len()).map(missed).filter(|(_, cpus)| *cpus != 0).collect()
    }

    fn all(&self) -> Cpus {
        ((1u32 << self.cpus) - 1) as Cpus
    }
}
