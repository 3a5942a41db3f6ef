//! Response times under preemptive EDF: Guan, Yi, "General and efficient response time analysis for
//! EDF scheduling", DATE 2014.

use wastenot_model::sporadic::TaskSet;

use super::{Response, busy_period, overload, released};
use crate::demand::{demand, last_due};
use crate::number::{Budget, Halt};

/// How [`edf`] finds by how much windows are met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slack {
    /// When the last job due in a window is done.
    Exact,
    /// As if all that is due in a window could be begun at once: response times may be too long.
    Approximate,
}

/// The longest response time of each task. A job that is due at the end of a window is done as
/// early as its demand is; a window at least as long as a deadline is one of that task's.
pub fn edf(tasks: &TaskSet, slack: Slack, budget: &mut Budget) -> Response {
    Response::of(responses(tasks, slack, budget))
}

fn responses(
    tasks: &TaskSet,
    slack: Slack,
    budget: &mut Budget,
) -> Result<Option<Vec<i128>>, Halt> {
    if overload(tasks, budget)? {
        return Ok(None);
    }
    let latest = tasks.iter().map(|task| i128::from(task.deadline_us)).max().unwrap_or(0);
    let longest = busy_period(tasks, None, budget)? + latest;
    let mut responses = vec![0; tasks.len()];
    let mut least = i128::MAX;
    let mut next = last_due(tasks, longest + 1);
    while let Some(window) = next {
        budget.spend(tasks.len())?;
        let done = match slack {
            Slack::Exact => done(tasks, window, budget)?,
            Slack::Approximate => tasks.iter().map(|task| demand(task, window)).sum(),
        };
        least = least.min(window - done);
        for (response, task) in responses.iter_mut().zip(tasks.iter()) {
            if i128::from(task.deadline_us) == window {
                *response = window - least;
            }
        }
        next = last_due(tasks, window);
    }
    Ok(Some(responses))
}

/// When what is due within `window` is done, of all that is released meanwhile.
fn done(tasks: &TaskSet, window: i128, budget: &mut Budget) -> Result<i128, Halt> {
    let due = || tasks.iter().map(|task| (task, demand(task, window)));
    let mut done: i128 = due().map(|(task, due)| due.min(task.wcet_us.into())).sum();
    loop {
        budget.spend(tasks.len())?;
        let next: i128 = due().map(|(task, due)| due.min(released(task, done))).sum();
        if next == done {
            return Ok(done);
        }
        done = next;
    }
}
