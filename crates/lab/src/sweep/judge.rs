//! What one curve says of one set.

use wastenot_bounds::overheads::{Implementation as Accounting, Overheads, TooMuch, inflate};
use wastenot_bounds::verdict::Test;
use wastenot_bounds::{Answer, Budget, gedf, tardiness};
use wastenot_model::sporadic::TaskSet;
use wastenot_scenario::sweep::{Criterion, Names, Scheduler, Tests};

use crate::Implementation;

/// What can be asked and who can pay, by the names that a sweep has for them.
pub const NAMES: Names = Names {
    tests: &[
        Test::Gfb.key(),
        Test::Qpa.key(),
        Test::Bcl.key(),
        Test::Bcli.key(),
        Test::Bak.key(),
        Test::Rta.key(),
        Test::FfDbf.key(),
        Test::Load.key(),
        Test::Bar.key(),
    ],
    implementations: &[
        of(Implementation::GsnEdf),
        of(Implementation::GsnEdfDedicated),
        of(Implementation::SchedDeadline),
        of(Implementation::SchedDeadlineV8),
        of(Implementation::SchedDeadlineDedicated),
        of(Implementation::GedfMp),
    ],
};

const fn of(implementation: Implementation) -> Scheduler {
    Scheduler {
        name: implementation.name(),
        takes: implementation.dedicated(),
        takes_late_deadlines: implementation.takes_late_deadlines(),
    }
}

/// What is said of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is what the criterion asks for.
    Accepted,
    /// No test accepts, and one was out of its budget.
    Unknown,
    /// Interrupts alone take all of a CPU.
    Interrupts,
    /// A release may be late by more than a period or deadline.
    Latency,
    /// A job does not get done in time even alone.
    Density,
    /// Tasks use more than the CPUs.
    Over,
    /// No test accepts.
    Tests,
}

impl Verdict {
    /// All.
    pub const ALL: [Verdict; 7] = [
        Verdict::Accepted,
        Verdict::Unknown,
        Verdict::Interrupts,
        Verdict::Latency,
        Verdict::Density,
        Verdict::Over,
        Verdict::Tests,
    ];

    /// In a row.
    pub fn letter(self) -> char {
        match self {
            Verdict::Accepted => 'A',
            Verdict::Unknown => '?',
            Verdict::Interrupts => 'I',
            Verdict::Latency => 'L',
            Verdict::Density => 'D',
            Verdict::Over => 'U',
            Verdict::Tests => 'T',
        }
    }
}

/// A curve that can be asked.
#[derive(Clone, Debug)]
pub(super) struct Judge {
    /// CPUs that run no task; of each cluster, if there are any.
    pub(super) spare: u32,
    /// The size of clusters among which sets are divided.
    pub(super) cluster: Option<u32>,
    pub(super) criterion: Criterion,
    pub(super) costs: Option<(Accounting, Overheads)>,
}

impl Judge {
    /// Who pays for these overheads, with the table's cache delay times so many thousandths. `None`
    /// if nobody is called `name`.
    pub(super) fn costs(
        name: &str,
        overheads: Overheads,
        cache_delay: u32,
    ) -> Option<(Accounting, Overheads)> {
        let cache_delay = overheads.cache_delay.scaled(cache_delay);
        let implementation: Implementation = name.parse().ok()?;
        Some((implementation.accounting(), Overheads { cache_delay, ..overheads }))
    }

    /// The kinds of overheads that tasks pay for and that were not measured.
    pub(super) fn missing(&self, cpus: u32) -> Vec<&'static str> {
        let cpus = self.cluster.unwrap_or(cpus) - self.spare;
        self.costs.as_ref().map_or(Vec::new(), |(who, overheads)| overheads.missing(cpus, *who))
    }

    /// The sets that are judged for themselves, each with the CPUs that run it: those of clusters,
    /// or all tasks together.
    fn parts(&self, tasks: &TaskSet, cpus: u32) -> Vec<(TaskSet, u32)> {
        let Some(size) = self.cluster else { return vec![(tasks.clone(), cpus - self.spare)] };
        let own = vec![size - self.spare; (cpus / size) as usize];
        tasks.divided(&tasks.worst_fit(&own), own.len()).into_iter().zip(own).collect()
    }

    /// What it says of `tasks` on `cpus` CPUs, and whether overheads are asked for beyond where
    /// they were measured. Of clusters it is what it says of the first that is not accepted.
    pub(super) fn judge(&self, tasks: &TaskSet, cpus: u32, tests: &Tests) -> (Verdict, bool) {
        let parts = self.parts(tasks, cpus);
        let is_beyond = self.costs.as_ref().is_some_and(|(who, overheads)| {
            parts.iter().any(|(tasks, cpus)| overheads.beyond(tasks, *cpus, *who).is_some())
        });
        let mut verdicts = parts.iter().map(|(tasks, cpus)| self.together(tasks, *cpus, tests));
        let rejected = verdicts.find(|verdict| *verdict != Verdict::Accepted);
        (rejected.unwrap_or(Verdict::Accepted), is_beyond)
    }

    fn together(&self, tasks: &TaskSet, cpus: u32, tests: &Tests) -> Verdict {
        let Some((implementation, overheads)) = &self.costs else {
            return self.ask(tasks, cpus, tests);
        };
        match inflate(tasks, cpus, overheads, *implementation) {
            Ok(inflated) => self.ask(&inflated, cpus, tests),
            Err(TooMuch::Latency { .. }) => Verdict::Latency,
            Err(TooMuch::Long { .. }) => Verdict::Density,
            Err(TooMuch::Close) => Verdict::Unknown,
            Err(_) => Verdict::Interrupts,
        }
    }

    fn ask(&self, tasks: &TaskSet, cpus: u32, tests: &Tests) -> Verdict {
        let soft = self.criterion == Criterion::Soft;
        let is_long = tasks.iter().any(|task| {
            let most = if soft { task.period_us } else { task.period_us.min(task.deadline_us) };
            task.wcet_us > most
        });
        match tardiness::is_bounded(tasks, cpus) {
            _ if is_long => Verdict::Density,
            Some(false) => Verdict::Over,
            None if soft => Verdict::Unknown,
            Some(true) if soft => Verdict::Accepted,
            _ => accepted(tasks, cpus, tests),
        }
    }
}

/// Asks tests until one accepts.
fn accepted(tasks: &TaskSet, cpus: u32, tests: &Tests) -> Verdict {
    let mut verdict = Verdict::Tests;
    let asked =
        tests.hard.iter().filter_map(|key| Test::ALL.iter().find(|test| test.key() == *key));
    for &test in asked {
        let budget = &mut Budget(tests.budget);
        let answer = match test {
            Test::Rta => {
                let how = gedf::Rta { step_us: tests.rta_step_us, ..gedf::Rta::default() };
                gedf::rta(tasks, cpus, &how, budget).answer
            }
            test => test.ask(tasks, cpus, budget),
        };
        match answer {
            Answer::Accept => return Verdict::Accepted,
            Answer::Unknown => verdict = Verdict::Unknown,
            Answer::Reject | Answer::NotApplicable(_) => {}
        }
    }
    verdict
}
