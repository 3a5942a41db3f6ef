//! Wakeups onto the CPU of the waker.

use super::{Cause, Onset, Rules};

/// Wakeups onto the CPU of the waker.
pub(super) static CAUSE: Cause = Cause {
    path: "scheduler/placement/behind-waker",
    about: "tasks were put on the CPU of a waker that kept running",
    evidence: "The kernel put the task on the CPU of the task that woke it. The waker continued to \
        run, and another CPU was idle.",
    refuted_by: "The kernel selected another CPU, or an interrupt woke the task.",
    advice: "Check that the waker sleeps at once after the wakeup, as the kernel expects.",
    source: "kernel/sched/fair.c: wake_affine_weight, WF_SYNC",
    missing: "The type of the wakeup: synchronous or not.",
    named: false,
    holds: |it| it.is_waste_under(Rules::Fair) && it.onset == Onset::BehindWaker,
};
