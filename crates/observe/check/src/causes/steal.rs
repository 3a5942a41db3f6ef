//! Time that a hypervisor took.

use super::{Cause, LostTime};

/// Time that a hypervisor took.
pub(super) static CAUSE: Cause = Cause {
    path: "host/steal",
    about: "the hypervisor ran something else instead of the virtual CPU",
    evidence: "The CPU was about to start a task, and in the same second the hypervisor took time \
        from this CPU (steal in /proc/stat). This cause gets at most the steal time of that \
        second.",
    refuted_by: "The CPU has no steal time in this second.",
    advice: "Give the guest dedicated CPUs, or fewer virtual CPUs.",
    source: "proc(5): steal; kernel: arch/x86/kernel/kvm.c, paravirt steal clock",
    missing: "The times when the virtual CPU did not run. A trace of the host contains them.",
    named: false,
    holds: |it| it.loss == LostTime::WakeDelay && it.stolen,
};
