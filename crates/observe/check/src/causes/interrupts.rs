//! Interrupts and softirqs.

use super::Cause;

/// Interrupts and softirqs.
pub(super) static CAUSE: Cause = Cause {
    path: "host/interrupts",
    about: "the idle CPU was handling interrupts or softirqs",
    evidence: "The trace contains interrupts (record --interrupts). The CPU was about to start a \
        task, or was the only idle CPU that a waiting task may use. At that time, the CPU handled \
        interrupts or softirqs.",
    refuted_by: "The CPU handled no interrupt and no softirq, or the task may use another CPU that \
        was idle.",
    advice: "Distribute the interrupts: /proc/irq/N/smp_affinity, irqbalance, receive packet \
        steering (rps_cpus), fewer queues. Or keep these tasks off the CPU.",
    source: "kernel: kernel/softirq.c; Documentation/core-api/irq/irq-affinity.rst, \
        Documentation/networking/scaling.rst",
    missing: "The work of the handlers: profile the CPU (perf record -C CPU).",
    named: true,
    holds: |it| it.interrupted,
};
