//! Why a set cannot be scheduled, whatever the scheduler: conditions that every schedule needs.

use wastenot_model::sporadic::{Sporadic, TaskSet};

use crate::demand::{LONGEST_US, Unmet, Windows, demand, dues, repeats, total, unmet, windows};
use crate::number::{Budget, Exact, Halt, Interval, Number, decide};

/// Something that shows that a deadline is missed. `M` is a miss that was simulated.
#[derive(Clone, Debug, PartialEq)]
pub enum Witness<M> {
    /// A job is late even if its task has a CPU of its own. All of a task's jobs are released as
    /// early as they may be, from 0 on.
    Alone(Alone),
    /// Tasks use more than the CPUs in the long run.
    Overuse,
    /// Jobs that are released and due within a window need more than the CPUs give in it.
    Demand {
        /// All tasks release at its begin; in us.
        window_us: u64,
        /// What is due by its end, in us.
        demand_us: u64,
    },
    /// A job that was late in a simulation.
    Missed(M),
}

/// A job that is late on a CPU of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alone {
    /// Its task, counted from 0.
    pub task: usize,
    /// When it is released, in us.
    pub released_us: u64,
    /// When it should be complete.
    pub deadline_us: u64,
    /// When it is, at best.
    pub completed_us: u64,
}

impl Alone {
    /// The first job of `task` that is late. One that takes longer than its period, but not than
    /// its deadline, makes those after it wait ever longer.
    fn of(task: usize, it: &Sporadic) -> Option<Alone> {
        let job = match () {
            () if it.wcet_us > it.deadline_us => 0,
            () if it.wcet_us > it.period_us => {
                (it.deadline_us - it.wcet_us) / (it.wcet_us - it.period_us) + 1
            }
            () => return None,
        };
        let released_us = job.checked_mul(it.period_us)?;
        Some(Alone {
            task,
            released_us,
            deadline_us: released_us.checked_add(it.deadline_us)?,
            completed_us: (job + 1).checked_mul(it.wcet_us)?,
        })
    }
}

/// What makes every schedule of `tasks` on `cpus` CPUs miss, if that is seen without simulating.
/// Nothing found within the budget is no proof that there is nothing.
pub(super) fn impossible<M>(tasks: &TaskSet, cpus: u32, budget: &mut Budget) -> Option<Witness<M>> {
    let alone = tasks.iter().enumerate().find_map(|(n, task)| Alone::of(n, task));
    if let Some(alone) = alone {
        return Some(Witness::Alone(alone));
    }
    let speed = (i128::from(cpus), 1);
    let quick = |budget: &mut Budget| windows::<Interval>(tasks, speed, budget);
    let exact = |budget: &mut Budget| windows::<Exact>(tasks, speed, budget);
    let longest = match decide(budget, quick, exact) {
        Ok(Windows::Over) => return Some(Witness::Overuse),
        Ok(Windows::Upto(longest)) => longest.min(LONGEST_US),
        // From one common multiple of periods to the next the CPUs just keep up.
        Ok(Windows::All) => repeats(tasks)?,
        Ok(Windows::None) | Err(_) => return None,
    };
    let found = unmet(tasks, speed, longest, budget).ok()??;
    let first = first_unmet(tasks, speed.0, found, budget).unwrap_or(found);
    Some(Witness::Demand {
        window_us: u64::try_from(first.window).ok()?,
        demand_us: u64::try_from(first.demand).ok()?,
    })
}

/// The shortest window whose demand is not met, up to one that is known.
fn first_unmet(
    tasks: &[Sporadic],
    cpus: i128,
    known: Unmet,
    budget: &mut Budget,
) -> Result<Unmet, Halt> {
    for window in dues(tasks, 0, known.window) {
        budget.spend(tasks.len())?;
        let demand: i128 = tasks.iter().map(|task| demand(task, window)).sum();
        if demand > cpus * window {
            return Ok(Unmet { window, demand });
        }
    }
    Ok(known)
}

/// What tasks use of CPUs in the long run, rounded to a double: for people.
pub fn utilization(tasks: &TaskSet) -> f64 {
    // The sum of nothing would be -0.
    tasks.iter().fold(0.0, |sum, task| sum + task.wcet_us as f64 / task.period_us as f64)
}

/// The least number of CPUs that tasks do not overuse, if that can be told.
pub(super) fn cpus_used(tasks: &TaskSet, budget: &mut Budget) -> Option<u32> {
    let quick = |budget: &mut Budget| total::<Interval>(tasks, budget)?.ceil();
    let exact = |budget: &mut Budget| total::<Exact>(tasks, budget)?.ceil();
    let cpus = decide(budget, quick, exact).ok()?;
    u32::try_from(cpus).ok()
}
