//! An idle CPU that another task's load made look busy.

use super::{Cause, Onset, Rules};

/// An idle CPU that another task's load made look busy.
pub(super) static CAUSE: Cause = Cause {
    path: "scheduler/placement/previous-idle/recent-load",
    about: "tasks were woken on a busy CPU while their previous CPU was idle and another task had \
        just run there",
    evidence: "The conditions of scheduler/placement/previous-idle hold. In addition, another task \
        was the last task on the previous CPU, less than 32 ms before. After 32 ms, half of its \
        load still counts.",
    refuted_by: "The woken task itself was the last task on the previous CPU, or that CPU had been \
        idle for longer.",
    advice: "Update the kernel: since 5.11, the kernel takes an idle previous CPU before it \
        compares loads.",
    source: "kernel commits d8fcb81f1acf, 11f10e5420f6; kernel/sched/fair.c: wake_affine_weight; \
        kernel/sched/pelt.c",
    missing: "The loads that the kernel compared: wake_affine_weight.",
    named: false,
    holds: |it| it.is_waste_under(Rules::Fair) && it.onset == Onset::RecentLoad,
};
