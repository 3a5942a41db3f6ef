//! Verdicts on claims.

use std::time::Duration;

use wastenot_rota::ir::{Claim, Policy};

use crate::engine::{Judged, Refutation, Scope};
use crate::explore::Bounds;
use crate::{Counterexample, Warning};

/// The verdict on a claim.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The claim.
    pub claim: Claim,
    /// Whether it holds.
    pub outcome: Outcome,
    /// The obligations of the claim, each with its finding.
    pub obligations: Vec<Judged>,
    /// Obligations that are reported but that the claim does not need.
    pub remarks: Vec<Judged>,
    /// How many situations the explorer examined.
    pub looked: u64,
    /// The bounds within which it examined all situations, if any.
    pub(crate) explored: Option<Bounds>,
    /// How long it took.
    pub took: Duration,
}

/// Whether a claim holds.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// It holds.
    Proved(Scope),
    /// It does not hold: this counterexample happens.
    Refuted(Counterexample),
    /// It does not hold: the text contradicts it. The sentence is the one that does not hold.
    Contradicted(String),
    /// It is unknown, for this reason.
    Unknown(String),
}

/// The verdicts on the claims of one policy, or of a program with partitions.
#[derive(Clone, Debug)]
pub struct Judgement<'p> {
    /// The policy. `None`: the program as a whole.
    pub policy: Option<&'p Policy>,
    /// One verdict for each claim.
    pub verdicts: Vec<Verdict>,
    /// Warnings about the policy that do not depend on its claims.
    pub warnings: Vec<Warning>,
}

/// The answer to one question: do all claims hold, for any number of CPUs?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conclusion {
    /// All hold.
    Yes,
    /// A claim does not hold.
    No,
    /// A claim is unknown or holds for small machines only, or there is no claim.
    CannotTell,
}

impl Conclusion {
    /// The conclusion of several: `No` takes precedence over `CannotTell`. `None`: there are none.
    pub(crate) fn of_all(all: impl IntoIterator<Item = Conclusion>) -> Option<Conclusion> {
        all.into_iter().reduce(|a, b| match (a, b) {
            (Conclusion::No, _) | (_, Conclusion::No) => Conclusion::No,
            (Conclusion::Yes, other) => other,
            (other, _) => other,
        })
    }

    /// The conclusion of judgements.
    pub fn of(judged: &[Judgement<'_>]) -> Conclusion {
        let verdicts = judged.iter().flat_map(|it| &it.verdicts);
        let all = verdicts.map(|verdict| verdict.outcome.conclusion());
        Conclusion::of_all(all).unwrap_or(Conclusion::CannotTell)
    }
}

impl Outcome {
    /// The conclusion for a program that needs yes or no. The machine on which a policy will run
    /// may be larger than those for which it is proved.
    pub fn conclusion(&self) -> Conclusion {
        match self {
            Outcome::Proved(Scope::Any) => Conclusion::Yes,
            Outcome::Proved(Scope::UpTo(_)) | Outcome::Unknown(_) => Conclusion::CannotTell,
            Outcome::Refuted(_) | Outcome::Contradicted(_) => Conclusion::No,
        }
    }

    /// Why the claim does not hold, if it is refuted.
    pub(crate) fn refutation(&self) -> Option<String> {
        match self {
            Outcome::Refuted(found) => Some(found.why()),
            Outcome::Contradicted(what) => {
                Some(format!("the policy contradicts this requirement of the claim: {what}"))
            }
            Outcome::Proved(_) | Outcome::Unknown(_) => None,
        }
    }
}

impl From<Refutation> for Outcome {
    fn from(refutation: Refutation) -> Outcome {
        match refutation {
            Refutation::Happens(found) => Outcome::Refuted(found),
            Refutation::Text(what) => Outcome::Contradicted(what),
        }
    }
}
