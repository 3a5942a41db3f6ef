//! What is computed for a task set, with overheads and without.

use wastenot_bounds::gedf::{self, Rta};
use wastenot_bounds::overheads::TooMuch;
use wastenot_bounds::single::{self, Response, Slack};
use wastenot_bounds::tardiness::{self, Point, Tardiness};
use wastenot_bounds::verdict::{Cluster, Enough, Judgement, Scale, Verdict, Witness};
use wastenot_bounds::{Answer, Budget, partitioned};
use wastenot_model::sporadic::{Sporadic, TaskSet};
use wastenot_sim::edf::{Missed, Tried, falsify};

use super::{Asked, LISTED, SEARCH, SEARCHED, TEST};

/// What each half of the search for what would be schedulable may spend.
const FIT: Budget = Budget(40_000_000);
/// Jobs that are simulated in order to find one that is late.
const JOBS: u64 = 2_000_000;

/// Everything that was found.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) judged: Judgement<Missed>,
    /// What was simulated, if it came to that.
    pub(super) tried: Option<Tried>,
    /// On which CPUs a test accepts.
    pub(super) enough: Option<Enough>,
    /// With how much work.
    pub(super) scale: Option<Scale>,
    /// How late jobs may be.
    pub(super) soft: Option<Soft>,
    /// The longest response time of each task, where it is known.
    pub(super) responses_us: Vec<Option<u64>>,
    /// The CPU of each task under partitioned EDF.
    pub(super) cpu_of: Vec<u32>,
    /// The longest response time of each task on one CPU under fixed priorities, the first task
    /// having the highest; without overheads, which would be others.
    pub(super) fixed_us: Option<Vec<u64>>,
    /// The same under non-preemptive EDF.
    pub(super) unpreempted_us: Option<Vec<u64>>,
}

/// How late jobs may be where deadlines need not all be met.
#[derive(Debug)]
pub(super) struct Soft {
    /// Whether there is a bound at all, with overheads at their maxima; `None`: too close to tell.
    pub(super) bounded: Option<bool>,
    /// The same with averages, which is no guarantee.
    pub(super) bounded_on_average: Option<bool>,
    /// Of each task, the lower of both bounds of global EDF, in us.
    pub(super) gedf_us: Option<Vec<u64>>,
    /// The same under fair lateness.
    pub(super) gfl_us: Option<Vec<u64>>,
}

impl Outcome {
    pub(super) fn of(tasks: &TaskSet, asked: &Asked) -> Outcome {
        let mut tried = None;
        let judged = asked.question.judge(tasks, || {
            let found = falsify(tasks, asked.question.cpus, JOBS);
            tried.insert(found).missed.clone()
        });
        let mut outcome = Outcome {
            judged,
            tried,
            enough: None,
            scale: None,
            soft: None,
            responses_us: Vec::new(),
            cpu_of: Vec::new(),
            fixed_us: None,
            unpreempted_us: None,
        };
        let is_refused = outcome.judged.refused.is_some();
        if !asked.question.every {
            // Where clusters are asked about, each is shown with what is known of it.
            let mut left = SEARCH;
            let of = |it: &Cluster| it.found.ok().and_then(|_| asked.responses(it, &mut left));
            outcome.responses_us = outcome.judged.by_task(of);
        } else if !is_refused {
            outcome.soft = Some(Soft::of(tasks, asked));
            outcome.fit(tasks, asked);
            outcome.detail(tasks, asked);
        }
        outcome
    }

    /// The judgement without overheads.
    pub(super) fn plain(&self) -> &Judgement<Missed> {
        self.judged.plain.as_deref().unwrap_or(&self.judged)
    }

    /// Whether a job is late even on a CPU of its own.
    pub(super) fn is_alone(&self) -> bool {
        matches!(self.plain().verdict, Verdict::Unschedulable(Witness::Alone(_)))
    }

    fn fit(&mut self, tasks: &TaskSet, asked: &Asked) {
        if tasks.len() > SEARCHED {
            return;
        }
        let (question, cpus) = (&asked.question, asked.question.cpus);
        if !self.is_alone() && !self.judged.verdict.is_schedulable() {
            let most = (tasks.len() as u32).max(cpus + 16);
            self.enough = question.least_cpus(tasks, cpus + 1, most, &mut FIT.clone());
        }
        let most = |task: &Sporadic| task.deadline_us.min(task.period_us) * 1_000 / task.wcet_us;
        let most = tasks.iter().map(most).min().unwrap_or(0).min(1_000_000);
        self.scale = question.most_work(tasks, most, &mut FIT.clone());
    }

    /// What is shown of each task.
    fn detail(&mut self, tasks: &TaskSet, asked: &Asked) {
        let cluster = &self.judged.clusters[0];
        let Ok(charged) = cluster.set() else { return };
        if tasks.len() > LISTED {
            return;
        }
        let cpus = asked.question.cpus;
        if cpus == 1 && cluster.charged.is_none() {
            self.fixed_us = within(single::fixed_priority(tasks, &mut TEST.clone()));
            self.unpreempted_us = within(single::non_preemptive(tasks, &mut TEST.clone()));
        }
        self.cpu_of = partitioned::first_fit(charged, cpus, &mut TEST.clone()).cpu_of;
        let responses = asked.responses(cluster, &mut Budget(2 * TEST.0)).unwrap_or_default();
        self.responses_us = responses.into_iter().map(Some).collect();
    }
}

impl Asked {
    /// The longest response times of the tasks of a cluster, if there are bounds.
    fn responses(&self, cluster: &Cluster, left: &mut Budget) -> Option<Vec<u64>> {
        let (cpus, charged) = (self.question.cpus, cluster.set().ok()?);
        let how = Rta { fixpoint: true, ..Rta::default() };
        let exact = (cpus == 1)
            .then(|| left.lend(TEST.0, |own| single::edf(charged, Slack::Exact, own)))
            .and_then(within);
        let bound = || {
            let rta = left.lend(TEST.0, |own| gedf::rta(charged, cpus, &how, own));
            (rta.answer == Answer::Accept).then_some(rta.response_us)
        };
        exact.or_else(bound).map(|all| since_release(&all, charged, &cluster.tasks))
    }
}

fn within(response: Response) -> Option<Vec<u64>> {
    match response {
        Response::Within(all) => Some(all),
        Response::Unbounded | Response::Unknown => None,
    }
}

/// Response times of tasks whose releases may be late, since they were due.
fn since_release(all: &[u64], charged: &TaskSet, tasks: &TaskSet) -> Vec<u64> {
    let late = charged.iter().zip(tasks.iter()).map(|(it, task)| task.deadline_us - it.deadline_us);
    all.iter().zip(late).map(|(response, late)| response + late).collect()
}

impl Soft {
    fn of(tasks: &TaskSet, asked: &Asked) -> Soft {
        let cpus = asked.question.cpus;
        let judged = asked.soft(None).judge(tasks, || None::<()>);
        let on_average = asked.on_average().map(|question| question.judge(tasks, || None::<()>));
        let mut soft = Soft {
            bounded: judged.is_bounded(),
            bounded_on_average: on_average.and_then(|judged| judged.is_bounded()),
            gedf_us: None,
            gfl_us: None,
        };
        let charged: Result<&TaskSet, &TooMuch> = judged.clusters[0].set();
        let Some(charged) = charged.ok().filter(|tasks| tasks.len() <= SEARCHED) else {
            return soft;
        };
        let late = |bound: Tardiness| match bound {
            Tardiness::Responses(all) => {
                let late = all.iter().zip(charged.iter());
                let late = late.map(|(response, task)| response.saturating_sub(task.deadline_us));
                Some(late.collect::<Vec<u64>>())
            }
            Tardiness::Unbounded | Tardiness::NotApplicable(_) => None,
        };
        let devi = late(tardiness::devi_anderson(charged, cpus));
        let compliant = late(tardiness::compliant(charged, cpus, Point::Deadline));
        soft.gedf_us = match (devi, compliant) {
            (Some(a), Some(b)) => Some(a.into_iter().zip(b).map(|(a, b)| a.min(b)).collect()),
            (a, b) => a.or(b),
        };
        soft.gfl_us = late(tardiness::compliant(charged, cpus, Point::FairLateness));
        soft
    }
}
