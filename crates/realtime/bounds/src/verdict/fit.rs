//! What would make a set fit: more CPUs, or less to do.

use wastenot_model::CpuId;
use wastenot_model::sporadic::{Sporadic, TaskSet};

use super::ask::{Shown, shown};
use super::witness::cpus_used;
use super::{Question, Test};
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

impl Question {
    /// The least number of CPUs with which some test accepts, from `from` to `most`. Overheads are
    /// those of the question on any number. Tests are not monotone, so that each number is tried.
    pub fn least_cpus(
        &self,
        tasks: &TaskSet,
        from: u32,
        most: u32,
        budget: &mut Budget,
    ) -> Option<Enough> {
        let mut is_least = true;
        let (mut cpus, most) = (from.max(1), most.min(CpuId::LIMIT as u32));
        while cpus <= most {
            let tasks = self.charged(tasks, cpus).ok()?;
            // Fewer than are used are too few for every test.
            if let Some(used) = cpus_used(&tasks, budget).filter(|&used| used > cpus) {
                cpus = used;
                continue;
            }
            match asked(&self.tests, &tasks, cpus, budget) {
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

    /// The greatest share of its work with which a set is accepted, up to `most` thousandths.
    /// Tests that may reject less work than they accept are left out.
    pub fn most_work(&self, tasks: &TaskSet, most: u64, budget: &mut Budget) -> Option<Scale> {
        let tests: Vec<Test> =
            self.tests.iter().copied().filter(|test| test.takes_less()).collect();
        let with = |per_mille| self.charged(&scaled(tasks, per_mille)?, self.cpus).ok();
        let mut ask = |per_mille| match with(per_mille) {
            Some(tasks) => asked(&tests, &tasks, self.cpus, budget),
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
        let critical = with(high).and_then(|tasks| critical(&tasks, self.cpus, budget));
        Some(Scale { per_mille: low, is_most, by: by?, critical })
    }
}

fn asked(tests: &[Test], tasks: &TaskSet, cpus: u32, budget: &mut Budget) -> Shown {
    shown(tests, cpus, |test| budget.lend(budget.0 / SHARE, |own| test.ask(tasks, cpus, own)))
}

/// Every C times this, in thousandths, rounded up.
fn scaled(tasks: &TaskSet, per_mille: u64) -> Option<TaskSet> {
    let wcet = |wcet_us: u64| (u128::from(wcet_us) * u128::from(per_mille)).div_ceil(1_000);
    let task = |task: &Sporadic| {
        Some(Sporadic { wcet_us: u64::try_from(wcet(task.wcet_us)).ok()?, ..*task })
    };
    TaskSet::new(tasks.iter().map(task).collect::<Option<_>>()?).ok()
}

/// The first task that RTA does not get done in time.
fn critical(tasks: &TaskSet, cpus: u32, budget: &mut Budget) -> Option<usize> {
    gedf::rta(tasks, cpus, &Rta::default(), budget).failed.first().copied()
}
