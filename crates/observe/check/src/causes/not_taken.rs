//! A queue from which no idle CPU takes.

use super::{Cause, Rules};

/// A queue from which no idle CPU takes.
pub(super) static CAUSE: Cause = Cause {
    path: "scheduler/policy/not-taken",
    about: "an idle CPU did not take a task that the policy left waiting",
    evidence: "The scheduling policy is not the kernel's. A CPU stayed idle for longer than four \
        balancing intervals while a task that may use this CPU waited.",
    refuted_by: "The CPU soon takes a task.",
    advice: "Prove that the policy is work-conserving: wastenot prove.",
    source: "Lozi et al., EuroSys 2016; docs/explain/proofs.md",
    missing: "The queues that the CPU searched.",
    named: false,
    holds: |it| it.is_waste_under(Rules::Policy) && it.balancing.failed(),
};
