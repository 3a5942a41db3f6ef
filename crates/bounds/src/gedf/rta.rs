//! RTA: Bertogna, Cirinei, "Response-time analysis for globally scheduled symmetric multiprocessor
//! platforms", RTSS 2007.

use wastenot_model::sporadic::{Sporadic, TaskSet};

use super::bcl::edf_work;
use super::too_long;
use crate::number::{Budget, Halt};
use crate::{ARBITRARY, Answer};

/// How [`rta`] goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rta {
    /// A response time that is not yet found grows by at least this, in us: 1 is the analysis
    /// itself, more is faster and may reject more.
    pub step_us: u64,
    /// Whether to go on after the first round in which all tasks pass, until nothing changes: the
    /// verdict is the same, response times may be shorter.
    pub fixpoint: bool,
}

impl Default for Rta {
    fn default() -> Rta {
        Rta { step_us: 1, fixpoint: false }
    }
}

/// What [`rta`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Responses {
    /// Whether all tasks complete in time.
    pub answer: Answer,
    /// Of an accepted set, the longest response time of each task in us; else empty.
    pub response_us: Vec<u64>,
    /// Of a rejected set, the tasks of which it cannot show that they complete in time.
    pub failed: Vec<usize>,
}

/// Bounds response times in rounds. Tasks are looked at in order, each with the slacks known so
/// far.
pub fn rta(tasks: &TaskSet, cpus: u32, how: &Rta, budget: &mut Budget) -> Responses {
    let failing = |answer, failed| Responses { answer, response_us: Vec::new(), failed };
    let no = |answer| failing(answer, Vec::new());
    if !tasks.is_constrained() {
        return no(Answer::NotApplicable(ARBITRARY));
    }
    if tasks.iter().any(too_long) {
        let long = (0..tasks.len()).filter(|&n| too_long(&tasks[n]));
        return failing(Answer::Reject, long.collect());
    }
    let analysis = Analysis { tasks, cpus: cpus.into(), step: how.step_us.max(1).into() };
    let mut slacks = vec![0; tasks.len()];
    loop {
        match analysis.round(&mut slacks, budget) {
            Err(_) => return no(Answer::Unknown),
            Ok(Round { failed, changed: false, .. }) if !failed.is_empty() => {
                return failing(Answer::Reject, failed);
            }
            Ok(Round { failed, changed, response_us })
                if failed.is_empty() && !(how.fixpoint && changed) =>
            {
                return Responses { answer: Answer::Accept, response_us, failed };
            }
            Ok(_) => {}
        }
    }
}

struct Analysis<'t> {
    tasks: &'t TaskSet,
    cpus: i128,
    step: i128,
}

/// What all tasks looked at once gave.
struct Round {
    failed: Vec<usize>,
    changed: bool,
    response_us: Vec<u64>,
}

impl Analysis<'_> {
    fn round(&self, slacks: &mut [i128], budget: &mut Budget) -> Result<Round, Halt> {
        let mut round = Round { failed: Vec::new(), changed: false, response_us: Vec::new() };
        for problem in 0..self.tasks.len() {
            let Some(response) = self.response(problem, slacks, budget)? else {
                round.failed.push(problem);
                continue;
            };
            let slack = i128::from(self.tasks[problem].deadline_us) - response;
            round.response_us.push(response as u64);
            round.changed |= slack > slacks[problem];
            slacks[problem] = slacks[problem].max(slack);
        }
        Ok(round)
    }

    /// The response time of a task, if it is within its deadline.
    fn response(
        &self,
        problem: usize,
        slacks: &[i128],
        budget: &mut Budget,
    ) -> Result<Option<i128>, Halt> {
        let task = &self.tasks[problem];
        let (wcet, deadline) = (i128::from(task.wcet_us), i128::from(task.deadline_us));
        let due: Vec<i128> = (self.tasks.iter().zip(slacks))
            .map(|(other, slack)| edf_work(other, deadline, *slack))
            .collect();
        let mut response = wcet;
        while response <= deadline {
            budget.spend(self.tasks.len())?;
            let others = self.tasks.iter().zip(slacks).zip(&due).enumerate();
            let sum: i128 = others
                .filter(|&(n, _)| n != problem)
                .map(|(_, ((other, slack), due))| {
                    work(other, response, *slack).min(*due).min(response - wcet + 1)
                })
                .sum();
            let next = wcet + sum / self.cpus;
            if next <= response {
                return Ok(Some(response));
            }
            // Who may not step over the deadline is looked at there.
            let least = (response + self.step).min(deadline.max(response + 1));
            response = next.max(least);
        }
        Ok(None)
    }
}

/// The most that jobs of `task` run in any window, if each is done `slack` before its deadline.
fn work(task: &Sporadic, window: i128, slack: i128) -> i128 {
    let (wcet, period) = (i128::from(task.wcet_us), i128::from(task.period_us));
    let reach = window + i128::from(task.deadline_us) - wcet - slack;
    (reach / period) * wcet + wcet.min(reach % period)
}
