//! A policy that does not wake a CPU.

use super::{Cause, LostTime, Rules};

/// A policy that does not wake a CPU.
pub(super) static CAUSE: Cause = Cause {
    path: "scheduler/policy/not-started",
    about: "the policy queued a task on an idle CPU and did not start the task",
    evidence: "The scheduling policy is not the kernel's. A CPU ran its idle task for longer than \
        --wake-grace although a task was queued on this CPU.",
    refuted_by: "The CPU starts the task within --wake-grace.",
    advice: "Kick the CPU after adding a task to its queue (scx_bpf_kick_cpu with SCX_KICK_IDLE).",
    source: "kernel: Documentation/scheduler/sched-ext.rst",
    missing: "The kicks that the policy sent.",
    named: false,
    holds: |it| it.loss == LostTime::WakeDelay && it.over_grace && it.rules == Rules::Policy,
};
