//! Wakeups that pass over the idle previous CPU.

use super::{Cause, Onset, Rules};

/// Wakeups that pass over the idle previous CPU.
pub(super) static CAUSE: Cause = Cause {
    path: "scheduler/placement/previous-idle",
    about: "tasks were woken on a busy CPU while their previous CPU was idle",
    evidence: "At the wakeup the CPU where the task last ran was idle and allowed, and the \
        task was put on a busy one.",
    refuted_by: "The previous CPU was busy, or not allowed.",
    advice: "Check the kernel's version (wake_affine, fixed in 5.11); with cgroups, \
        autogroup off.",
    source: "kernel commit d8fcb81f1acf (sched/fair: Check for idle core in wake_affine)",
    missing: "The loads that were compared: wake_affine_weight.",
    named: true,
    holds: |it| it.is_waste_under(Rules::Fair) && it.onset == Onset::PreviousIdle,
};
