//! Deadlines: the time after its release within which a job should complete.

use std::fmt;
use std::str::FromStr;

use wastenot_model::workload::Random;

use super::words::{Names, name_of, named};
use crate::Error;

/// The distribution of a task's deadline. C is its cost, T its period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Deadlines {
    /// See [`DEADLINES`].
    #[default]
    Implicit,
    /// See [`DEADLINES`].
    Constrained,
    /// See [`DEADLINES`].
    Arbitrary,
}

/// Every kind of deadline with its name and meaning. The names are those of SchedCAT.
pub const DEADLINES: &Names<Deadlines> = &[
    (Deadlines::Implicit, "implicit", "equal to the period"),
    (Deadlines::Constrained, "uni-constrained", "uniform from the WCET C to the period T"),
    (
        Deadlines::Arbitrary,
        "uni-arbitrary",
        "uniform from C to C + 2(T - C), for a WCET C and a period T",
    ),
];

impl Deadlines {
    /// Whether no deadline is later than its task's period.
    pub(crate) fn is_constrained(self) -> bool {
        self != Deadlines::Arbitrary
    }
    /// The next deadline, in us, for a task whose cost does not exceed its period.
    pub(super) fn draw(self, wcet_us: u64, period_us: u64, random: &mut Random) -> u64 {
        let slack_us = period_us - wcet_us;
        match self {
            Deadlines::Implicit => period_us,
            Deadlines::Constrained => wcet_us + random.below(slack_us + 1),
            Deadlines::Arbitrary => wcet_us + random.below(2 * slack_us + 1),
        }
    }
}

impl FromStr for Deadlines {
    type Err = Error;
    fn from_str(text: &str) -> Result<Deadlines, Error> {
        named(text, "kinds of deadlines", DEADLINES)
    }
}

impl fmt::Display for Deadlines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(name_of(self, DEADLINES))
    }
}
