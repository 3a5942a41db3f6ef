//! Periodic balancing that moves tasks for ever though nothing happens.

use wastenot_rota::ir::{ClaimKind, Policy};

use super::Warning;
use crate::counterexample::Counterexample;
use crate::engine::search;
use crate::explore::{Bounds, Effort};

/// Situations that are looked at: a circle takes two CPUs and one or two tasks.
const LOOK: u64 = 10_000;

/// A circle of moves, if there is one. Where the policy claims `settles` the verdict shows it.
pub(super) fn endless(policy: &Policy, bounds: Bounds) -> Option<Warning> {
    let claimed = policy.claims.iter().any(|claim| claim.kind == ClaimKind::Settles);
    let periodic = policy.periodic.first().filter(|_| !claimed)?;
    let found = search(policy, &ClaimKind::Settles, bounds, Effort::from(LOOK))?.found?;
    let found = Counterexample::Situation(Box::new(found));
    let mut steps = found.situation_in_words(policy);
    steps.extend(found.steps_in_words(policy));
    Some(Warning {
        code: "endless-moves",
        span: periodic.balance.spans.whole,
        what: "`balance every` moves tasks for ever though nothing happens".into(),
        evidence: format!("on {}: {}; and so on", found.machine(), steps.join("; ")),
        help: "`filter(me, g) = queued(g.q) - queued(me.q) >= 2`, and steal half of that at most",
    })
}
