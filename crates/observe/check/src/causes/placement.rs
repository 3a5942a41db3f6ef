//! Placement of woken and new tasks.

use super::{Cause, Rules};

/// Placement of woken and new tasks.
pub(super) static CAUSE: Cause = Cause {
    path: "scheduler/placement",
    about: "a busy CPU was selected for tasks while another one was idle",
    evidence: "At the wakeup a busy CPU was selected while an allowed one was idle.",
    refuted_by: "No allowed CPU was idle.",
    advice: "Try another scheduler: wastenot what-if.",
    source: "kernel/sched/fair.c: select_task_rq_fair",
    missing: "The searched CPUs (record --decisions); the topology, where it is not known.",
    named: true,
    holds: |it| it.is_waste_under(Rules::Fair) && it.onset.is_placement(),
};
