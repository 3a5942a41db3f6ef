//! Judges all policies of a program, or the claims that the caller asks for.

use wastenot_rota::ir::{ClaimKind, Policy, Program};

use super::{Judgement, Outcome, judge, judge_partitions};
use crate::engine::{Finding, Scope};
use crate::options::Options;
use crate::{Counterexample, Error, warnings};

/// The policies of a program, each with the claims that the caller asks for. If no claim is named,
/// all are kept.
///
/// # Errors
/// A policy has an unsafe protocol and that is not allowed, or no policy has a claim that is named.
pub fn choose(program: &Program, asked: &[String], unsafe_too: bool) -> Result<Vec<Policy>, Error> {
    let mut policies = program.policies.clone();
    if let Some(policy) = policies.iter().find(|it| !it.protocol.is_safe() && !unsafe_too) {
        return Err(Error::Unsafe { policy: policy.name.clone() });
    }
    let whole = [ClaimKind::Isolation, ClaimKind::Composition];
    let whole = whole.iter().filter(|_| !program.partitions.is_empty());
    let claims = policies.iter().flat_map(|policy| &policy.claims).map(|claim| &claim.kind);
    are_claimed(asked, claims.chain(whole).map(ClaimKind::name))?;
    // What the whole has takes all that its policies claim.
    if !asked.iter().any(|name| name == ClaimKind::Composition.name()) {
        for policy in &mut policies {
            policy.claims.retain(|claim| is_asked(asked, claim.kind.name()));
        }
    }
    Ok(policies)
}

/// Whether every claim that is asked for exists.
pub(crate) fn are_claimed<'c>(
    asked: &[String],
    claims: impl Iterator<Item = &'c str>,
) -> Result<(), Error> {
    let claims: Vec<String> = claims.map(str::to_owned).collect();
    match asked.iter().find(|name| !claims.contains(name)) {
        Some(claim) => Err(Error::NotClaimed { claim: claim.clone(), claims }),
        None => Ok(()),
    }
}

/// Whether a claim is asked for. If no claim is named, all are.
pub(crate) fn is_asked(asked: &[String], claim: &str) -> bool {
    asked.is_empty() || asked.iter().any(|name| name == claim)
}

/// Judges the chosen part of a program ([`choose`]): each policy, then the program as a whole.
///
/// # Errors
/// A solver fails, or two disagree.
pub fn judge_program<'p>(
    program: &Program,
    chosen: &'p [Policy],
    asked: &[String],
    options: &Options,
) -> Result<Vec<Judgement<'p>>, Error> {
    let verdicts: Result<Vec<_>, Error> =
        chosen.iter().map(|policy| judge(policy, options)).collect();
    let verdicts = verdicts?;
    let mut whole = judge_partitions(program, &verdicts);
    whole.retain(|verdict| is_asked(asked, verdict.claim.kind.name()));
    let mut judged = Vec::new();
    for ((policy, verdicts), text) in chosen.iter().zip(verdicts).zip(&program.policies) {
        let warnings = warnings(text, options)?;
        judged.push(Judgement { policy: Some(policy), verdicts, warnings });
    }
    judged.push(Judgement { policy: None, verdicts: whole, warnings: Vec::new() });
    Ok(judged)
}

impl<'p> Judgement<'p> {
    /// The first counterexample, with the claim that it breaks.
    pub fn counterexample(&self) -> Option<(&'p Policy, &str, &Counterexample)> {
        let policy = self.policy?;
        self.verdicts.iter().find_map(|verdict| match &verdict.outcome {
            Outcome::Refuted(found) => Some((policy, verdict.claim.kind.name(), found)),
            _ => None,
        })
    }

    /// Whether the text itself contradicts a claim.
    pub fn is_contradicted(&self) -> bool {
        self.verdicts.iter().any(|it| matches!(it.outcome, Outcome::Contradicted(_)))
    }

    /// Whether a claim is unknown because an obligation is unknown: more time may decide it.
    pub fn is_open(&self) -> bool {
        self.verdicts.iter().any(|verdict| {
            let mut findings = verdict.obligations.iter().map(|it| &it.finding);
            let open = findings.any(|it| matches!(it, Finding::Open(_)));
            open && matches!(verdict.outcome, Outcome::Unknown(_))
        })
    }

    /// The first claim that is refuted, and why.
    pub fn refuted(&self) -> Option<(&str, String)> {
        let refuted = |it: &'_ super::Verdict| it.outcome.refutation();
        self.verdicts.iter().find_map(|it| Some((it.claim.kind.name(), refuted(it)?)))
    }

    /// The claims that are not proved for any number of CPUs.
    pub fn not_proved(&self) -> impl Iterator<Item = &str> {
        let open = self.verdicts.iter();
        let open = open.filter(|it| !matches!(it.outcome, Outcome::Proved(Scope::Any)));
        open.map(|it| it.claim.kind.name())
    }
}
