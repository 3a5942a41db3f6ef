//! Time that a hypervisor took.

use super::{Cause, LostTime};

/// Time that a hypervisor took.
pub(super) static CAUSE: Cause = Cause {
    path: "host/steal",
    about: "the hypervisor ran something else instead of the CPU",
    evidence: "The CPU was about to start a task, and in this second the hypervisor took time \
        from it (steal in /proc/stat). At most so much is assigned.",
    refuted_by: "No steal time in this second.",
    advice: "Give the guest CPUs of its own, or fewer virtual ones.",
    source: "proc(5): steal; kernel: arch/x86/kernel/kvm.c, paravirt steal clock",
    missing: "The times at which the virtual CPU did not run: they are in the host's trace.",
    named: false,
    holds: |it| it.loss == LostTime::WakeDelay && it.stolen,
};
