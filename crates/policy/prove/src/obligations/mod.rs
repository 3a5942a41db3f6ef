//! What has to hold so that a claim holds: one file for each group of claims.
//!
//! An obligation is a sentence that the text alone decides, or a script that must be unsatisfiable.
//! docs/explain/proofs.md explains which obligations each claim follows from, and why.

mod along;
mod conserve;
mod keys;
mod place;
mod rounds;
mod sites;

use wastenot_rota::ir::{Bool, ClaimKind, Policy};
use wastenot_rota::syntax::Span;

use crate::encode::NotEncoded;
use crate::smt::Script;

pub use sites::{Site, candidate_of, sites, taking};

/// A condition that a claim needs.
#[derive(Clone, Debug)]
pub struct Obligation {
    /// Its name, with words joined by `_`.
    pub name: &'static str,
    /// What holds, in one sentence.
    pub what: String,
    /// The part of the text that it is about.
    pub span: Span,
    /// The question whether it holds.
    pub question: Question,
    /// Whether it relies on a re-check that emitted code does not make.
    pub model_only: bool,
}

/// How an obligation is decided.
#[derive(Clone, Debug, PartialEq)]
pub enum Question {
    /// It holds by the text.
    Holds,
    /// It fails by the text.
    Fails,
    /// It holds for any number of CPUs if this script is unsatisfiable.
    Unsatisfiable(Script),
    /// Neither the text nor a solver decides it, for this reason.
    Undecided(&'static str),
    /// It cannot be encoded for solvers.
    NotEncoded(NotEncoded),
}

impl Question {
    /// A question that the text decides.
    pub(crate) fn settled(holds: bool) -> Question {
        if holds { Question::Holds } else { Question::Fails }
    }
    /// `holds` by the text, else undecided for the reason `why`.
    fn settled_or(holds: bool, why: &'static str) -> Question {
        if holds { Question::Holds } else { Question::Undecided(why) }
    }
    fn of(script: Result<Script, NotEncoded>) -> Question {
        script.map_or_else(Question::NotEncoded, Question::Unsatisfiable)
    }
}

/// Obligations that are reported with `claim` but that it does not need.
pub fn remarks(policy: &Policy, claim: &ClaimKind) -> Vec<Obligation> {
    match claim {
        ClaimKind::WorkConservation | ClaimKind::Rounds(_) => conserve::frugal(policy),
        _ => Vec::new(),
    }
}

/// The conjuncts of the condition that the obligation `name` of `claim` is about, each with the
/// question about it alone. Empty: the obligation has no such condition.
pub(crate) fn terms(policy: &Policy, claim: &ClaimKind, name: &str) -> Vec<(Bool, Question)> {
    conserve::terms(policy, claim, name)
}

/// The obligations that `claim` follows from.
pub fn obligations(policy: &Policy, claim: &ClaimKind) -> Vec<Obligation> {
    match claim {
        ClaimKind::NoLostTask => place::no_lost_task(policy),
        ClaimKind::NoLostWakeup => place::no_lost_wakeup(policy),
        ClaimKind::WorkConservation => conserve::work_conservation(policy),
        ClaimKind::Rounds(bound) => rounds::rounds(policy, *bound),
        ClaimKind::Settles => rounds::settles(policy),
        ClaimKind::Hierarchy => place::hierarchy(policy),
        ClaimKind::Wait => place::wait(policy),
        ClaimKind::VtMonotone => keys::monotone(policy),
        ClaimKind::Lag(bound) => keys::lag(policy, bound),
        // These are claims of a program, not of a policy.
        ClaimKind::Isolation | ClaimKind::Composition => Vec::new(),
    }
}
