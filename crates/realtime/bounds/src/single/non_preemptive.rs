//! Response times under non-preemptive EDF: George, Rivierre, Spuri, "Preemptive and
//! non-preemptive real-time uniprocessor scheduling", INRIA RR-2966 (1996).

use wastenot_model::sporadic::{Sporadic, TaskSet};

use super::{Response, busy_period, overload};
use crate::demand::dues;
use crate::number::{Budget, Halt};

/// The longest response time of each task.
pub fn non_preemptive(tasks: &TaskSet, budget: &mut Budget) -> Response {
    Response::of(responses(tasks, budget))
}

fn responses(tasks: &TaskSet, budget: &mut Budget) -> Result<Option<Vec<i128>>, Halt> {
    if overload(tasks, budget)? {
        return Ok(None);
    }
    let blocking = tasks.iter().map(|task| i128::from(task.wcet_us) - 1).max().unwrap_or(0);
    let busy = busy_period(tasks, None, budget)? + blocking;
    // A job matters that is released while the CPU is busy, and due when a job of another may be.
    let of = |task: &Sporadic| {
        let (wcet, deadline) = (i128::from(task.wcet_us), i128::from(task.deadline_us));
        let mut longest = wcet;
        for due in dues(tasks, deadline, deadline + busy - 1) {
            budget.spend(1)?;
            longest = longest.max(response(tasks, task, due - deadline, budget)?);
        }
        Ok(longest)
    };
    tasks.iter().map(of).collect::<Result<Vec<i128>, Halt>>().map(Some)
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
