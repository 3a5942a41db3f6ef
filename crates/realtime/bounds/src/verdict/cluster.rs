//! Tasks that are scheduled together, judged: all of a set, or those of one cluster.

use wastenot_model::sporadic::{Criterion, Sporadic, TaskSet};

use super::ask::{Shown, shown};
use super::{Question, Reason, Spend, Test};
use crate::gedf::{self, Rta};
use crate::overheads::{Beyond, TooMuch, inflate};
use crate::{Answer, Budget, tardiness};

/// No test may spend more of what is left for all of them than one over this.
const SHARE: u64 = 64;

/// What no test says of tasks that the scheduler does not take.
const REFUSED: &str = "Linux rejects such a deadline";

/// What shows that a set is as it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// A test accepts it: no job is late.
    Test(Test),
    /// Tasks use no more than the CPUs: tardiness is bounded.
    Utilization,
}

impl Proof {
    /// The test, if it was one.
    pub fn test(self) -> Option<Test> {
        match self {
            Proof::Test(test) => Some(test),
            Proof::Utilization => None,
        }
    }
}

/// Tasks that are scheduled together, and what is known of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// As they are.
    pub tasks: TaskSet,
    /// Charged with overheads, if these count.
    pub charged: Option<Result<TaskSet, TooMuch>>,
    /// What each test says, if all were asked and something is left to ask about.
    pub answers: Vec<(Test, Answer)>,
    /// What shows that they are as they should be, or why nothing does.
    pub found: Result<Proof, Reason>,
    /// Where an overhead is needed that was not measured.
    pub beyond: Option<Beyond>,
}

impl Cluster {
    /// The tasks that tests are asked about.
    ///
    /// # Errors
    /// Overheads leave nothing.
    pub fn set(&self) -> Result<&TaskSet, &TooMuch> {
        self.charged.as_ref().map_or(Ok(&self.tasks), |charged| charged.as_ref())
    }
}

impl Spend {
    /// Lets a test spend what it may.
    fn lend<T>(&mut self, work: impl FnOnce(&mut Budget) -> T) -> T {
        match self {
            Spend::Each(budget) => work(&mut budget.clone()),
            Spend::Together(left) => left.lend(left.0 / SHARE, work),
        }
    }
}

impl Question {
    /// Judges tasks that are scheduled together. With `refused` no test is asked.
    pub(super) fn cluster(&self, tasks: TaskSet, refused: bool, left: &mut Spend) -> Cluster {
        let charge = self.overheads.as_ref();
        let charged = charge.map(|it| inflate(&tasks, self.cpus, &it.overheads, it.accounting));
        let beyond = self.beyond(&tasks);
        let mut it =
            Cluster { tasks, charged, answers: Vec::new(), found: Err(Reason::Deadline), beyond };
        if refused {
            let silent = |&test: &Test| (test, Answer::NotApplicable(REFUSED));
            it.answers = self.tests.iter().filter(|_| self.every).map(silent).collect();
            return it;
        }
        let (answers, found) = match it.set() {
            Ok(set) => self.found(set, left),
            Err(why) => (Vec::new(), Err(why.into())),
        };
        Cluster { answers, found, ..it }
    }

    fn found(
        &self,
        set: &TaskSet,
        left: &mut Spend,
    ) -> (Vec<(Test, Answer)>, Result<Proof, Reason>) {
        let is_hard = self.criterion == Criterion::Hard;
        let mut answers = Vec::new();
        if self.every && is_hard {
            answers.extend(self.tests.iter().map(|&test| (test, self.ask(test, set, left))));
        }
        let is_long = |task: &Sporadic| {
            let due_us = if is_hard { task.deadline_us } else { task.period_us };
            task.wcet_us > task.period_us.min(due_us)
        };
        let found = match tardiness::is_bounded(set, self.cpus) {
            _ if set.iter().any(is_long) => Err(Reason::Density),
            Some(false) => Err(Reason::Utilization),
            Some(true) if !is_hard => Ok(Proof::Utilization),
            None if !is_hard => Err(Reason::Budget),
            _ => {
                let known = |test| answers.iter().find(|(it, _)| *it == test).map(|it| it.1);
                let ask = |test| known(test).unwrap_or_else(|| self.ask(test, set, left));
                match shown(&self.tests, self.cpus, ask) {
                    Shown::By(test) => Ok(Proof::Test(test)),
                    Shown::Nothing => Err(Reason::Test),
                    Shown::Spent => Err(Reason::Budget),
                }
            }
        };
        (answers, found)
    }

    fn ask(&self, test: Test, set: &TaskSet, left: &mut Spend) -> Answer {
        let how = Rta { step_us: self.rta_step_us, ..Rta::default() };
        left.lend(|budget| match test {
            Test::Rta => gedf::rta(set, self.cpus, &how, budget).answer,
            test => test.ask(set, self.cpus, budget),
        })
    }
}
