//! CPUs that take long to leave an idle state.

use super::{Cause, LostTime, Rules};

/// CPUs that take long to leave an idle state.
pub(super) static CAUSE: Cause = Cause {
    path: "host/late-start/idle-state",
    about: "an idle CPU with a queued task took long to leave its idle state",
    evidence: "As `host/late-start`, and the recording has idle states (record --interrupts): until \
        then the CPU had not left the one that it was in. What it served meanwhile, and what the \
        hypervisor took, is not part of it.",
    refuted_by: "The CPU left its idle state before, and was in the kernel.",
    advice: "Allow no deep idle states: hold /dev/cpu_dma_latency, cpupower idle-set. In a guest the \
        virtual CPU has to be woken: poll before halting (cpuidle_haltpoll, kvm.halt_poll_ns).",
    source: "kernel: drivers/cpuidle/cpuidle.c, kernel/sched/idle.c; \
        Documentation/admin-guide/pm/cpuidle.rst, Documentation/virt/guest-halt-polling.rst",
    missing: "What the hardware or the hypervisor did: the exit latencies of \
        /sys/devices/system/cpu/cpu0/cpuidle, or the trace of the host.",
    named: false,
    holds: |it| {
        it.loss == LostTime::WakeDelay
            && it.in_idle_state
            && it.over_grace
            && !it.possibly_throttled
            && it.rules != Rules::Several
    },
};
