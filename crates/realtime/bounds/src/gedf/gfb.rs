//! GFB, the density test: Goossens, Funk, Baruah, "Priority-driven scheduling of periodic task
//! systems on multiprocessors", Real-Time Systems 25 (2003).

use wastenot_model::sporadic::{Sporadic, TaskSet};

use super::density_max;
use crate::number::{Budget, Exact, Halt, Interval, Number, decide};
use crate::{ARBITRARY, Answer};

/// Whether the densities add up to at most `m - (m - 1)` times the greatest of them.
pub fn gfb(tasks: &TaskSet, cpus: u32) -> Answer {
    within(tasks, cpus, &mut Budget::once())
}

/// The same with a budget: it only matters where both are close.
pub(crate) fn within(tasks: &TaskSet, cpus: u32, budget: &mut Budget) -> Answer {
    if !tasks.is_constrained() {
        return Answer::NotApplicable(ARBITRARY);
    }
    let quick = |budget: &mut Budget| fits::<Interval>(tasks, cpus, budget);
    Answer::of(decide(budget, quick, |budget| fits::<Exact>(tasks, cpus, budget)))
}

fn fits<N: Number>(tasks: &TaskSet, cpus: u32, budget: &mut Budget) -> Result<bool, Halt> {
    let density = |task: &Sporadic| N::ratio(task.wcet_us.into(), task.deadline_us.into());
    let (num, den) = density_max(tasks);
    let cpus = i128::from(cpus);
    let most = N::ratio(cpus * den - (cpus - 1) * num, den);
    Ok(!most.below(&N::sum(tasks.iter().map(density), budget)?)? && num <= den)
}
