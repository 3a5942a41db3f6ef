//! A policy that is not the kernel's.

use super::{Cause, Rules};

/// A policy that is not the kernel's.
pub(super) static CAUSE: Cause = Cause {
    path: "scheduler/policy",
    about: "the policy left a CPU idle while tasks waited elsewhere",
    evidence: "The scheduler is not the kernel's fair class: a simulation, or a trace with the \
        note sched_ext, names another scheduler.",
    refuted_by: "The scheduler is the kernel's fair class.",
    advice: "Prove that the policy is work-conserving: wastenot prove.",
    source: "kernel: Documentation/scheduler/sched-ext.rst",
    missing: "The decisions of the policy.",
    named: true,
    holds: |it| it.is_waste_under(Rules::Policy),
};
