//! CPUs that start a queued task late.

use super::{Cause, LostTime, Rules};

/// CPUs that start a queued task late.
pub(super) static CAUSE: Cause = Cause {
    path: "host/late-start",
    about: "an idle CPU started a queued task late",
    evidence: "The CPU ran its idle task for longer than --wake-grace although a task was \
        queued on it, and no quota can explain this. No scheduler of sched_ext had a part of the \
        tasks or of the time: it might have left the CPU idle.",
    refuted_by: "The CPU starts the task within --wake-grace; the task may have been throttled.",
    advice: "Look for deep idle states (cpuidle, /dev/cpu_dma_latency), interrupts that are \
        off, a virtual CPU that did not run, core scheduling.",
    source: "kernel: kernel/sched/idle.c; Documentation/admin-guide/pm/cpuidle.rst",
    missing: "Idle states and interrupts (record --interrupts), steal time.",
    named: true,
    holds: |it| {
        it.loss == LostTime::WakeDelay
            && it.over_grace
            && !it.possibly_throttled
            && it.rules != Rules::Several
    },
};
