//! GFB, the density test: Goossens, Funk, Baruah, "Priority-driven scheduling of periodic task
//! systems on multiprocessors", Real-Time Systems 25 (2003).

use wastenot_model::sporadic::{Sporadic, TaskSet};

use super::density_max;
use crate::number::{Budget, Exact, Halt, Interval, Number, decide};
use crate::{ARBITRARY, Answer};

/// Whether the densities add up to at most `m - (m - 1)` times the greatest of them.
pub fn gfb(tasks: &TaskSet, cpus: u32) -> Answer {
    if !tasks.is_constrained() {
        return Answer::NotApplicable(ARBITRARY);
    }
    let quick = |_: &mut Budget| fits::<Interval>(tasks, cpus);
    Answer::of(decide(&mut Budget(0), quick, |_| fits::<Exact>(tasks, cpus)))
}

fn fits<N: Number>(tasks: &TaskSet, cpus: u32) -> Result<bool, Halt> {
    let density = |task: &Sporadic| N::ratio(task.wcet_us.into(), task.deadline_us.into());
    let (num, den) = density_max(tasks);
    let cpus = i128::from(cpus);
    let most = N::ratio(cpus * den - (cpus - 1) * num, den);
    Ok(!most.below(&N::sum(tasks.iter().map(density)))? && num <= den)
}
