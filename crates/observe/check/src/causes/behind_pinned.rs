//! Threads that are bound to one CPU.

use super::{Ahead, Cause, LostTime};

/// Threads that are bound to one CPU.
pub(super) static CAUSE: Cause = Cause {
    path: "host/pinned-thread",
    about: "tasks waited behind a thread that is pinned to that CPU",
    evidence: "The CPU where the task waited ran a per-CPU kernel thread or a task that is pinned \
        to this CPU. Another CPU was idle.",
    refuted_by: "The running task may use other CPUs.",
    advice: "If this happens often, find the code that queues the work \
        (workqueue:workqueue_execute_start), or the setting that pins the task.",
    source: "kernel: Documentation/core-api/workqueue.rst",
    missing: "The work that the kernel thread executes.",
    named: false,
    holds: |it| it.loss == LostTime::Waste && it.ahead == Ahead::Pinned && !it.balancing.failed(),
};
