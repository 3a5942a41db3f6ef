//! One task set, judged: whether deadlines hold, why not, and what would help.

mod outcome;
mod report;

use wastenot_bounds::Budget;
use wastenot_bounds::overheads::{Beyond, Overheads};
use wastenot_bounds::verdict::{Budgets, Charge, Question, Spend, Test, Verdict};
use wastenot_model::Report;
use wastenot_model::sporadic::{Criterion, TaskSet};
use wastenot_sim::edf::Missed;

use self::outcome::Outcome;
use crate::overheads::Measured;
use crate::{Error, Implementation};

/// What each test may spend: a second or two.
const TEST: Budget = Budget(40_000_000);
/// What each way to partition may spend on all clusters, and what may be spent on the response
/// times of all: some seconds.
const SEARCH: Budget = Budget(200_000_000);
/// Larger sets are not listed task by task.
const LISTED: usize = 10_000;
/// Of larger sets it is only computed whether tardiness is bounded, and not what would make them
/// schedulable: either looks at all tasks again and again.
const SEARCHED: usize = 100_000;

/// What is asked about a set.
#[derive(Clone, Copy, Debug)]
pub struct Request<'r> {
    /// CPUs of the machine.
    pub cpus: u32,
    /// The size of clusters among which tasks are partitioned.
    pub cluster: Option<u32>,
    /// How global EDF is implemented.
    pub implementation: Implementation,
    /// The tests to ask; all if there are none.
    pub tests: &'r [Test],
    /// What jobs are charged with.
    pub overheads: Option<&'r Measured>,
    /// Whether overheads count beyond their measured range.
    pub extrapolate: bool,
}

/// The answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// In words and figures.
    pub report: Report,
    /// Whether deadlines hold.
    pub verdict: Verdict<Missed>,
}

impl Request<'_> {
    /// Judges `tasks`; `name` is what they are called in the report.
    ///
    /// # Errors
    /// CPUs cannot be divided so, or the table of overheads is for something else or does not reach
    /// far enough.
    pub fn answer(&self, name: &str, tasks: &TaskSet) -> Result<Answer, Error> {
        let asked = self.asked()?;
        // All CPUs together are looked at before anything is judged: that may take long.
        if self.cluster.is_none() {
            self.is_measured(asked.beyond(tasks), String::new())?;
        }
        let outcome = Outcome::of(tasks, &asked);
        if self.cluster.is_some() {
            let beyond = outcome.judged.beyond();
            let place = beyond.map_or(String::new(), |(n, _)| format!(" in {} {n}", asked.noun()));
            self.is_measured(beyond.map(|it| it.1), place)?;
        }
        let report = match self.cluster {
            None => report::report(name, tasks, &asked, &outcome),
            Some(_) => report::clusters(name, tasks, &asked, &outcome),
        };
        Ok(Answer { report, verdict: outcome.judged.verdict })
    }

    fn is_measured(&self, beyond: Option<Beyond>, place: String) -> Result<(), Error> {
        match (self.overheads, beyond) {
            (Some(table), Some(beyond)) if !self.extrapolate => {
                Err(Error::Beyond { file: table.name.clone(), beyond, place })
            }
            _ => Ok(()),
        }
    }

    fn asked(&self) -> Result<Asked, Error> {
        let implementation = self.implementation;
        let cpus = self.cluster.unwrap_or(self.cpus);
        if !self.cpus.is_multiple_of(cpus) {
            return Err(Error::Clusters { cpus: self.cpus, size: cpus });
        }
        if cpus <= implementation.dedicated() {
            let help = match self.cluster {
                None => "use `--cpus 2` or more, or another implementation",
                Some(_) => "use `--cluster 2` or more, or another implementation",
            };
            return Err(Error::NoCpu { name: implementation.name(), help });
        }
        let table = self.overheads.map(|table| self.table(table, cpus)).transpose()?;
        let (overheads, table) = table.unzip();
        let clusters = self.cpus / cpus;
        let is_named = |test: &Test| self.tests.is_empty() || self.tests.contains(test);
        let question = Question {
            cpus: cpus - implementation.dedicated(),
            clusters,
            first_fit: true,
            overheads,
            criterion: Criterion::Hard,
            tests: Test::ALL.into_iter().filter(is_named).collect(),
            rta_step_us: 1,
            every: self.cluster.is_none(),
            takes_late_deadlines: implementation.takes_late_deadlines(),
            budgets: Budgets {
                tests: if clusters == 1 { Spend::Each(TEST) } else { Spend::Together(SEARCH) },
                witness: Some(TEST),
            },
        };
        Ok(Asked { cpus, implementation, question, table })
    }

    fn table(&self, table: &Measured, cpus: u32) -> Result<(Charge, Table), Error> {
        table.is_of(self.implementation, cpus)?;
        let charge = Charge {
            overheads: table.curves(Criterion::Hard)?.unwrap_or_default(),
            accounting: self.implementation.accounting(),
            extrapolate: self.extrapolate,
        };
        // Averages are of no use for clusters: their report has no tardiness.
        let averages = match self.cluster {
            None => table.curves(Criterion::Soft)?,
            Some(_) => None,
        };
        let (file, is_told) = (table.name.clone(), table.table.is_told());
        Ok((charge, Table { file, is_told, averages }))
    }
}

/// What is asked, ready to be answered.
#[derive(Debug)]
struct Asked {
    /// CPUs that are scheduled together, with those that run no task.
    cpus: u32,
    implementation: Implementation,
    question: Question,
    /// The table of overheads, if these count.
    table: Option<Table>,
}

/// A table of overheads.
#[derive(Debug)]
struct Table {
    file: String,
    /// Whether it states what it is for.
    is_told: bool,
    averages: Option<Overheads>,
}

impl Asked {
    /// The question whether tardiness is bounded; with `overheads` instead of the maxima.
    fn soft(&self, overheads: Option<Overheads>) -> Question {
        let mut question =
            Question { criterion: Criterion::Soft, every: false, ..self.question.clone() };
        if let (Some(overheads), Some(charge)) = (overheads, &mut question.overheads) {
            charge.overheads = overheads;
        }
        question
    }
    /// The same with averages, if there are any.
    fn on_average(&self) -> Option<Question> {
        let averages = self.table.as_ref()?.averages.clone()?;
        Some(self.soft(Some(averages)))
    }
    /// Where an overhead is needed that was not measured, if all CPUs are scheduled together.
    fn beyond(&self, tasks: &TaskSet) -> Option<Beyond> {
        self.question.beyond(tasks).or_else(|| self.on_average()?.beyond(tasks))
    }
    /// All CPUs that run tasks.
    fn cpus_for_tasks(&self) -> u32 {
        self.question.clusters * self.question.cpus
    }
    /// What a cluster is called.
    fn noun(&self) -> &'static str {
        if self.cpus == 1 { "CPU" } else { "cluster" }
    }
}
