//! What would make a set fit: more CPUs, or less to do.

use wastenot_model::sporadic::TaskSet;

use super::witness::cpus_used;
use super::{Shown, Test, shown};
use crate::gedf::{self, Rta};
use crate::number::Budget;

/// A number of CPUs with which some test accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Enough {
    /// How many run tasks.
    pub cpus: u32,
    /// The test.
    pub by: Test,
    /// Whether all tests reject every lower number: else the budget was spent, and fewer may do.
    pub is_least: bool,
}

/// How much of its work a set may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    /// Every C times this, in thousandths and rounded up, is accepted.
    pub per_mille: u64,
    /// Whether all tests reject a thousandth more: else the budget was spent, and more may do.
    pub is_most: bool,
    /// The test that accepts.
    pub by: Test,
    /// The first task that keeps more from being accepted, counted from 0, where RTA or a lone
    /// task tells.
    pub critical: Option<usize>,
}

/// Of what is left a test may spend one over this.
const SHARE: u64 = 8;

/// The least number of CPUs, from `from` to `most`, with which some test accepts. `on` is the set
/// as it is on so many, if it is one. Tests are not monotone, so that each number is tried.
pub fn least_cpus(
    from: u32,
    most: u32,
    tests: &[Test],
    budget: &mut Budget,
    on: impl Fn(u32) -> Option<TaskSet>,
) -> Option<Enough> {
    let mut is_least = true;
    let mut cpus = from.max(1);
    while cpus <= most {
        let tasks = on(cpus)?;
        // Fewer than are used are too few for every test.
        if let Some(used) = cpus_used(&tasks, budget).filter(|&used| used > cpus) {
            cpus = used;
            continue;
        }
        match shown(&tasks, cpus, tests, budget, SHARE) {
            Shown::By(by) => return Some(Enough { cpus, by, is_least }),
            Shown::Nothing => cpus += 1,
            Shown::Spent => {
                // Larger steps, and only tests that still answer.
                is_least = false;
                cpus += cpus.div_ceil(4);
            }
        }
    }
    None
}

/// The greatest share of its work with which a set is accepted on `cpus` CPUs, up to `most`
/// thousandths. `with` is the set with every C that many thousandths. Tests that may reject less
/// work than they accept are left out.
pub fn most_work(
    cpus: u32,
    most: u64,
    tests: &[Test],
    budget: &mut Budget,
    with: impl Fn(u64) -> Option<TaskSet>,
) -> Option<Scale> {
    let tests: Vec<Test> = tests.iter().copied().filter(|test| test.takes_less()).collect();
    let mut ask = |per_mille| match with(per_mille) {
        Some(tasks) => shown(&tasks, cpus, &tests, budget, SHARE),
        None => Shown::Nothing,
    };
    let (mut low, mut high) = (0, most + 1);
    let (mut by, mut is_most) = (None, true);
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        match ask(middle) {
            Shown::By(test) => (low, by) = (middle, Some(test)),
            Shown::Nothing => (high, is_most) = (middle, true),
            Shown::Spent => (high, is_most) = (middle, false),
        }
    }
    let critical = with(high).and_then(|tasks| critical(&tasks, cpus, budget));
    Some(Scale { per_mille: low, is_most, by: by?, critical })
}

/// The first task that RTA does not get done in time.
fn critical(tasks: &TaskSet, cpus: u32, budget: &mut Budget) -> Option<usize> {
    gedf::rta(tasks, cpus, &Rta::default(), budget).failed.first().copied()
}
