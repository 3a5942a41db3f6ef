//! Whether the premises of a theorem are shown of a policy, for any number of CPUs, by a solver.

use std::time::Duration;

use wastenot_prove::cache::Cache;
use wastenot_prove::obligations::{Question, obligations};
use wastenot_prove::solver::{Answer, Seek, Solver};
use wastenot_rota::ir::{ClaimKind, Policy};

use crate::texts::answers;

use super::trial::Theorem;

const PATIENCE: Duration = Duration::from_secs(20);

/// Who is asked. Many policies have many questions in common.
pub(super) struct Premises {
    solver: Solver,
    cache: Cache,
}

impl Premises {
    pub(super) fn new(solver: Solver) -> Premises {
        Premises { solver, cache: answers() }
    }

    /// Whether all claims that a theorem rests on are proved.
    pub(super) fn hold(&self, policy: &Policy, theorem: Theorem) -> bool {
        let (rounds, settles) = (policy.claims.iter(), ClaimKind::Settles);
        let rounds = rounds.map(|claim| &claim.kind);
        let mut rounds = rounds.filter(|kind| matches!(kind, ClaimKind::Rounds(_)));
        match theorem {
            Theorem::Rounds { .. } => rounds.all(|kind| self.proved(policy, kind)),
            Theorem::WorkConservation => self.proved(policy, &ClaimKind::WorkConservation),
            Theorem::RoundsHappen => {
                let ends = policy.periodic.is_empty() || self.proved(policy, &settles);
                self.proved(policy, &ClaimKind::NoLostWakeup) && ends
            }
        }
    }

    fn proved(&self, policy: &Policy, claim: &ClaimKind) -> bool {
        obligations(policy, claim).iter().all(|it| match &it.question {
            Question::Holds => true,
            Question::Fails | Question::Undecided(_) | Question::NotEncoded(_) => false,
            Question::Unsatisfiable(script) => {
                let reply = self.cache.ask(&self.solver, script, Seek::Refutation, PATIENCE);
                reply.expect("the solver answers").answer == Answer::Unsat
            }
        })
    }
}
