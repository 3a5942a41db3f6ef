//! What has to hold so that a claim does: one file a claim.
//!
//! An obligation is a sentence that is true or not of the text alone, or a script that nothing may
//! satisfy. What a claim follows from, and why, is docs/proofs.md.

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

/// Something that has to hold.
#[derive(Clone, Debug)]
pub struct Obligation {
    /// Its name, with words joined by `_`.
    pub name: &'static str,
    /// What holds, in one sentence.
    pub what: String,
    /// The text that it is about.
    pub span: Span,
    /// Whether it does.
    pub question: Question,
    /// Whether it holds only of a re-check that emitted code does not make.
    pub model_only: bool,
}

/// How it is found out.
#[derive(Clone, Debug, PartialEq)]
pub enum Question {
    /// The text says so.
    Holds,
    /// The text says that it does not.
    Fails,
    /// Of any number of CPUs, if nothing satisfies this.
    Unsatisfiable(Script),
    /// The text does not say, nor would a solver: for this reason.
    Undecided(&'static str),
    /// It has no words in the language of solvers.
    NotEncoded(NotEncoded),
}

impl Question {
    /// The text says whether it holds.
    pub(crate) fn settled(holds: bool) -> Question {
        if holds { Question::Holds } else { Question::Fails }
    }
    /// `why`: what is to be said if it may hold or not.
    fn settled_or(holds: bool, why: &'static str) -> Question {
        if holds { Question::Holds } else { Question::Undecided(why) }
    }
    fn of(script: Result<Script, NotEncoded>) -> Question {
        script.map_or_else(Question::NotEncoded, Question::Unsatisfiable)
    }
}

/// What is worth knowing beside `claim`, which does not need it.
pub fn remarks(policy: &Policy, claim: &ClaimKind) -> Vec<Obligation> {
    match claim {
        ClaimKind::WorkConservation | ClaimKind::Rounds(_) => conserve::frugal(policy),
        _ => Vec::new(),
    }
}

/// Conditions that an obligation of `claim` asks for all at once, each with the question about it
/// alone. Nothing: it asks for none.
pub(crate) fn terms(policy: &Policy, claim: &ClaimKind, name: &str) -> Vec<(Bool, Question)> {
    conserve::terms(policy, claim, name)
}

/// What `claim` follows from.
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
        // Of a program, not of a policy.
        ClaimKind::Isolation | ClaimKind::Composition => Vec::new(),
    }
}
