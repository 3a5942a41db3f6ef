//! Response times under non-preemptive EDF: George, Rivierre, Spuri, "Preemptive and
//! non-preemptive real-time uniprocessor scheduling", INRIA RR-2966 (1996).

use wastenot_model::sporadic::{Sporadic, TaskSet};

use super::{Response, busy_period, overload};
use crate::number::{Budget, Halt};

/// The longest response time of each task.
pub fn non_preemptive(tasks: &TaskSet, budget: &mut Budget) -> Response {
    Response::of(responses(tasks, budget))
}

fn responses(tasks: &TaskSet, budget: &mut Budget) -> Result<Option<Vec<i128>>, Halt> {
    if overload(tasks)? {
        return Ok(None);
    }
    let blocking = tasks.iter().map(|task| i128::from(task.wcet_us) - 1).max().unwrap_or(0);
    let busy = busy_period(tasks, None, budget)? + blocking;
    let of = |task: &Sporadic| {
        let mut longest = i128::from(task.wcet_us);
        for release in releases(tasks, task, busy, budget)? {
            longest = longest.max(response(tasks, task, release, budget)?);
        }
        Ok(longest)
    };
    tasks.iter().map(of).collect::<Result<Vec<i128>, Halt>>().map(Some)
}

/// When a job of `task` has to be released, after the busy time began, to be looked at: where its
/// deadline is one of a job of another.
fn releases(
    tasks: &TaskSet,
    task: &Sporadic,
    busy: i128,
    budget: &mut Budget,
) -> Result<Vec<i128>, Halt> {
    let mut all = Vec::new();
    for other in tasks.iter() {
        let first = i128::from(other.deadline_us) - i128::from(task.deadline_us);
        let jobs = (0..).map(|job| first + job * i128::from(other.period_us));
        for release in jobs.take_while(|&release| release < busy) {
            budget.spend(1)?;
            if release >= 0 {
                all.push(release);
            }
        }
    }
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

/// How long a job takes that is released `release` after the busy time began.
fn response(
    tasks: &TaskSet,
    task: &Sporadic,
    release: i128,
    budget: &mut Budget,
) -> Result<i128, Halt> {
    let due = release + i128::from(task.deadline_us);
    // Who is due later may just have begun.
    let later = tasks.iter().filter(|other| i128::from(other.deadline_us) > due);
    let blocking = later.map(|other| i128::from(other.wcet_us) - 1).max().unwrap_or(0);
    let wcet = i128::from(task.wcet_us);
    let before = release / i128::from(task.period_us) * wcet;
    let mut begins = 0;
    loop {
        budget.spend(tasks.len())?;
        let others = tasks.iter().filter(|other| !std::ptr::eq(*other, task));
        let sum: i128 = others
            .filter(|other| i128::from(other.deadline_us) <= due)
            .map(|other| {
                let period = i128::from(other.period_us);
                let jobs = begins.min(due - i128::from(other.deadline_us)) / period + 1;
                jobs * i128::from(other.wcet_us)
            })
            .sum();
        let next = blocking + before + sum;
        if next == begins {
            return Ok((begins + wcet - release).max(wcet));
        }
        begins = next;
    }
}
