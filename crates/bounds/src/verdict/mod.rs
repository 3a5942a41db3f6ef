//! What all tests together say of a task set under global EDF, and what would make it fit.
//!
//! A sufficient test that rejects says nothing: only a [`Witness`] makes a set unschedulable.

mod fit;
mod test;
mod witness;

pub use fit::{Enough, Scale, least_cpus, most_work};
pub use test::Test;
pub use witness::{Alone, Witness, utilization};

use wastenot_model::sporadic::TaskSet;

use crate::Answer;
use crate::number::Budget;

/// Whether deadlines hold under global EDF.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict<M> {
    /// Yes, whatever the tie rule, whenever jobs come: by this test.
    Schedulable(Test),
    /// No.
    Unschedulable(Witness<M>),
    /// Nobody knows.
    Unknown,
}

impl<M> Verdict<M> {
    /// In JSON.
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::Schedulable(_) => "schedulable",
            Verdict::Unschedulable(_) => "unschedulable",
            Verdict::Unknown => "unknown",
        }
    }
}

/// What was asked, and found.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement<M> {
    /// The verdict.
    pub verdict: Verdict<M>,
    /// What each test says that was asked.
    pub answers: Vec<(Test, Answer)>,
}

impl<M> Judgement<M> {
    /// What `test` says, if it was asked.
    pub fn answer(&self, test: Test) -> Option<Answer> {
        self.answers.iter().find(|(it, _)| *it == test).map(|(_, answer)| *answer)
    }
}

/// Asks all of `tests`, each with `budget`. Where none accepts, a reason is looked for why the set
/// cannot be scheduled, at last by `simulate`, which may find a miss.
pub fn judge<M>(
    tasks: &TaskSet,
    cpus: u32,
    tests: &[Test],
    budget: Budget,
    simulate: impl FnOnce() -> Option<M>,
) -> Judgement<M> {
    let ask = |&test: &Test| (test, test.ask(tasks, cpus, &mut budget.clone()));
    let answers: Vec<(Test, Answer)> = tests.iter().map(ask).collect();
    let accepts =
        |(test, answer): &&(Test, Answer)| *answer == Answer::Accept && test.is_of_global_edf();
    let verdict = match answers.iter().find(accepts) {
        Some((test, _)) => Verdict::Schedulable(*test),
        None => {
            let impossible = witness::impossible(tasks, cpus, &mut budget.clone());
            let witness = impossible.or_else(|| simulate().map(Witness::Missed));
            witness.map_or(Verdict::Unknown, Verdict::Unschedulable)
        }
    };
    Judgement { verdict, answers }
}

/// What tests show of a set, where one is enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// No job is late, by this test.
    By(Test),
    /// No test accepts.
    Nothing,
    /// None does, and one was out of its budget.
    Spent,
}

/// Asks those of `tests` that are of global EDF until one accepts. Of what is left each may spend
/// one over `share`: no test takes all from those after it.
pub fn shown(tasks: &TaskSet, cpus: u32, tests: &[Test], budget: &mut Budget, share: u64) -> Shown {
    let mut shown = Shown::Nothing;
    for &test in tests.iter().filter(|test| test.is_of_global_edf()) {
        match budget.lend(budget.0 / share, |own| test.ask(tasks, cpus, own)) {
            Answer::Accept => return Shown::By(test),
            Answer::Unknown => shown = Shown::Spent,
            Answer::Reject | Answer::NotApplicable(_) => {}
        }
    }
    shown
}
