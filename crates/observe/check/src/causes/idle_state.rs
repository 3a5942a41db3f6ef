//! CPUs that take long to leave an idle state.

use super::{Cause, LostTime, Rules};

/// CPUs that take long to leave an idle state.
pub(super) static CAUSE: Cause = Cause {
    path: "host/late-start/idle-state",
    about: "an idle CPU with a queued task took long to leave its idle state",
    evidence: "The conditions of host/late-start hold. In addition, the trace contains idle states \
        (record --interrupts), and the CPU did not leave its idle state during this time. Time for \
        interrupts and steal time do not count.",
    refuted_by: "The CPU had already left its idle state and ran kernel code.",
    advice: "Avoid deep idle states: hold /dev/cpu_dma_latency open, or use cpupower idle-set. In \
        a guest, the host has to wake the virtual CPU: let the guest poll before it halts \
        (cpuidle_haltpoll, kvm.halt_poll_ns).",
    source: "kernel: drivers/cpuidle/cpuidle.c, kernel/sched/idle.c; \
        Documentation/admin-guide/pm/cpuidle.rst, Documentation/virt/guest-halt-polling.rst",
    missing: "The behaviour of the hardware or the hypervisor: see the exit latencies in \
        /sys/devices/system/cpu/cpu0/cpuidle, or a trace of the host.",
    named: false,
    holds: |it| {
        it.loss == LostTime::WakeDelay
            && it.in_idle_state
            && it.over_grace
            && !it.possibly_throttled
            && it.rules != Rules::Several
    },
};
