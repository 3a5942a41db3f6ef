//! Entities (tasks, and groups on a CPU), the queues that hold them, and CPUs.
//!
//! A group has on each CPU a queue and an entity that represents it in its parent's queue; both
//! have the number `group * cpus + cpu`. The queues of the root are those of the CPUs. The entities
//! of tasks follow after those.

use wastenot_model::TaskId;

use super::pelt::Average;

/// A task, or a group on one CPU (`struct sched_entity`).
#[derive(Clone, Debug, Default)]
pub(super) struct Entity {
    pub(super) weight: u64,
    /// Its weighted run time.
    pub(super) vruntime: i64,
    /// The queue that it is on, or was last. If that queue is not a root's, the entity belongs to
    /// the queue's group.
    pub(super) queue: u32,
    /// Whether it is runnable: in the order of its queue, or the queue's current entity.
    pub(super) on: bool,
    pub(super) exec_start: u64,
    pub(super) ran: u64,
    /// The value of `ran` when it was last picked.
    pub(super) ran_before: u64,
    pub(super) avg: Average,
    /// Whether its load history is part of its queue's average.
    pub(super) attached: bool,
    /// EEVDF: when its slice should be over, in virtual time.
    pub(super) deadline: i64,
    /// EEVDF: its lag when it left.
    pub(super) lag: i64,
    /// EEVDF: whether it sleeps (of a group: is empty), and stays on its queue for now.
    pub(super) delayed: bool,
    /// EEVDF: its deadline when it was picked; an entity that only woke does not go before it until
    /// then.
    pub(super) protected_until: i64,
}

/// The entities of one group on one CPU (`struct cfs_rq`).
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    pub(super) cpu: u32,
    pub(super) group: u32,
    /// Sum of the weights of its runnable entities.
    pub(super) weight: u64,
    /// Runnable entities.
    pub(super) entities: u32,
    /// Its tasks, those of groups below counted.
    pub(super) tasks: u32,
    /// Those of them that sleep, and stay for now.
    pub(super) delayed: u32,
    pub(super) min_vruntime: i64,
    pub(super) current: Option<u32>,
    /// The entity that woke and preempted; it goes first unless that is unfair.
    pub(super) next: Option<u32>,
    /// The entity that yielded; it goes later unless that is unfair.
    pub(super) skip: Option<u32>,
    pub(super) avg: Average,
    /// Sum of the average loads of its runnable entities, as of their last updates.
    pub(super) runnable_load: u64,
    /// The load that it last reported to its group.
    pub(super) told: u64,
    /// The load that this queue contributes at the top of the CPU, and the jiffy of that
    /// computation.
    pub(super) h_load: u64,
    pub(super) h_load_at: u64,
    /// Whether its group has run out of quota here, and how much quota is left.
    pub(super) throttled: bool,
    pub(super) runtime: i64,
}

/// A session or cgroup (`struct task_group`).
#[derive(Clone, Debug, Default)]
pub(super) struct TaskGroup {
    pub(super) shares: u64,
    /// The group that it is in, for entities; the root, and a group that is folded into it, are
    /// their own.
    pub(super) parent: u32,
    pub(super) depth: u32,
    /// Sum of the reported loads of its queues.
    pub(super) load: u64,
}

/// What is kept of a task in addition to its entity.
#[derive(Clone, Debug)]
pub(super) struct Task {
    pub(super) group: u32,
    /// How often it has woken another task than the last time (`wakee_flips`), with decay.
    pub(super) flips: u32,
    pub(super) flips_at: u64,
    pub(super) last_wakee: Option<u32>,
    /// The CPU that it woke from before.
    pub(super) recent: u32,
    /// Neighbours in the list of its CPU's tasks.
    pub(super) before: u32,
    pub(super) after: u32,
}

/// End of a list of tasks.
pub(super) const END: u32 = u32::MAX;

/// One CPU (`struct rq`).
#[derive(Clone, Debug)]
pub(super) struct Rq {
    pub(super) online: bool,
    pub(super) capacity: u64,
    /// Its runnable tasks: the list of [`super::list`].
    pub(super) first: u32,
    pub(super) last: u32,
    /// Tasks to run, without throttled ones.
    pub(super) nr: u32,
    /// The task that ran and wants to run on, and has not been enqueued again yet.
    pub(super) leaving: Option<TaskId>,
    /// The stopper: the thread that moves its running task away.
    pub(super) stopper: Option<TaskId>,
    /// Whether the stopper was woken and has not run yet, and whether it waits to be picked.
    pub(super) stopping: bool,
    pub(super) stopper_queued: bool,
    /// Where the stopper moves a task to (`push_cpu`).
    pub(super) push: Option<u32>,
    /// Decayed loads of 4.1, from fast to slow decay (`cpu_load[]`), and the jiffy of their update.
    pub(super) history: [u64; 5],
    pub(super) history_at: u64,
    /// Since when it is idle, until a task is woken for it.
    pub(super) idle_stamp: Option<u64>,
    /// When it last became idle.
    pub(super) idle_since: u64,
    pub(super) avg_idle: u64,
    pub(super) max_balance_cost: u64,
    /// The jiffy of its next balancing.
    pub(super) next_balance: u64,
    /// The average cost of a search for an idle CPU.
    pub(super) scan_cost: u64,
}

impl Rq {
    pub(super) fn new(online: bool, capacity: u16) -> Rq {
        Rq {
            online,
            capacity: u64::from(capacity).max(1),
            first: END,
            last: END,
            nr: 0,
            leaving: None,
            stopper: None,
            stopping: false,
            stopper_queued: false,
            push: None,
            history: [0; 5],
            history_at: 0,
            idle_stamp: Some(0),
            idle_since: 0,
            avg_idle: 2 * super::rules::MIGRATION_COST,
            max_balance_cost: super::rules::MIGRATION_COST,
            next_balance: 0,
            scan_cost: 0,
        }
    }
}
