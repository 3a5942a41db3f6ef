//! BCL: Bertogna, Cirinei, Lipari, "Improved schedulability analysis of EDF on multiprocessor
//! platforms", ECRTS 2005; with slacks, "Schedulability analysis of global scheduling algorithms on
//! multiprocessor platforms", IEEE TPDS 20 (2009).

use wastenot_model::sporadic::{Sporadic, TaskSet};

use super::too_long;
use crate::number::Budget;
use crate::{ARBITRARY, Answer};

/// Whether no task can be interfered with for longer than its laxity.
pub fn bcl(tasks: &TaskSet, cpus: u32, budget: &mut Budget) -> Answer {
    if !tasks.is_constrained() {
        return Answer::NotApplicable(ARBITRARY);
    }
    if tasks.iter().any(too_long) {
        return Answer::Reject;
    }
    for problem in 0..tasks.len() {
        match budget.spend(tasks.len()).map(|()| fits(tasks, cpus, problem)) {
            Ok(true) => {}
            other => return Answer::of(other),
        }
    }
    Answer::Accept
}

/// In units of 1 / D of the task, so that all is whole.
fn fits(tasks: &TaskSet, cpus: u32, problem: usize) -> bool {
    let (wcet, deadline) = (tasks[problem].wcet_us, tasks[problem].deadline_us);
    let (laxity, window) = (i128::from(deadline - wcet), i128::from(deadline));
    let (mut sum, mut partial) = (0, false);
    for (_, task) in tasks.iter().enumerate().filter(|&(n, _)| n != problem) {
        let work = demand_and_tail(task, window);
        partial |= 0 < work && work <= laxity;
        sum += work.min(laxity);
    }
    let room = i128::from(cpus) * laxity;
    sum < room || sum == room && partial
}

/// The most that jobs of `task` run in a window that ends at a deadline of its: those due in it,
/// and the end of one more.
fn demand_and_tail(task: &Sporadic, window: i128) -> i128 {
    let (wcet, period) = (i128::from(task.wcet_us), i128::from(task.period_us));
    let beyond = window - i128::from(task.deadline_us);
    let jobs = if beyond < 0 { 0 } else { beyond / period + 1 };
    jobs * wcet + wcet.min((window - jobs * period).max(0))
}

/// The same with slacks: a task that is known to complete early carries less in. Tasks are looked
/// at in order, each with the slacks known so far, until a round in which all fit, or nothing
/// changed.
pub fn bcli(tasks: &TaskSet, cpus: u32, budget: &mut Budget) -> Answer {
    if !tasks.is_constrained() {
        return Answer::NotApplicable(ARBITRARY);
    }
    if tasks.iter().any(too_long) {
        return Answer::Reject;
    }
    let mut slacks = vec![0; tasks.len()];
    loop {
        let (mut fit, mut changed) = (true, false);
        for n in 0..tasks.len() {
            if budget.spend(tasks.len()).is_err() {
                return Answer::Unknown;
            }
            let slack = slack(tasks, cpus, n, &slacks);
            fit &= slack >= 0;
            changed |= slack > slacks[n];
            slacks[n] = slacks[n].max(slack);
        }
        if fit || !changed {
            return Answer::of(Ok(fit));
        }
    }
}

/// How long before its deadline a task is done; below 0 it may not be.
fn slack(tasks: &TaskSet, cpus: u32, problem: usize, slacks: &[i128]) -> i128 {
    let (wcet, deadline) = (tasks[problem].wcet_us, tasks[problem].deadline_us);
    let laxity = i128::from(deadline - wcet);
    let others = tasks.iter().zip(slacks).enumerate().filter(|&(n, _)| n != problem);
    let sum: i128 = others
        .map(|(_, (task, slack))| edf_work(task, deadline.into(), *slack).min(laxity + 1))
        .sum();
    laxity - sum / i128::from(cpus)
}

/// The most that jobs of `task` run in a window that ends at a deadline of its, if each is done
/// `slack` before its own.
pub(super) fn edf_work(task: &Sporadic, window: i128, slack: i128) -> i128 {
    let (wcet, period) = (i128::from(task.wcet_us), i128::from(task.period_us));
    let (jobs, rest) = (window / period, window % period);
    jobs * wcet + wcet.min((rest - slack).max(0))
}
