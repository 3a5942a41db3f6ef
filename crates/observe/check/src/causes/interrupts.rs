//! Interrupts and softirqs.

use super::Cause;

/// Interrupts and softirqs.
pub(super) static CAUSE: Cause = Cause {
    path: "host/interrupts",
    about: "the idle CPU served interrupts or softirqs",
    evidence: "The recording has interrupts (record --interrupts). The CPU that was about to start \
        a task, or the only idle CPU that a waiting task may use, served some at this time.",
    refuted_by: "It served none, or another CPU that the task may use was idle.",
    advice: "Spread them: /proc/irq/N/smp_affinity, irqbalance, receive packet steering \
        (rps_cpus), fewer queues; or keep these tasks away from the CPU.",
    source: "kernel: kernel/softirq.c; Documentation/core-api/irq/irq-affinity.rst, \
        Documentation/networking/scaling.rst",
    missing: "What the handlers did: profile them (perf record -C CPU).",
    named: true,
    holds: |it| it.interrupted,
};
