//! CPUs that start a queued task late.

use super::{Cause, LostTime, Rules};

/// CPUs that start a queued task late.
pub(super) static CAUSE: Cause = Cause {
    path: "host/late-start",
    about: "an idle CPU started a queued task late",
    evidence: "The CPU ran its idle task for longer than --wake-grace although a task was queued \
        on this CPU, and no quota can explain the delay. No sched_ext scheduler was active for \
        only some of the tasks or some of the time; such a scheduler may have left the CPU idle.",
    refuted_by: "The CPU starts the task within --wake-grace, or a quota may have throttled the \
        task.",
    advice: "Look for deep idle states (cpuidle, /dev/cpu_dma_latency), disabled interrupts, a \
        virtual CPU that did not run, and core scheduling.",
    source: "kernel: kernel/sched/idle.c; Documentation/admin-guide/pm/cpuidle.rst",
    missing: "Idle states and interrupts (record --interrupts), and steal time.",
    named: true,
    holds: |it| {
        it.loss == LostTime::WakeDelay
            && it.over_grace
            && !it.possibly_throttled
            && it.rules != Rules::Several
    },
};
