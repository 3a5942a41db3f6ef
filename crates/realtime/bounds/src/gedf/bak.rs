//! BAK: Baker, "An analysis of EDF schedulability on a multiprocessor", IEEE TPDS 16 (2005).

use wastenot_model::sporadic::{Sporadic, TaskSet};

use super::too_long;
use crate::Answer;
use crate::demand::utilization;
use crate::number::{Budget, Exact, Halt, Interval, Number, decide};

/// Whether for each task the loads of all others, carry-in included, leave room for it. Deadlines
/// may be beyond periods.
pub fn bak(tasks: &TaskSet, cpus: u32, budget: &mut Budget) -> Answer {
    if tasks.iter().any(too_long) {
        return Answer::Reject;
    }
    let used: Vec<Interval> = tasks.iter().map(utilization).collect();
    for problem in tasks.iter() {
        let quick = |budget: &mut Budget| fits(tasks, &used, cpus, problem, budget);
        let exact = |budget: &mut Budget| {
            let used: Vec<Exact> = tasks.iter().map(utilization).collect();
            fits(tasks, &used, cpus, problem, budget)
        };
        match decide(budget, quick, exact) {
            Ok(true) => {}
            other => return Answer::of(other),
        }
    }
    Answer::Accept
}

/// Whether `problem` fits beside the others; `used` are their utilizations.
fn fits<N: Number>(
    tasks: &TaskSet,
    used: &[N],
    cpus: u32,
    problem: &Sporadic,
    budget: &mut Budget,
) -> Result<bool, Halt> {
    budget.spend(tasks.len())?;
    let (wcet, deadline) = (i128::from(problem.wcet_us), i128::from(problem.deadline_us));
    let shorter = deadline.min(problem.period_us.into());
    let all = tasks.iter().zip(used);
    let loads = all.map(|(task, used)| load(task, used.clone(), deadline, (wcet, shorter)));
    let loads = loads.collect::<Result<Vec<N>, Halt>>()?;
    let cpus = i128::from(cpus);
    let most = N::ratio(cpus * shorter - (cpus - 1) * wcet, shorter);
    Ok(!most.below(&N::sum(loads.into_iter(), budget)?)?)
}

/// What `task`, whose utilization is `load`, adds to the load of a window that ends at the deadline
/// of a job of density `density`: at most 1.
fn load<N: Number>(
    task: &Sporadic,
    mut load: N,
    deadline: i128,
    density: (i128, i128),
) -> Result<N, Halt> {
    let (wcet, period) = (i128::from(task.wcet_us), i128::from(task.period_us));
    let (num, den) = density;
    // A deadline beyond the period takes nothing off: the window holds a job each period.
    let late = (period - i128::from(task.deadline_us)).max(0);
    if late > 0 {
        load = load * N::ratio(deadline + late, deadline);
    }
    if num * period < wcet * den {
        // What is carried in: (C - lambda T) / D.
        load = load + N::ratio(wcet * den - num * period, den) / N::whole(deadline);
    }
    load.least(N::whole(1))
}
