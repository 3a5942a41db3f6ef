//! Response times under preemptive EDF: Guan, Yi, "General and efficient response time analysis for
//! EDF scheduling", DATE 2014.

use wastenot_model::sporadic::{Sporadic, TaskSet};

use super::{Response, busy_period, overload, released};
use crate::demand::{demand, due_from};
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
    if overload(tasks)? {
        return Ok(None);
    }
    let latest = tasks.iter().map(|task| i128::from(task.deadline_us)).max().unwrap_or(0);
    let longest = busy_period(tasks, None, budget)? + latest;
    let mut windows: Vec<i128> = Vec::new();
    for task in tasks.iter() {
        for due in due_from(task, 0).take_while(|&due| due <= longest) {
            budget.spend(1)?;
            windows.push(due);
        }
    }
    windows.sort_unstable();
    windows.dedup();
    // From the longest window to the shortest: (window, least slack of those at least as long).
    let mut least = Vec::with_capacity(windows.len());
    let mut so_far = i128::MAX;
    for &window in windows.iter().rev() {
        let done = match slack {
            Slack::Exact => done(tasks, window, budget)?,
            Slack::Approximate => tasks.iter().map(|task| demand(task, window)).sum(),
        };
        so_far = so_far.min(window - done);
        least.push((window, so_far));
    }
    let of = |task: &Sporadic| {
        let deadline = i128::from(task.deadline_us);
        // Its own first deadline is one of the windows.
        let at = least.partition_point(|&(window, _)| window >= deadline);
        deadline - least[at - 1].1
    };
    Ok(Some(tasks.iter().map(of).collect()))
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
