//! Two curves beside each other, on the same sets.

use super::{Row, Swept};
use crate::proportion::paired;

/// What is more likely by chance than this is not said.
const LEVEL: f64 = 0.05;

/// On how many sets two curves differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Beside {
    /// Sets that only the one accepts, and the other rejects.
    pub(crate) only_one: u64,
    /// Sets that only the other accepts, and the one rejects.
    pub(crate) only_other: u64,
    /// Sets of which either does not know.
    pub unknown: u64,
    /// Sets that only the one accepts if all that is unknown speaks for it.
    most_one: u64,
    /// Sets that only the other accepts if all that is unknown speaks for that.
    most_other: u64,
}

impl Beside {
    pub(super) fn of<'r>(
        rows: impl IntoIterator<Item = &'r Row>,
        one: usize,
        other: usize,
    ) -> Beside {
        let mut beside = Beside::default();
        for row in rows {
            for (one, other) in row.known(one).zip(row.known(other)) {
                let [yes, no] = [Some(true), Some(false)];
                beside.only_one += u64::from((one, other) == (yes, no));
                beside.only_other += u64::from((one, other) == (no, yes));
                beside.unknown += u64::from(one.is_none() || other.is_none());
                beside.most_one += u64::from(one != no && other != yes);
                beside.most_other += u64::from(other != no && one != yes);
            }
        }
        beside
    }

    /// How likely it is that they differ so unevenly, or more, if neither is above the other
    /// ([`paired`]): the most that it may be, whatever is true of sets that are unknown.
    pub fn p(self) -> f64 {
        match () {
            () if self.only_one > self.most_other => paired(self.only_one, self.most_other),
            () if self.only_other > self.most_one => paired(self.most_one, self.only_other),
            () => 1.0,
        }
    }
    /// Whether the one is `above` the other, `below` it, or that is `not determined`: whatever is
    /// true of sets that are unknown.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What two curves say of the same sets.
    fn beside(one: &str, other: &str) -> Beside {
        let row = Row {
            point: String::new(),
            utilization_ppb: vec![0; one.len()],
            empty: 0,
            verdicts: vec![one.into(), other.into()],
            extrapolated: vec![0, 0],
        };
        Beside::of([&row], 0, 1)
    }

    #[test]
    fn an_order_holds_whatever_is_true_of_sets_that_are_unknown() {
        let all = "A".repeat(20);
        assert_eq!(beside(&all, &"T".repeat(20)).word(), "above");
        assert_eq!(beside(&"T".repeat(20), &all).word(), "below");
        // Whoever is out of its budget may accept all the same.
        let out = beside(&all, &"?".repeat(20));
        assert_eq!((out.word(), out.unknown, out.only_one), ("not determined", 20, 0));
        assert_eq!(beside(&"?".repeat(20), &all).word(), "not determined");
        // Ten to none are enough, and to four are not.
        let one = |unknown: usize| "A".repeat(10) + &"?".repeat(unknown);
        let other = |unknown: usize| "D".repeat(10) + &"A".repeat(unknown);
        assert_eq!(beside(&one(0), &other(0)).word(), "above");
        let four = beside(&one(4), &other(4));
        assert_eq!((four.word(), four.unknown, four.only_one), ("not determined", 4, 10));
        // That the one may accept more takes nothing from it.
        assert_eq!(beside(&one(4), &"T".repeat(14)).word(), "above");
        let sure = beside(&"A".repeat(14), &("T".repeat(10) + "????"));
        assert_eq!((sure.word(), sure.unknown, sure.p()), ("above", 4, paired(10, 0)));
    }
}
