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
    let step = how.step_us.clamp(1, TaskSet::MOST_US) as i64;
    let mut analysis = Analysis { tasks, cpus: cpus.into(), step, others: Vec::new() };
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

/// As in BCL, what jobs do in a window is no longer than that, and sums fit 64 bits.
struct Analysis<'t> {
    tasks: &'t TaskSet,
    cpus: i64,
    step: i64,
    /// Of the task that is looked at.
    others: Vec<Other>,
}

/// What all tasks looked at once gave.
struct Round {
    failed: Vec<usize>,
    changed: bool,
    response_us: Vec<u64>,
}

/// A task that may interfere with another.
struct Other {
    wcet: i64,
    period: i64,
    /// How long before a window a job may be released that still runs in it.
    reach: i64,
    /// The most that it runs until the deadline of the other.
    due: i64,
}

impl Analysis<'_> {
    fn round(&mut self, slacks: &mut [i64], budget: &mut Budget) -> Result<Round, Halt> {
        let mut round = Round { failed: Vec::new(), changed: false, response_us: Vec::new() };
        for problem in 0..self.tasks.len() {
            let Some(response) = self.response(problem, slacks, budget)? else {
                round.failed.push(problem);
                continue;
            };
            let slack = self.tasks[problem].deadline_us as i64 - response;
            round.response_us.push(response as u64);
            round.changed |= slack > slacks[problem];
            slacks[problem] = slacks[problem].max(slack);
        }
        Ok(round)
    }

    /// The response time of a task, if it is within its deadline.
    fn response(
        &mut self,
        problem: usize,
        slacks: &[i64],
        budget: &mut Budget,
    ) -> Result<Option<i64>, Halt> {
        let task = &self.tasks[problem];
        let (wcet, deadline) = (task.wcet_us as i64, task.deadline_us as i64);
        let others = self.tasks.iter().zip(slacks).enumerate().filter(|&(n, _)| n != problem);
        self.others.clear();
        self.others.extend(others.map(|(_, (other, slack))| Other::of(other, *slack, deadline)));
        // What those take together that take no more, however long the response is.
        let mut settled = 0;
        let mut response = wcet;
        while response <= deadline {
            budget.spend(self.tasks.len())?;
            let most = response - wcet + 1;
            let mut sum = settled;
            self.others.retain(|other| {
                let takes = other.runs(response, most).min(other.due);
                sum += takes;
                settled += if takes == other.due { takes } else { 0 };
                takes < other.due
            });
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

impl Other {
    fn of(task: &Sporadic, slack: i64, deadline: i64) -> Other {
        let wcet = task.wcet_us as i64;
        let reach = task.deadline_us as i64 - wcet - slack;
        let due = edf_work(task, deadline, slack);
        Other { wcet, period: task.period_us as i64, reach, due }
    }

    /// The most that its jobs run in any window of that length, but at most `most`, which is not
    /// longer than the window.
    fn runs(&self, window: i64, most: i64) -> i64 {
        if most <= self.wcet {
            return most;
        }
        let reach = window + self.reach;
        let runs = reach / self.period * self.wcet + self.wcet.min(reach % self.period);
        runs.min(most)
    }
}
