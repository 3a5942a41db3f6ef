//! Threads that are bound to one CPU.

use super::{Ahead, Cause, LostTime};

/// Threads that are bound to one CPU.
pub(super) static CAUSE: Cause = Cause {
    path: "host/pinned-thread",
    about: "tasks waited behind a thread that may run on that CPU only",
    evidence: "The CPU ran a per-CPU kernel thread or a task that is pinned to it, and \
        another CPU was idle.",
    refuted_by: "The task that runs may run elsewhere.",
    advice: "If it happens often, find what queues the work \
        (workqueue:workqueue_execute_start), or what pins the task.",
    source: "kernel: Documentation/core-api/workqueue.rst",
    missing: "Which work the kernel thread executes.",
    named: false,
    holds: |it| it.loss == LostTime::Waste && it.ahead == Ahead::Pinned && !it.balancing.failed(),
};
