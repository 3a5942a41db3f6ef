//! Tasks of higher scheduling classes.

use super::{Ahead, Cause, LostTime};

/// Tasks of higher scheduling classes.
pub(super) static CAUSE: Cause = Cause {
    path: "host/higher-class",
    about: "tasks waited behind a task of a higher scheduling class",
    evidence: "The CPU ran a task with priority below 100 (stop, deadline, real time), the \
        one that waited has none, and another CPU was idle.",
    refuted_by: "A task of the same class runs there.",
    advice: "Move the real-time task to a CPU of its own, or limit it (sched_rt_runtime_us, \
        SCHED_DEADLINE).",
    source: "sched(7); kernel: kernel/sched/rt.c",
    missing: "Why the balancer left the task there: its passes.",
    named: true,
    holds: |it| {
        it.loss == LostTime::Waste && it.ahead == Ahead::HigherClass && !it.balancing.failed()
    },
};
