//! Two curves beside each other, on the same sets.

use super::{Row, Swept};
use crate::proportion::paired;

/// What is more likely by chance than this is not said.
const LEVEL: f64 = 0.05;

/// On how many sets two curves differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beside {
    /// Sets that only the one accepts.
    pub only_one: u64,
    /// Sets that only the other accepts.
    pub only_other: u64,
}

impl Beside {
    pub(super) fn of<'r>(
        rows: impl IntoIterator<Item = &'r Row>,
        one: usize,
        other: usize,
    ) -> Beside {
        let mut beside = Beside { only_one: 0, only_other: 0 };
        for row in rows {
            for (one, other) in row.accepted(one).zip(row.accepted(other)) {
                beside.only_one += u64::from(one && !other);
                beside.only_other += u64::from(other && !one);
            }
        }
        beside
    }

    /// How likely it is that they differ so unevenly, or more, if neither is above the other
    /// ([`paired`]).
    pub fn p(self) -> f64 {
        paired(self.only_one, self.only_other)
    }
    /// Whether the one is `above` the other, `below` it, or that is `not determined`.
    pub fn word(self) -> &'static str {
        match self.p() < LEVEL {
            true if self.only_one > self.only_other => "above",
            true => "below",
            false => "not determined",
        }
    }
}

impl Swept<'_> {
    /// Two curves by their numbers, over all points of so many CPUs.
    pub fn beside(&self, cpus: u32, one: usize, other: usize) -> Beside {
        let points = self.sweep.points.iter().zip(&self.rows);
        Beside::of(points.filter(|it| it.0.cpus == cpus).map(|it| it.1), one, other)
    }
}
