//! One CPU: exact tests and response times.

mod edf;
mod fixed_priority;
mod non_preemptive;
mod qpa;

pub use edf::{Slack, edf};
pub use fixed_priority::fixed_priority;
pub use non_preemptive::non_preemptive;
pub(crate) use qpa::meets;
pub use qpa::qpa;

use wastenot_model::sporadic::{Sporadic, TaskSet};

use crate::demand::total;
use crate::number::{Budget, Exact, Halt, Interval, Number, decide};

/// What a response-time analysis found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Response {
    /// The longest response time of each task in us, in the order of the set.
    Within(Vec<u64>),
    /// Some task's jobs wait ever longer: tasks use more than the CPU.
    Unbounded,
    /// The analysis ran out of its [`Budget`].
    Unknown,
}

impl Response {
    fn of(found: Result<Option<Vec<i128>>, Halt>) -> Response {
        match found {
            Ok(Some(all)) => Response::Within(all.into_iter().map(|it| it as u64).collect()),
            Ok(None) => Response::Unbounded,
            Err(_) => Response::Unknown,
        }
    }
    /// Whether all are within the deadlines.
    pub fn meets(&self, tasks: &TaskSet) -> bool {
        let Response::Within(all) = self else { return false };
        all.iter().zip(tasks.iter()).all(|(response_us, task)| *response_us <= task.deadline_us)
    }
}

/// What jobs of `task` need that are released within `window`: rbf(t).
fn released(task: &Sporadic, window: i128) -> i128 {
    let period = i128::from(task.period_us);
    (window + period - 1) / period * i128::from(task.wcet_us)
}

/// Whether tasks use more than a CPU in the long run.
fn overload(tasks: &[Sporadic], budget: &mut Budget) -> Result<bool, Halt> {
    fn over<N: Number>(tasks: &[Sporadic], budget: &mut Budget) -> Result<bool, Halt> {
        N::whole(1).below(&total(tasks, budget)?)
    }
    let quick = |budget: &mut Budget| over::<Interval>(tasks, budget);
    decide(budget, quick, |budget| over::<Exact>(tasks, budget))
}

/// How long one CPU is busy at most if all tasks begin at once, and do not use more than it; no
/// longer than `enough` is looked for.
fn busy_period(
    tasks: &[Sporadic],
    enough: Option<i128>,
    budget: &mut Budget,
) -> Result<i128, Halt> {
    let mut busy: i128 = tasks.iter().map(|task| i128::from(task.wcet_us)).sum();
    loop {
        budget.spend(tasks.len())?;
        let next: i128 = tasks.iter().map(|task| released(task, busy)).sum();
        if next == busy || enough.is_some_and(|enough| busy >= enough) {
            return Ok(busy);
        }
        busy = next;
    }
}
