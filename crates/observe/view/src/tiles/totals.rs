//! What all CPUs did together, at every zoom.

use std::ops::AddAssign;

use wastenot_model::Activity;

use crate::tiles::{Doing, FACTOR, Sum};

/// What all CPUs did in a stretch of time: CPU time in ns, unless it says otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Total {
    /// Some task ran.
    pub busy_ns: u64,
    /// Nothing is known.
    pub unknown_ns: u64,
    /// Idle while a task that could have run there waited elsewhere.
    pub wanted_ns: u64,
    /// Task time: how long tasks waited, summed over tasks.
    pub waiting_ns: u64,
    /// A task waited there while a CPU that it may use was idle.
    pub in_vain_ns: u64,
}

impl Total {
    /// How many numbers it has.
    pub(crate) const NUMBERS: usize = 5;

    /// Its numbers, in the order of its fields.
    pub(crate) fn numbers(&self) -> [u64; Total::NUMBERS] {
        let Total { busy_ns, unknown_ns, wanted_ns, waiting_ns, in_vain_ns } = *self;
        [busy_ns, unknown_ns, wanted_ns, waiting_ns, in_vain_ns]
    }

    pub(crate) fn of_numbers(numbers: [u64; Total::NUMBERS]) -> Total {
        let [busy_ns, unknown_ns, wanted_ns, waiting_ns, in_vain_ns] = numbers;
        Total { busy_ns, unknown_ns, wanted_ns, waiting_ns, in_vain_ns }
    }
}

impl From<&Sum> for Total {
    fn from(sum: &Sum) -> Total {
        let Sum { busy_ns, unknown_ns, wanted_ns, waiting_ns, in_vain_ns, .. } = *sum;
        Total { busy_ns, unknown_ns, wanted_ns, waiting_ns, in_vain_ns }
    }
}

impl AddAssign for Total {
    fn add_assign(&mut self, other: Total) {
        self.busy_ns = self.busy_ns.saturating_add(other.busy_ns);
        self.unknown_ns = self.unknown_ns.saturating_add(other.unknown_ns);
        self.wanted_ns = self.wanted_ns.saturating_add(other.wanted_ns);
        self.waiting_ns = self.waiting_ns.saturating_add(other.waiting_ns);
        self.in_vain_ns = self.in_vain_ns.saturating_add(other.in_vain_ns);
    }
}

/// The same for cells of each width that is kept, from the narrowest on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) levels: Vec<Vec<Total>>,
}

impl Totals {
    pub(crate) fn new() -> Totals {
        Totals { levels: vec![Vec::new()] }
    }

    fn cell(&mut self, cell: u64) -> &mut Total {
        let cells = &mut self.levels[0];
        if cells.len() as u64 <= cell {
            cells.resize(cell as usize + 1, Total::default());
        }
        &mut cells[cell as usize]
    }

    /// In the narrowest cell `cell` a CPU did so for `ns`.
    #[inline]
    pub(crate) fn add(&mut self, cell: u64, is: Doing, ns: u64, wanted_ns: u64) {
        let total = self.cell(cell);
        match is.activity {
            Activity::Run(_) => total.busy_ns = total.busy_ns.saturating_add(ns),
            Activity::Unknown => total.unknown_ns = total.unknown_ns.saturating_add(ns),
            _ => {}
        }
        // Thousands of CPUs for centuries, as damaged stamps claim, are more than 64 bits hold.
        total.wanted_ns = total.wanted_ns.saturating_add(wanted_ns);
        let waiting_ns = ns.saturating_mul(is.waiting.into());
        total.waiting_ns = total.waiting_ns.saturating_add(waiting_ns);
    }

    /// In the narrowest cell `cell` a task waited in vain on some CPU for `ns`.
    pub(crate) fn add_in_vain(&mut self, cell: u64, ns: u64) {
        let total = self.cell(cell);
        total.in_vain_ns = total.in_vain_ns.saturating_add(ns);
    }

    /// Keeps cells that are `FACTOR` times as wide.
    pub(crate) fn coarsen(&mut self) {
        self.levels[0] = wider(&self.levels[0]);
    }

    /// Makes all wider cells, up to one for all.
    pub(crate) fn finish(&mut self) {
        while self.levels.last().is_some_and(|level| level.len() > 1) {
            self.levels.push(wider(&self.levels[self.levels.len() - 1]));
        }
    }

    pub(crate) fn size(&self) -> usize {
        self.levels.iter().map(|level| level.len() * size_of::<Total>()).sum()
    }
}

fn wider(cells: &[Total]) -> Vec<Total> {
    cells.chunks(FACTOR as usize).map(sum).collect()
}

fn sum(totals: &[Total]) -> Total {
    totals.iter().fold(Total::default(), |mut sum, total| {
        sum += *total;
        sum
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_over_many_cpus_end_at_the_most() {
        let mut totals = Totals::new();
        for _ in 0..3 {
            totals.add(
                0,
                Doing { activity: Activity::Unknown, waiting: 0 },
                u64::MAX / 2,
                u64::MAX,
            );
            totals.add_in_vain(0, u64::MAX);
        }
        totals.finish();
        let sum = totals.levels[0][0];
        assert_eq!((sum.unknown_ns, sum.wanted_ns, sum.in_vain_ns), (u64::MAX, u64::MAX, u64::MAX));
    }
}
