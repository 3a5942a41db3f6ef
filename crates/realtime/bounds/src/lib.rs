//! Whether deadlines hold: schedulability tests, response times, tardiness, overheads.
//!
//! One file a test, each names the paper it comes from. All of them are about sporadic tasks on
//! identical CPUs; those of global EDF are sufficient only: what they reject may be schedulable.
//! Arithmetic is exact ([`number`]), and no answer depends on how fast a machine is ([`Budget`]).
//!
//! ```
//! use wastenot_bounds::{Answer, Budget, gedf};
//! use wastenot_model::sporadic::{Sporadic, TaskSet};
//! let tasks = TaskSet::new(vec![Sporadic::implicit(2, 3); 3])?;
//! assert_eq!(gedf::gfb(&tasks, 2), Answer::Reject);
//! let rta = gedf::rta(&tasks, 3, &gedf::Rta::default(), &mut Budget::USUAL.clone());
//! assert_eq!(rta.answer, Answer::Accept);
//! assert_eq!(rta.response_us, [2, 2, 2]);
//! # Ok::<(), wastenot_model::sporadic::NotATaskSet>(())
//! ```

mod demand;
pub mod gedf;
mod number;
pub mod overheads;
pub mod partitioned;
pub mod single;
pub mod tardiness;
pub mod verdict;

pub use number::Budget;
use number::Halt;

/// What a test says of a task set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It can be scheduled: no deadline is missed.
    Accept,
    /// The test cannot show that it can.
    Reject,
    /// The test says nothing of such sets: why.
    NotApplicable(&'static str),
    /// The test ran out of its [`Budget`].
    Unknown,
}

impl Answer {
    /// In JSON.
    pub fn word(self) -> &'static str {
        match self {
            Answer::Accept => "accept",
            Answer::Reject => "reject",
            Answer::NotApplicable(_) => "not_applicable",
            Answer::Unknown => "unknown",
        }
    }
    fn of(result: Result<bool, Halt>) -> Answer {
        match result {
            Ok(true) => Answer::Accept,
            Ok(false) => Answer::Reject,
            Err(_) => Answer::Unknown,
        }
    }
}

/// Why tests with constrained deadlines are silent.
const ARBITRARY: &str = "a deadline is longer than its period";
