//! What is worked out of a task set, with overheads and without.

use wastenot_bounds::gedf::{self, Rta};
use wastenot_bounds::overheads::{Beyond, Overheads, TooMuch, inflate};
use wastenot_bounds::single::{self, Response, Slack};
use wastenot_bounds::tardiness::{self, Point, Tardiness};
use wastenot_bounds::verdict::{
    Enough, Judgement, Scale, Test, Verdict, Witness, judge, least_cpus, most_work,
};
use wastenot_bounds::{Answer, Budget, partitioned};
use wastenot_lab::Implementation;
use wastenot_model::CpuId;
use wastenot_model::sporadic::{Sporadic, TaskSet};
use wastenot_scenario::sweep::Criterion;
use wastenot_sim::edf::{Missed, Tried, falsify};

use super::overheads::Measured;
use crate::args::bounds::Test as Args;
use crate::fail::Stop;

/// What each test may spend: a second or two.
pub(super) const TEST: Budget = Budget(40_000_000);
/// What the search for what would fit may spend, each half of it.
const FIT: Budget = Budget(40_000_000);
/// Jobs that are simulated in order to find one that is late.
pub(super) const JOBS: u64 = 2_000_000;
/// Of more tasks each is not told of.
pub(super) const TOLD: usize = 10_000;

/// Of more tasks it is only told whether lateness is bounded, not by how much, and nothing of what
/// would fit: either looks at all of them again and again.
pub(super) const SEARCHED: usize = 100_000;

/// Why no test is about tasks that an implementation does not take.
const REFUSED: &str = "Linux rejects such a deadline";

/// What was asked.
pub(super) struct Asked {
    pub(super) cpus: u32,
    pub(super) implementation: Implementation,
    pub(super) tests: Vec<Test>,
    pub(super) overheads: Option<Counted>,
}

/// Overheads that count.
pub(super) struct Counted {
    pub(super) file: String,
    /// Whether they say whose they are.
    pub(super) is_told: bool,
    pub(super) maxima: Overheads,
    pub(super) averages: Option<Overheads>,
}

impl Asked {
    /// Of a machine, or a cluster, of so many CPUs.
    pub(super) fn of(args: &Args, cpus: u32, measured: Option<&Measured>) -> Result<Asked, Stop> {
        let named: Vec<Test> = args.tests.iter().map(|name| name.0).collect();
        let is_asked = |test: &Test| named.is_empty() || named.contains(test);
        let overheads = match measured {
            None => None,
            Some(it) => {
                it.is_of(args.implementation.name(), cpus)?;
                let maxima = it.curves(Criterion::Hard)?.unwrap_or_default();
                // Of clusters nothing is told of averages.
                let averages = match args.cluster {
                    None => it.curves(Criterion::Soft)?,
                    Some(_) => None,
                };
                let (file, is_told) = (it.name.clone(), it.table.is_told());
                Some(Counted { file, is_told, maxima, averages })
            }
        };
        Ok(Asked {
            cpus,
            implementation: args.implementation,
            tests: Test::ALL.into_iter().filter(is_asked).collect(),
            overheads,
        })
    }
    /// The CPUs that run tasks.
    pub(super) fn for_tasks(&self) -> u32 {
        self.cpus - self.implementation.dedicated()
    }
    /// Where an overhead is asked for that was not measured.
    pub(super) fn beyond(&self, tasks: &TaskSet) -> Option<Beyond> {
        let (cpus, who) = (self.for_tasks(), self.implementation.accounting());
        let counted = self.overheads.as_ref()?;
        let of = |overheads: &Overheads| overheads.beyond(tasks, cpus, who);
        of(&counted.maxima).or_else(|| of(counted.averages.as_ref()?))
    }
    /// The kinds that count as 0, of overheads that are there.
    pub(super) fn missing(&self, overheads: &Overheads) -> Vec<&'static str> {
        overheads.missing(self.for_tasks(), self.implementation.accounting())
    }
    /// The tasks as they are on so many CPUs once overheads are theirs.
    pub(super) fn counted(&self, tasks: &TaskSet, cpus: u32) -> Result<TaskSet, TooMuch> {
        match &self.overheads {
            None => Ok(tasks.clone()),
            Some(it) => self.inflated(tasks, cpus, &it.maxima),
        }
    }
    /// Of tasks that the implementation does not take: no test is about them, and only what refutes
    /// every scheduler refutes it.
    fn unanswered(&self, tasks: &TaskSet) -> Judgement<Missed> {
        let judged = judge(tasks, self.for_tasks(), &[], TEST, || None);
        let silent = |&test: &Test| (test, Answer::NotApplicable(REFUSED));
        Judgement { answers: self.tests.iter().map(silent).collect(), ..judged }
    }
    fn inflated(
        &self,
        tasks: &TaskSet,
        cpus: u32,
        overheads: &Overheads,
    ) -> Result<TaskSet, TooMuch> {
        inflate(tasks, cpus, overheads, self.implementation.accounting())
    }
}

/// Everything that was found.
pub(super) struct Outcome {
    /// The first task that the implementation does not take, counted from 0: then nothing is said
    /// but what refutes every scheduler.
    pub(super) refused: Option<usize>,
    /// Of the tasks as they are.
    pub(super) plain: Judgement<Missed>,
    /// What was simulated, if it came to that.
    pub(super) tried: Option<Tried>,
    /// Of the tasks that pay for overheads, if there are any.
    pub(super) counted: Option<Result<Counts, TooMuch>>,
    /// With which CPUs it would be accepted.
    pub(super) enough: Option<Enough>,
    /// With how much work.
    pub(super) scale: Option<Scale>,
    /// How late jobs may be.
    pub(super) soft: Option<Soft>,
    /// The longest response time of each task, of a set that is schedulable.
    pub(super) responses_us: Option<Vec<u64>>,
    /// The CPU of each task under partitioned EDF.
    pub(super) cpu_of: Vec<u32>,
    /// The longest response time of each task on one CPU under fixed priorities, the first task
    /// going first; without overheads, which would be others.
    pub(super) fixed_us: Option<Vec<u64>>,
    /// The same under EDF that finishes each job that it began.
    pub(super) unpreempted_us: Option<Vec<u64>>,
}

/// Tasks that pay for overheads.
pub(super) struct Counts {
    pub(super) tasks: TaskSet,
    pub(super) judgement: Judgement<Missed>,
}

/// How late jobs may be where deadlines need not all be met.
pub(super) struct Soft {
    /// Whether there is a bound at all, with overheads at their maxima; `None` if that is too close
    /// to be told.
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
        let cpus = asked.for_tasks();
        let refused = asked.implementation.refused(tasks);
        let mut tried = None;
        let plain = match refused {
            Some(_) => asked.unanswered(tasks),
            None => judge(tasks, cpus, &asked.tests, TEST, || {
                let found = falsify(tasks, cpus, JOBS);
                tried.insert(found).missed.clone()
            }),
        };
        let counted = asked.overheads.as_ref().map(|_| {
            let tasks = asked.counted(tasks, cpus)?;
            let judgement = match refused {
                Some(_) => asked.unanswered(&tasks),
                // What a pessimistic account misses proves nothing: no need to simulate it.
                None => judge(&tasks, cpus, &asked.tests, TEST, || None),
            };
            Ok(Counts { tasks, judgement })
        });
        let mut outcome = Outcome {
            refused,
            plain,
            tried,
            counted,
            enough: None,
            scale: None,
            soft: None,
            responses_us: None,
            cpu_of: Vec::new(),
            fixed_us: None,
            unpreempted_us: None,
        };
        if refused.is_none() {
            outcome.soft = Some(Soft::of(tasks, asked));
            outcome.fit(tasks, asked);
            outcome.detail(tasks, cpus);
        }
        outcome
    }

    /// With overheads, where there are any.
    pub(super) fn verdict(&self) -> Verdict<Missed> {
        match (&self.counted, &self.plain.verdict) {
            (None, verdict) => verdict.clone(),
            (Some(Ok(Counts { judgement, .. })), _)
                if matches!(judgement.verdict, Verdict::Schedulable(_)) =>
            {
                judgement.verdict.clone()
            }
            // What misses at no price does at any.
            (Some(_), Verdict::Unschedulable(witness)) => Verdict::Unschedulable(witness.clone()),
            (Some(_), _) => Verdict::Unknown,
        }
    }

    /// The judgement that counts, unless overheads leave nothing to judge.
    pub(super) fn judgement(&self) -> Option<&Judgement<Missed>> {
        match &self.counted {
            None => Some(&self.plain),
            Some(Ok(counts)) => Some(&counts.judgement),
            Some(Err(_)) => None,
        }
    }

    fn fit(&mut self, tasks: &TaskSet, asked: &Asked) {
        if tasks.len() > SEARCHED {
            return;
        }
        let cpus = asked.for_tasks();
        let alone = matches!(self.plain.verdict, Verdict::Unschedulable(Witness::Alone(_)));
        if !alone && !matches!(self.verdict(), Verdict::Schedulable(_)) {
            let most = (tasks.len() as u32).max(cpus + 16).min(CpuId::LIMIT as u32);
            let on = |cpus| asked.counted(tasks, cpus).ok();
            self.enough = least_cpus(cpus + 1, most, &asked.tests, &mut FIT.clone(), on);
        }
        let most = |task: &Sporadic| task.deadline_us.min(task.period_us) * 1_000 / task.wcet_us;
        let most = tasks.iter().map(most).min().unwrap_or(0).min(1_000_000);
        let with = |per_mille| asked.counted(&scaled(tasks, per_mille)?, cpus).ok();
        self.scale = most_work(cpus, most, &asked.tests, &mut FIT.clone(), with);
    }

    /// What is told of each task.
    fn detail(&mut self, tasks: &TaskSet, cpus: u32) {
        if tasks.len() > TOLD {
            return;
        }
        let counted = match &self.counted {
            Some(Ok(counts)) => &counts.tasks,
            None => tasks,
            Some(Err(_)) => return,
        };
        if cpus == 1 && self.counted.is_none() {
            self.fixed_us = within(single::fixed_priority(tasks, &mut TEST.clone()));
            self.unpreempted_us = within(single::non_preemptive(tasks, &mut TEST.clone()));
        }
        let partition = partitioned::first_fit(counted, cpus, &mut TEST.clone());
        let left = &mut Budget(2 * TEST.0);
        self.responses_us = responses(tasks, counted, cpus, left);
        self.cpu_of = partition.cpu_of;
    }
}

/// The longest response times of tasks, which are `counted` once they pay for overheads.
pub(super) fn responses(
    tasks: &TaskSet,
    counted: &TaskSet,
    cpus: u32,
    left: &mut Budget,
) -> Option<Vec<u64>> {
    let how = Rta { fixpoint: true, ..Rta::default() };
    let exact = (cpus == 1)
        .then(|| left.lend(TEST.0, |own| single::edf(counted, Slack::Exact, own)))
        .and_then(within);
    let bound = || {
        let rta = left.lend(TEST.0, |own| gedf::rta(counted, cpus, &how, own));
        (rta.answer == Answer::Accept).then_some(rta.response_us)
    };
    exact.or_else(bound).map(|all| since_release(&all, counted, tasks))
}

fn within(response: Response) -> Option<Vec<u64>> {
    match response {
        Response::Within(all) => Some(all),
        Response::Unbounded | Response::Unknown => None,
    }
}

/// Response times of tasks whose releases may be late, since they were due.
fn since_release(all: &[u64], counted: &TaskSet, tasks: &TaskSet) -> Vec<u64> {
    let late = counted.iter().zip(tasks.iter()).map(|(it, task)| task.deadline_us - it.deadline_us);
    all.iter().zip(late).map(|(response, late)| response + late).collect()
}

/// Every C times this, in thousandths, rounded up.
fn scaled(tasks: &TaskSet, per_mille: u64) -> Option<TaskSet> {
    let wcet = |wcet_us: u64| (u128::from(wcet_us) * u128::from(per_mille)).div_ceil(1_000);
    let task = |task: &Sporadic| {
        Some(Sporadic { wcet_us: u64::try_from(wcet(task.wcet_us)).ok()?, ..*task })
    };
    TaskSet::new(tasks.iter().map(task).collect::<Option<_>>()?).ok()
}

impl Soft {
    fn of(tasks: &TaskSet, asked: &Asked) -> Soft {
        let cpus = asked.for_tasks();
        let none = Soft { bounded: None, bounded_on_average: None, gedf_us: None, gfl_us: None };
        let averages = asked.overheads.as_ref().and_then(|it| it.averages.as_ref());
        let is_bounded = |tasks: &Result<TaskSet, TooMuch>| match tasks {
            Ok(tasks) => tardiness::is_bounded(tasks, cpus),
            Err(TooMuch::Close) => None,
            Err(_) => Some(false),
        };
        let on_average =
            averages.and_then(|overheads| is_bounded(&asked.inflated(tasks, cpus, overheads)));
        let counted = asked.counted(tasks, cpus);
        let bounded = is_bounded(&counted);
        let none = Soft { bounded, bounded_on_average: on_average, ..none };
        let Ok(counted) = counted else { return none };
        if counted.len() > SEARCHED {
            return none;
        }
        let late = |bound: Tardiness| match bound {
            Tardiness::Responses(all) => {
                let late = all.iter().zip(counted.iter());
                let late = late.map(|(response, task)| response.saturating_sub(task.deadline_us));
                Some(late.collect::<Vec<u64>>())
            }
            Tardiness::Unbounded | Tardiness::NotApplicable(_) => None,
        };
        let devi = late(tardiness::devi_anderson(&counted, cpus));
        let compliant = late(tardiness::compliant(&counted, cpus, Point::Deadline));
        let gedf_us = match (devi, compliant) {
            (Some(a), Some(b)) => Some(a.into_iter().zip(b).map(|(a, b)| a.min(b)).collect()),
            (a, b) => a.or(b),
        };
        Soft {
            bounded,
            bounded_on_average: on_average,
            gedf_us,
            gfl_us: late(tardiness::compliant(&counted, cpus, Point::FairLateness)),
        }
    }
}
