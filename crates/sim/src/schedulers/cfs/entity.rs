//! What is queued and on what: entities (tasks, and groups on a CPU), their queues, and CPUs.
//!
//! A group has on each CPU a queue and an entity that stands for it in its parent's queue; both
//! have the number `group * cpus + cpu`. The queues of the root are those of the CPUs. Tasks'
//! entities follow after those.

use wastenot_model::TaskId;

use super::pelt::Average;

/// A task, or a group on one CPU (`struct sched_entity`).
#[derive(Clone, Debug, Default)]
pub(super) struct Entity {
    pub(super) weight: u64,
    /// How much it has run, weighted.
    pub(super) vruntime: i64,
    /// The queue that it is on, or was last. An entity is its group's where that is not the root's.
    pub(super) queue: u32,
    /// Whether it is runnable: in its queue's order, or that queue's current.
    pub(super) on: bool,
    pub(super) exec_start: u64,
    pub(super) ran: u64,
    /// What `ran` was when it was last picked.
    pub(super) ran_before: u64,
    pub(super) avg: Average,
    /// Whether its past is part of its queue's average.
    pub(super) attached: bool,
    /// EEVDF: when its slice should be over, in virtual time.
    pub(super) deadline: i64,
    /// EEVDF: how far it was behind when it left.
    pub(super) lag: i64,
    /// EEVDF: what its deadline was when it was picked; nobody who only woke goes before it until
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
    /// Runnable tasks, those of groups below counted.
    pub(super) tasks: u32,
    pub(super) min_vruntime: i64,
    pub(super) current: Option<u32>,
    /// Who woke and preempted, and goes first unless that is unfair.
    pub(super) next: Option<u32>,
    /// Who yielded, and goes later unless that is unfair.
    pub(super) skip: Option<u32>,
    pub(super) avg: Average,
    /// Sum of the average loads of its runnable entities, as of when each was last looked at.
    pub(super) runnable_load: u64,
    /// What it has told its group of its load.
    pub(super) told: u64,
    /// Load that reaches the CPU of what is queued here, and in which jiffy that was found.
    pub(super) h_load: u64,
    pub(super) h_load_at: u64,
    /// Whether its group has run out of quota here, and how much of it is left.
    pub(super) throttled: bool,
    pub(super) runtime: i64,
}

/// A session or cgroup (`struct task_group`).
#[derive(Clone, Debug, Default)]
pub(super) struct TaskGroup {
    pub(super) shares: u64,
    /// The group that it is in, for entities; itself for the root and what is folded into it.
    pub(super) parent: u32,
    pub(super) depth: u32,
    /// Sum of the loads of its queues, as told.
    pub(super) load: u64,
}

/// What is kept of a task besides its entity.
#[derive(Clone, Debug)]
pub(super) struct Task {
    pub(super) group: u32,
    /// How often it has woken somebody else than the last time (`wakee_flips`), with decay.
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
    /// Tasks to run, throttled ones not counted.
    pub(super) nr: u32,
    /// Who ran and wants to run on, and was not enqueued again yet.
    pub(super) leaving: Option<TaskId>,
    /// The thread that moves its running task away.
    pub(super) stopper: Option<TaskId>,
    /// Whether that thread was woken and has not run yet, and whether it waits to be picked.
    pub(super) stopping: bool,
    pub(super) stopper_queued: bool,
    /// Where the stopper moves a task to (`push_cpu`).
    pub(super) push: Option<u32>,
    /// Decayed loads of 4.1, by how slowly they follow (`cpu_load[]`), and their last jiffy.
    pub(super) history: [u64; 5],
    pub(super) history_at: u64,
    /// Since when it is idle, until somebody is woken for it.
    pub(super) idle_stamp: Option<u64>,
    /// When it last became idle.
    pub(super) idle_since: u64,
    pub(super) avg_idle: u64,
    pub(super) max_balance_cost: u64,
    /// The jiffy of its next balancing.
    pub(super) next_balance: u64,
    /// Smoothed cost of a search for an idle CPU.
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
