//! Wakeups onto the CPU of the waker.

use super::{Cause, Onset, Rules};

/// Wakeups onto the CPU of the waker.
pub(super) static CAUSE: Cause = Cause {
    path: "scheduler/placement/behind-waker",
    about: "tasks were put on the CPU of their waker, which ran on",
    evidence: "The task was put on the CPU of the task that woke it, that one ran on, and \
        another CPU was idle.",
    refuted_by: "Another CPU was selected, or an interrupt woke the task.",
    advice: "Check that the waker sleeps at once, as the kernel expects.",
    source: "kernel/sched/fair.c: wake_affine_weight, WF_SYNC",
    missing: "Whether the wakeup was synchronous.",
    named: false,
    holds: |it| it.is_waste_under(Rules::Fair) && it.onset == Onset::BehindWaker,
};
