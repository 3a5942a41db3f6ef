//! Response times under preemptive fixed priorities: Lehoczky, "Fixed priority scheduling of
//! periodic task sets with arbitrary deadlines", RTSS 1990.

use wastenot_model::sporadic::{Sporadic, TaskSet};

use super::{Response, overload, released};
use crate::number::{Budget, Halt};

/// The longest response time of each task; the first task has the highest priority.
pub fn fixed_priority(tasks: &TaskSet, budget: &mut Budget) -> Response {
    Response::of(responses(tasks, budget))
}

fn responses(tasks: &TaskSet, budget: &mut Budget) -> Result<Option<Vec<i128>>, Halt> {
    if overload(tasks, budget)? {
        return Ok(None);
    }
    let of = |own: usize| response(&tasks[..own], &tasks[own], budget);
    (0..tasks.len()).map(of).collect::<Result<Vec<i128>, Halt>>().map(Some)
}

/// Of all jobs that are released while tasks of its priority or above are busy.
fn response(higher: &[Sporadic], own: &Sporadic, budget: &mut Budget) -> Result<i128, Halt> {
    let (wcet, period) = (i128::from(own.wcet_us), i128::from(own.period_us));
    let (mut longest, mut done) = (0, 0);
    for job in 0.. {
        done += wcet;
        loop {
            budget.spend(higher.len() + 1)?;
            let others: i128 = higher.iter().map(|task| released(task, done)).sum();
            let next = (job + 1) * wcet + others;
            if next == done {
                break;
            }
            done = next;
        }
        longest = longest.max(done - job * period);
        if done <= (job + 1) * period {
            break;
        }
    }
    Ok(longest)
}
