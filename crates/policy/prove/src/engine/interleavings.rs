//! An engine that explores every interleaving of the wakeup protocol on a few CPUs and tasks.

use wastenot_rota::ir::{ClaimKind, Policy};

use super::{Answer, Engine};
use crate::explore::{Bounds, World};
use crate::replay::wakes_nobody_else;
use crate::wakeup::Lost;
use crate::{Counterexample, Error};

/// Explores the interleavings of the wakeup protocol. It answers for `no_lost_wakeup` alone.
#[derive(Clone, Copy, Debug)]
pub struct Interleavings;

impl Engine for Interleavings {
    fn ask(&self, policy: &Policy, claims: &[&ClaimKind]) -> Result<Vec<Answer>, Error> {
        let answer = |claim: &&ClaimKind| match claim {
            ClaimKind::NoLostWakeup => explore(policy),
            _ => Answer::default(),
        };
        Ok(claims.iter().map(answer).collect())
    }
}

fn explore(policy: &Policy) -> Answer {
    let lost = Lost::of(policy, |small, kinds| {
        wakes_nobody_else(&World::new(policy, small), kinds).is_ok()
    });
    let bounds = |within: crate::wakeup::Bounds| Bounds {
        cpus: within.cpus,
        tasks: within.tasks,
        events: 1,
    };
    match lost {
        Ok(lost) => Answer::searched(Some(Counterexample::Wakeup(lost)), None),
        Err(within) => Answer::searched(None, within.map(bounds)),
    }
}
