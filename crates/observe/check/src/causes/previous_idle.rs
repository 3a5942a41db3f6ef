//! Wakeups that pass over the idle previous CPU.

use super::{Cause, Onset, Rules};

/// Wakeups that pass over the idle previous CPU.
pub(super) static CAUSE: Cause = Cause {
    path: "scheduler/placement/previous-idle",
    about: "tasks were woken on a busy CPU while their previous CPU was idle",
    evidence: "At the wakeup, the CPU where the task last ran was idle and allowed. The kernel put \
        the task on a busy CPU.",
    refuted_by: "The previous CPU was busy or not allowed.",
    advice: "Check the kernel version (wake_affine, fixed in 5.11). With cgroups, turn autogroup \
        off.",
    source: "kernel commit d8fcb81f1acf (sched/fair: Check for idle core in wake_affine)",
    missing: "The loads that the kernel compared: wake_affine_weight.",
    named: true,
    holds: |it| it.is_waste_under(Rules::Fair) && it.onset == Onset::PreviousIdle,
};
