//! The engines that answer whether a claim holds. Each works by itself; none relies on another.
//!
//! | engine | what it examines | what it can answer |
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

use crate::explore::Bounds;
use crate::{Counterexample, Error};

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
    /// As for [`Engine::ask`].
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
    /// The bounds within which all cases were examined: evidence for small machines, even if there
    /// is a counterexample.
    pub within: Option<Bounds>,
    /// How many situations were examined.
    pub looked: u64,
    /// The obligations of the claim, each with its finding.
    pub obligations: Vec<Judged>,
    /// Obligations that are reported but that the claim does not need.
    pub remarks: Vec<Judged>,
    /// How long it took.
    pub took: Duration,
}

/// Whether a claim holds, as far as an engine can decide.
#[derive(Clone, Debug)]
pub enum Says {
    /// The claim does not hold.
    Refutes(Refutation),
    /// The claim holds on these machines.
    Shows(Scope),
    /// The engine has no answer. The reason is given if no other search can remove it.
    Silent(Option<String>),
}

/// Why a claim does not hold.
#[derive(Clone, Debug)]
pub enum Refutation {
    /// The counterexample happens in a run.
    Happens(Counterexample),
    /// The text contradicts the claim: this sentence does not hold.
    Text(String),
}

/// The machines for which a claim is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All machines: `any n`.
    Any,
    /// The machines within the bounds of a search: `n <= N`.
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

    /// The answer of a search. `within`: the bounds within which it examined all cases, if any.
    fn searched(found: Option<Counterexample>, within: Option<Bounds>) -> Answer {
        let says = match (found, within) {
            (Some(found), _) => Says::Refutes(Refutation::Happens(found)),
            (None, Some(bounds)) => Says::Shows(Scope::UpTo(bounds)),
            (None, None) => Says::Silent(None),
        };
        Answer { says, within, ..Answer::default() }
    }
}
