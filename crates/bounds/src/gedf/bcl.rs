//! BCL: Bertogna, Cirinei, Lipari, "Improved schedulability analysis of EDF on multiprocessor
//! platforms", ECRTS 2005; with slacks, "Schedulability analysis of global scheduling algorithms on
//! multiprocessor platforms", IEEE TPDS 20 (2009).
//!
//! No time is beyond 2^40, no C is longer than its D or T: what jobs do in a window is no longer
//! than the window, and sums over all tasks fit 64 bits.

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
    let window = tasks[problem].deadline_us as i64;
    let laxity = window - tasks[problem].wcet_us as i64;
    let (mut sum, mut partial) = (0, false);
    for (_, task) in tasks.iter().enumerate().filter(|&(n, _)| n != problem) {
        let work = demand_and_tail(task, window);
        partial |= 0 < work && work <= laxity;
        sum += work.min(laxity);
    }
    let (sum, room) = (i128::from(sum), i128::from(cpus) * i128::from(laxity));
    sum < room || sum == room && partial
}

/// The most that jobs of `task` run in a window that ends at a deadline of its: those due in it,
/// and the end of one more.
fn demand_and_tail(task: &Sporadic, window: i64) -> i64 {
    let (wcet, period) = (task.wcet_us as i64, task.period_us as i64);
    let beyond = window - task.deadline_us as i64;
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
fn slack(tasks: &TaskSet, cpus: u32, problem: usize, slacks: &[i64]) -> i64 {
    let deadline = tasks[problem].deadline_us as i64;
    let laxity = deadline - tasks[problem].wcet_us as i64;
    let others = tasks.iter().zip(slacks).enumerate().filter(|&(n, _)| n != problem);
    let sum: i64 =
        others.map(|(_, (task, slack))| edf_work(task, deadline, *slack).min(laxity + 1)).sum();
    laxity - sum / i64::from(cpus)
}

/// The most that jobs of `task` run in a window that ends at a deadline of its, if each is done
/// `slack` before its own.
pub(super) fn edf_work(task: &Sporadic, window: i64, slack: i64) -> i64 {
    let (wcet, period) = (task.wcet_us as i64, task.period_us as i64);
    let (jobs, rest) = (window / period, window % period);
    jobs * wcet + wcet.min((rest - slack).max(0))
}
