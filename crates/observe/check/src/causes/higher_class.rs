//! Tasks of higher scheduling classes.

use super::{Ahead, Cause, LostTime};

/// Tasks of higher scheduling classes.
pub(super) static CAUSE: Cause = Cause {
    path: "host/higher-class",
    about: "tasks waited behind a task of a higher scheduling class",
    evidence: "The CPU where the task waited ran a task with a priority below 100 (stop, deadline \
        or real-time class). The waiting task has no such priority, and another CPU was idle.",
    refuted_by: "The CPU runs a task of the same class as the waiting task.",
    advice: "Move the real-time task to a CPU of its own, or limit its CPU time \
        (sched_rt_runtime_us, SCHED_DEADLINE).",
    source: "sched(7); kernel: kernel/sched/rt.c",
    missing: "The balancing passes, which would show why the balancer left the task there.",
    named: true,
    holds: |it| {
        it.loss == LostTime::Waste && it.ahead == Ahead::HigherClass && !it.balancing.failed()
    },
};
