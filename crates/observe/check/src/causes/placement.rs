//! Placement of woken and new tasks.

use super::{Cause, Rules};

/// Placement of woken and new tasks.
pub(super) static CAUSE: Cause = Cause {
    path: "scheduler/placement",
    about: "a busy CPU was selected for tasks while another CPU was idle",
    evidence: "At the wakeup, the kernel selected a busy CPU while an allowed CPU was idle.",
    refuted_by: "No allowed CPU was idle.",
    advice: "Try another scheduler: wastenot what-if.",
    source: "kernel/sched/fair.c: select_task_rq_fair",
    missing: "The CPUs that the kernel searched (record --decisions); the topology, if it is \
        unknown.",
    named: true,
    holds: |it| it.is_waste_under(Rules::Fair) && it.onset.is_placement(),
};
