//! CPU time that a scheduler reserves.

use super::{Cause, LostTime, Rules};

/// CPU time that a scheduler reserves.
pub(super) static CAUSE: Cause = Cause {
    path: "design/reserved",
    about: "the scheduler reserves CPUs by design",
    evidence: "The scheduler divides CPUs or time among tasks: gang scheduling, partitions, fixed \
        CPUs.",
    refuted_by: "The scheduler may run the task on any CPU.",
    advice: "Compare with a scheduler that does not reserve CPUs: wastenot what-if.",
    source: "Ousterhout, Scheduling Techniques for Concurrent Systems, ICDCS 1982",
    missing: "The benefit that the tasks have from the reserved time.",
    named: true,
    holds: |it| {
        it.rules == Rules::Reserving && matches!(it.loss, LostTime::Waste | LostTime::WakeDelay)
    },
};
