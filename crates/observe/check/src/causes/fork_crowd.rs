//! New tasks on few CPUs.

use super::{Cause, Onset, Rules};

/// New tasks on few CPUs.
pub(super) static CAUSE: Cause = Cause {
    path: "scheduler/placement/fork-crowd",
    about: "new tasks were put on busy CPUs while others were idle",
    evidence: "A new task was put on a busy CPU while an allowed one was idle.",
    refuted_by: "No allowed CPU was idle.",
    advice: "Create threads before the load comes, or set their affinity.",
    source: "kernel/sched/fair.c: sched_balance_find_dst_cpu",
    missing: "The compared groups: sched_balance_find_dst_group.",
    named: false,
    holds: |it| it.is_waste_under(Rules::Fair) && it.onset == Onset::Fork,
};
