//! An engine that asks a solver about small machines with many tasks.

use wastenot_rota::ir::{ClaimKind, Policy};

use super::{Answer, Engine};
use crate::ground::{Beyond, beyond};
use crate::options::Options;
use crate::{Counterexample, Error};

/// Asks the first solver about small machines. It is silent without a solver.
#[derive(Clone, Copy, Debug)]
pub struct Bounded<'o>(pub &'o Options);

impl Engine for Bounded<'_> {
    fn ask(&self, policy: &Policy, claims: &[&ClaimKind]) -> Result<Vec<Answer>, Error> {
        let answer = |claim: &&ClaimKind| {
            let Beyond { found, bounds } = beyond(policy, claim, self.0, self.0.patience)?;
            let found = found.map(|found| Counterexample::Situation(Box::new(found)));
            Ok(Answer::searched(found, bounds))
        };
        claims.iter().map(answer).collect()
    }
}
