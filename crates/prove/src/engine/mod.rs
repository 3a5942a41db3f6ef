//! What can answer whether a claim holds. Each engine has its own way; none relies on another.
//!
//! | engine | what it looks at | what it can answer |
//! |---|---|---|
//! | [`Explorer`] | every situation on every small machine | refutes; shows up to N CPUs |
//! | [`Interleavings`] | every interleaving of the wakeup protocol | refutes; shows up to N CPUs |
//! | [`Bounded`] | small machines with many tasks, by a solver | refutes; shows up to N CPUs |
//! | [`Quantified`] | machines of any size, by solvers, and the text | shows for any number |

mod bounded;
mod explorer;
mod interleavings;
mod quantified;

use std::time::Duration;

use wastenot_rota::ir::{ClaimKind, Policy};

pub use self::bounded::Bounded;
pub use self::explorer::{Explorer, search};
pub use self::interleavings::Interleavings;
pub use self::quantified::{Finding, Judged, Quantified, ask_one};
pub(crate) use self::quantified::{ask_as_given, defeated};

use crate::cache::Cache;
use crate::explore::Bounds;
use crate::solver::Solver;
use crate::{Counterexample, Error};

/// How engines answer.
#[derive(Debug)]
pub struct Options {
    /// The solvers to run; the answers of several are compared.
    pub solvers: Vec<Solver>,
    /// Where answers of solvers are kept.
    pub cache: Option<Cache>,
    /// The time limit of a solver for one query.
    pub patience: Duration,
    /// How far the explorer goes.
    pub bounds: Bounds,
}

/// Answers whether claims of a policy hold.
pub trait Engine {
    /// One answer for each claim, in their order.
    ///
    /// # Errors
    /// A solver fails, or two disagree.
    fn ask(&self, policy: &Policy, claims: &[&ClaimKind]) -> Result<Vec<Answer>, Error>;

    /// The answer for one claim.
    ///
    /// # Errors
    /// As for all.
    fn ask_one(&self, policy: &Policy, claim: &ClaimKind) -> Result<Answer, Error> {
        let answers = self.ask(policy, &[claim])?;
        Ok(answers.into_iter().next().unwrap_or_default())
    }
}

/// What an engine answers for one claim, with its evidence.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The answer.
    pub says: Says,
    /// How far everything was examined: evidence for small machines, also beside a counterexample.
    pub within: Option<Bounds>,
    /// How many situations were examined.
    pub looked: u64,
    /// What the claim follows from, each with what was found.
    pub obligations: Vec<Judged>,
    /// What it does not need, but is worth knowing.
    pub remarks: Vec<Judged>,
    /// How long it took.
    pub took: Duration,
}

/// Whether a claim holds, for all that an engine knows.
#[derive(Clone, Debug)]
pub enum Says {
    /// It does not.
    Refutes(Refutation),
    /// It does, on these machines.
    Shows(Scope),
    /// The engine does not know; with a reason, if it is one that no other search makes good.
    Silent(Option<String>),
}

/// Why a claim does not hold.
#[derive(Clone, Debug)]
pub enum Refutation {
    /// This happens.
    Happens(Counterexample),
    /// The text contradicts it: this sentence does not hold.
    Text(String),
}

/// For which machines something is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// For all: `any n`.
    Any,
    /// For those within the bounds of a search: `n <= N`.
    UpTo(Bounds),
}

impl Default for Says {
    fn default() -> Says {
        Says::Silent(None)
    }
}

impl Answer {
    /// Whether the claim is refuted.
    pub fn refutes(&self) -> bool {
        matches!(self.says, Says::Refutes(_))
    }

    /// What a search answers that examined all within these bounds, if it got that far.
    fn searched(found: Option<Counterexample>, within: Option<Bounds>) -> Answer {
        let says = match (found, within) {
            (Some(found), _) => Says::Refutes(Refutation::Happens(found)),
            (None, Some(bounds)) => Says::Shows(Scope::UpTo(bounds)),
            (None, None) => Says::Silent(None),
        };
        Answer { says, within, ..Answer::default() }
    }
}
