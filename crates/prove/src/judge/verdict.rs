//! What became of claims.

use std::time::Duration;

use wastenot_rota::ir::{Claim, Policy};

use crate::engine::{Judged, Refutation, Scope};
use crate::explore::Bounds;
use crate::{Counterexample, Warning};

/// What became of a claim.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The claim.
    pub claim: Claim,
    /// Whether it holds.
    pub outcome: Outcome,
    /// What it follows from, each with what was found.
    pub obligations: Vec<Judged>,
    /// What it does not need, but is worth knowing.
    pub remarks: Vec<Judged>,
    /// How many situations the explorer examined.
    pub looked: u64,
    /// How far it explored, if it did.
    pub explored: Option<Bounds>,
    /// How long it took.
    pub took: Duration,
}

/// Whether a claim holds.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// It does.
    Proved(Scope),
    /// It does not: this happens.
    Refuted(Counterexample),
    /// It does not: the text contradicts it. The sentence is what does not hold.
    Contradicted(String),
    /// It is unknown, for this reason.
    Unknown(String),
}

/// What became of the claims of one policy, or of a program with partitions.
#[derive(Clone, Debug)]
pub struct Judgement<'p> {
    /// The policy; `None` is the program as a whole.
    pub policy: Option<&'p Policy>,
    /// One verdict for each claim.
    pub verdicts: Vec<Verdict>,
    /// What to know of the policy, whatever becomes of its claims.
    pub warnings: Vec<Warning>,
}

/// The answer to one question: do all claims hold, for any number of CPUs?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conclusion {
    /// They do.
    Yes,
    /// One does not.
    No,
    /// One is unknown or holds for small machines only, or there is none.
    CannotTell,
}

impl Conclusion {
    /// The conclusion of several: a no counts, also beside what is unknown. `None` of none.
    pub fn of_all(all: impl IntoIterator<Item = Conclusion>) -> Option<Conclusion> {
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
    /// What a program that asks for a yes or a no is told. The machine that a policy is to run on
    /// may be larger than those for which it is proved.
    pub fn conclusion(&self) -> Conclusion {
        match self {
            Outcome::Proved(Scope::Any) => Conclusion::Yes,
            Outcome::Proved(Scope::UpTo(_)) | Outcome::Unknown(_) => Conclusion::CannotTell,
            Outcome::Refuted(_) | Outcome::Contradicted(_) => Conclusion::No,
        }
    }

    /// Why the claim does not hold, if it is refuted.
    pub fn refutation(&self) -> Option<String> {
        match self {
            Outcome::Refuted(found) => Some(found.why()),
            Outcome::Contradicted(what) => {
                Some(format!("it requires this, but the text states otherwise: {what}"))
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
