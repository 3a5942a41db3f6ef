//! A queue from which no idle CPU takes.

use super::{Cause, Rules};

/// A queue from which no idle CPU takes.
pub(super) static CAUSE: Cause = Cause {
    path: "scheduler/policy/not-taken",
    about: "an idle CPU did not take a task that the policy left waiting",
    evidence: "Under a policy that is not the kernel's, a CPU stayed idle while a task that \
        may run there waited, for longer than two balancing passes.",
    refuted_by: "The CPU takes a task soon.",
    advice: "Prove the policy work-conserving: wastenot prove.",
    source: "Lozi et al., EuroSys 2016; docs/explain/proofs.md",
    missing: "The queues that the CPU looked into.",
    named: false,
    holds: |it| it.is_waste_under(Rules::Policy) && it.balancing.failed(),
};
