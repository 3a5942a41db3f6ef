//! New tasks on few CPUs.

use super::{Cause, Onset, Rules};

/// New tasks on few CPUs.
pub(super) static CAUSE: Cause = Cause {
    path: "scheduler/placement/fork-crowd",
    about: "new tasks were put on busy CPUs while other CPUs were idle",
    evidence: "The kernel put a new task on a busy CPU while an allowed CPU was idle.",
    refuted_by: "No allowed CPU was idle.",
    advice: "Create threads before the load starts, or set their affinity.",
    source: "kernel/sched/fair.c: sched_balance_find_dst_cpu",
    missing: "The groups that the kernel compared: sched_balance_find_dst_group.",
    named: false,
    holds: |it| it.is_waste_under(Rules::Fair) && it.onset == Onset::Fork,
};
