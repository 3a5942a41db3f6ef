//! An idle CPU that another task's load made look busy.

use super::{Cause, Onset, Rules};

/// An idle CPU that another task's load made look busy.
pub(super) static CAUSE: Cause = Cause {
    path: "scheduler/placement/previous-idle/recent-load",
    about: "tasks were woken on a busy CPU while their previous CPU was idle, where another task \
        had just run",
    evidence: "As for scheduler/placement/previous-idle; and the last task on the previous CPU was \
        another one, less than 32 ms before. Half of its load still counts then.",
    refuted_by: "The last task on the previous CPU was the woken one, or that CPU was idle for \
        longer.",
    advice: "Update the kernel: from 5.11 an idle previous CPU is taken before loads are compared.",
    source: "kernel commits d8fcb81f1acf, 11f10e5420f6; kernel/sched/fair.c: wake_affine_weight; \
        kernel/sched/pelt.c",
    missing: "The loads that were compared: wake_affine_weight.",
    named: false,
    holds: |it| it.is_waste_under(Rules::Fair) && it.onset == Onset::RecentLoad,
};
