//! The question: on which CPUs, charged with which overheads, by which tests, at what cost.

use wastenot_model::sporadic::{Criterion, TaskSet};

use super::Test;
use crate::Budget;
use crate::overheads::{Accounting, Beyond, Overheads, TooMuch, inflate};

/// What is asked of a task set.
#[derive(Clone, Debug)]
pub struct Question {
    /// CPUs that run tasks: all, or those of each cluster.
    pub cpus: u32,
    /// Clusters among which tasks are partitioned; 1 if all CPUs are scheduled together.
    pub clusters: u32,
    /// Whether first fit is tried where worst fit is not accepted.
    pub first_fit: bool,
    /// What jobs are charged with; `None`: the kernel takes nothing.
    pub overheads: Option<Charge>,
    /// What the set has to be.
    pub criterion: Criterion,
    /// Tests of deadlines, in the order in which they are asked.
    pub tests: Vec<Test>,
    /// By how much response times of RTA grow at least, in us.
    pub rta_step_us: u64,
    /// Whether all tests are asked, even if one accepts; and also without overheads, if these
    /// count.
    pub every: bool,
    /// Whether the scheduler allows deadlines beyond periods.
    pub takes_late_deadlines: bool,
    /// What the answer may cost.
    pub budgets: Budgets,
}

/// What jobs are charged with.
#[derive(Clone, Debug)]
pub struct Charge {
    /// Of as many CPUs as are scheduled together.
    pub overheads: Overheads,
    /// Which of them a job is charged with.
    pub accounting: Accounting,
    /// Whether first fit may rely on overheads beyond their measured range.
    pub extrapolate: bool,
}

/// What an answer may cost.
#[derive(Clone, Copy, Debug)]
pub struct Budgets {
    /// What tests may spend.
    pub tests: Spend,
    /// What the search for a refutation may spend; `None`: none is looked for.
    pub witness: Option<Budget>,
}

/// What tests may spend.
#[derive(Clone, Copy, Debug)]
pub enum Spend {
    /// Each of them, for each set.
    Each(Budget),
    /// All of them for all clusters, once for each way to partition that is tried.
    Together(Budget),
}

impl Question {
    /// The tasks as they are on so many CPUs once they are charged.
    ///
    /// # Errors
    /// Overheads leave nothing.
    pub(crate) fn charged(&self, tasks: &TaskSet, cpus: u32) -> Result<TaskSet, TooMuch> {
        match &self.overheads {
            None => Ok(tasks.clone()),
            Some(it) => inflate(tasks, cpus, &it.overheads, it.accounting),
        }
    }

    /// Where `tasks` need an overhead that was not measured.
    pub fn beyond(&self, tasks: &TaskSet) -> Option<Beyond> {
        let charge = self.overheads.as_ref()?;
        charge.overheads.beyond(tasks, self.cpus, charge.accounting)
    }

    /// The kinds of overheads that jobs are charged with and that were not measured: they count as
    /// 0.
    pub fn missing(&self) -> Vec<&'static str> {
        let of = |it: &Charge| it.overheads.missing(self.cpus, it.accounting);
        self.overheads.as_ref().map_or(Vec::new(), of)
    }
}
