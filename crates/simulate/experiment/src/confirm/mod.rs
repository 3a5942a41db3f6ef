//! Confirm: whether one change removes a loss, by experiment.
//!
//! The work of a History is taken from it ([`crate::what_if`]) and run in three *arms*: as it was,
//! under a model of the scheduler that ran; the same with one [`Change`]; and, as a control, as it
//! was with other seeds. A seed draws the random numbers of programs, where the History contains
//! them, and varies each computation and each sleep of fixed length by up to [`VARIED`], so runs
//! differ as runs of one program do. What each arm lost is a [`Median`] with an interval.
//!
//! The claim is made only if the model loses before what the History lost, the intervals before
//! and after are apart, and those before and of the control are not.
//!
//! Arms run on a [`Bench`]. Another bench, a guest or a host, has to apply a [`Change`] there.

mod change;
mod interval;
mod model;
mod report;

use crate::extract::Extracted;
use serde::{Deserialize, Serialize};
use wastenot_check::causes::{Causes, LostTime, TREE, is_within};
use wastenot_check::waste;
use wastenot_host::store::{Store, fill};
use wastenot_model::workload::{Program, Step, Variate};
use wastenot_model::{History, Span};
use wastenot_scenario::scenario::{Choice, Variant};

pub use change::{Change, removing};
pub use interval::{FEWEST, MOST, Median};

use crate::what_if::{self, WhatIf, what_if};
use crate::{Bench, Error, Run};

/// How many runs an arm has unless another number is asked for.
pub const RUNS: u64 = 10;
/// How far a computation or a sleep of fixed length is from it in a run, at most. As far off may
/// a replay of a run be that is exact otherwise (docs/explain/what-if.md).
const VARIED: f64 = 0.01;
/// The model loses what the History lost if it loses at least this part of it, and at most its
/// inverse.
const AS_MUCH: f64 = 0.5;
/// A change removes a loss if it removes at least this part of it.
const REMOVES: f64 = 0.5;

/// What is asked.
#[derive(Clone, Debug)]
pub struct Question {
    /// The model of the scheduler that ran, instead of the one that its kernel has.
    pub scheduler: Option<Choice>,
    /// The node of the tree of causes of whose loss it is, instead of the largest that a known
    /// change should remove.
    pub cause: Option<&'static str>,
    /// How many runs an arm has.
    pub seeds: u64,
}

/// What a History lost of one kind by one cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The cause, a node of the tree.
    pub cause: &'static str,
    /// It in words.
    pub about: &'static str,
    /// Which kind.
    pub loss: LostTime,
    /// How much.
    pub ns: u64,
}

/// What one run, or the recorded one, lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// By the cause.
    pub cause_ns: u64,
    /// Of that kind in all.
    pub loss_ns: u64,
    /// Until the work was done; `None` if the run was given up.
    pub makespan_ns: Option<u64>,
}

/// A change and what came of it in one run of the recorded lengths.
#[derive(Clone, Copy, Debug)]
pub struct Tried {
    /// The change; none in the run of the model itself.
    pub change: Option<Change>,
    /// What was lost.
    pub sample: Sample,
}

/// Some runs that differ in their seed.
#[derive(Clone, Debug)]
pub struct Arm {
    samples: Vec<Sample>,
}

/// A change, and the runs before and after.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Whose loss it should remove.
    pub lost: Lost,
    /// The change.
    pub change: Change,
    /// The scheduler with it.
    pub changed: Choice,
    /// The recorded run.
    pub recorded: Sample,
    /// One run each, of the model and of all changes that were considered.
    pub tried: Vec<Tried>,
    /// As it was.
    pub before: Arm,
    /// With the change.
    pub after: Arm,
    /// As it was, with other seeds.
    pub control: Arm,
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing was lost.
    NothingLost,
    /// No change is known that should remove what was lost.
    NoChange,
    /// The model does not lose it, so nothing is claimed.
    NotReproduced,
    /// The change removes the loss.
    Confirmed,
    /// It removes a smaller part of it.
    Partly,
    /// It does not.
    Refuted,
    /// The runs differ too much, or were given up.
    Unknown,
}

/// The answer.
#[derive(Debug)]
pub struct Confirmation {
    /// The History, its work, its bounds, and the work under the model.
    pub what_if: WhatIf,
    /// The kernel that was recorded.
    pub kernel: Option<String>,
    /// The model of the scheduler that ran.
    pub model: Choice,
    /// What was lost, the most first.
    pub lost: Vec<Lost>,
    /// The node of the tree of causes that was asked about.
    pub cause: Option<&'static str>,
    /// The experiment, if a change was known.
    pub trial: Option<Trial>,
    /// How many runs an arm has.
    pub seeds: u64,
    /// What was assumed of the work.
    assumptions: Vec<String>,
}

/// An experiment that is about to run.
#[derive(Debug)]
pub struct Plan<'a> {
    bench: &'a dyn Bench,
    history: &'a History,
    answer: Confirmation,
    /// The work, as programs if the History contains them, and the seed of the recorded run.
    work: Extracted,
    seed: u64,
    aim: Option<Lost>,
    changes: Vec<Change>,
}

impl<'a> Plan<'a> {
    /// Takes the work from `history` and finds the changes that should remove what it lost.
    pub fn new(
        bench: &'a dyn Bench,
        history: &'a History,
        question: &Question,
    ) -> Result<Plan<'a>, Error> {
        let model = match &question.scheduler {
            Some(choice) => choice.clone(),
            None => model::of(history)?,
        };
        let asked = what_if::Question {
            scheduler: Some(model.clone()),
            seed: 1,
            ..what_if::Question::default()
        };
        let what_if = what_if(history, &asked)?;
        let lost = lost(what_if.waste.causes.as_ref(), what_if.extracted.held);
        let asked_for = |lost: &&Lost| question.cause.is_none_or(|it| is_within(lost.cause, it));
        let aims = lost.iter().filter(asked_for).map(|most| {
            let aim = Lost { cause: question.cause.unwrap_or(most.cause), ..*most };
            (
                Lost { ns: aim.within(&lost), ..aim },
                change::known(most.cause, &model, &what_if.extracted),
            )
        });
        let (aim, changes) = aims.into_iter().find(|(_, changes)| !changes.is_empty()).unzip();
        let programs = what_if.extracted.as_programs(history);
        let (work, seed) = programs.unwrap_or_else(|| (what_if.extracted.clone(), 1));
        let kernel = history.head.source.kernel.clone();
        let seeds = question.seeds.clamp(FEWEST, MOST);
        let assumptions = work.assumptions.clone();
        let answer = Confirmation {
            what_if,
            kernel,
            model,
            lost,
            cause: question.cause,
            trial: None,
            seeds,
            assumptions,
        };
        Ok(Plan { bench, history, answer, work, seed, aim, changes: changes.unwrap_or_default() })
    }

    /// How many runs there are.
    pub fn len(&self) -> usize {
        match self.aim {
            Some(_) => 1 + self.changes.len() + 3 * self.answer.seeds as usize,
            None => 0,
        }
    }

    /// Whether there is nothing to run.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Runs it. `progress` is told how many runs are done.
    pub fn run(mut self, progress: impl Fn(usize) + Sync) -> Result<Confirmation, Error> {
        self.answer.trial = self.aim.map(|lost| self.trial(lost, progress)).transpose()?;
        Ok(self.answer)
    }

    fn trial(&self, lost: Lost, progress: impl Fn(usize) + Sync) -> Result<Trial, Error> {
        let (model, work, own) = (&self.answer.model, &self.work, self.seed);
        let mut setups = vec![Setup::new(model, work.clone())];
        for change in &self.changes {
            let (scheduler, work) = change.apply(self.history, model, work)?;
            setups.push(Setup::new(&scheduler, work));
        }
        // First each once, to choose one. What is reported of it comes from runs of their own.
        let once: Vec<(&Setup, u64)> = setups.iter().map(|setup| (setup, own)).collect();
        let samples = self.run_all(&lost, &once, &progress)?;
        let (first, others) = samples.split_first().expect("the model");
        let removes = |sample: &Sample| {
            let part = |after: u64, before: u64| after as f64 <= (1.0 - REMOVES) * before as f64;
            part(sample.cause_ns, first.cause_ns) && part(sample.loss_ns, first.loss_ns)
        };
        let chosen = others.iter().position(removes).unwrap_or_default();
        let (before, after) = (setups[0].varied(), setups[1 + chosen].varied());
        let seeds = self.answer.seeds;
        let arms = [(&before, 1), (&after, 1), (&before, 1 + seeds)];
        let runs = arms.iter().flat_map(|&(setup, from)| {
            (from..from + seeds).map(move |n| (setup, own.wrapping_add(n)))
        });
        let runs: Vec<(&Setup, u64)> = runs.collect();
        let arms = self.run_all(&lost, &runs, &|done| progress(once.len() + done))?;
        let mut arms = arms.chunks(seeds as usize).map(|samples| Arm { samples: samples.to_vec() });
        let mut arm = || arms.next().expect("three");
        let changes = std::iter::once(None).chain(self.changes.iter().copied().map(Some));
        let tried = changes.zip(samples.iter().copied());
        Ok(Trial {
            lost,
            change: self.changes[chosen],
            changed: after.variant.scheduler,
            recorded: Sample {
                cause_ns: lost.ns,
                loss_ns: lost.in_all(&self.answer.lost),
                makespan_ns: Some(work.recorded.0),
            },
            tried: tried.map(|(change, sample)| Tried { change, sample }).collect(),
            before: arm(),
            after: arm(),
            control: arm(),
        })
    }

    /// Runs each with its seed.
    fn run_all(
        &self,
        lost: &Lost,
        all: &[(&Setup, u64)],
        progress: &(dyn Fn(usize) + Sync),
    ) -> Result<Vec<Sample>, Error> {
        let name = &self.answer.what_if.name;
        let make = |&(setup, seed): &(&Setup, u64)| {
            let run = what_if::rerun(self.bench, &setup.variant, &setup.work, seed, name)?;
            Ok(measure(lost, &setup.work, &run))
        };
        fill(None::<&Store<Sample>>, all, |_| String::new(), make, progress)
    }
}

/// What an arm runs.
#[derive(Debug)]
struct Setup {
    work: Extracted,
    variant: Variant,
}

impl Setup {
    fn new(scheduler: &Choice, work: Extracted) -> Setup {
        Setup { variant: what_if::variant(&work, scheduler), work }
    }

    /// The same with each computation and each sleep of fixed length off by up to [`VARIED`].
    fn varied(&self) -> Setup {
        let mut variant = self.variant.clone();
        for task in &mut variant.workload.templates {
            let steps = task.program.steps().iter().map(|step| match *step {
                Step::Compute(Variate::Fixed(span)) => Step::Compute(Variate::around(span, VARIED)),
                Step::Sleep(Variate::Fixed(span)) => Step::Sleep(Variate::around(span, VARIED)),
                step => step,
            });
            task.program = Program::new(steps.collect()).expect("as nested as it was");
        }
        Setup { work: self.work.clone(), variant }
    }
}

/// What a History lost, the most first.
fn lost(causes: Option<&Causes>, held: Span) -> Vec<Lost> {
    let mut all = Vec::new();
    for (cause, part) in causes.into_iter().flat_map(Causes::iter) {
        let of = |&loss: &LostTime| {
            let ns = part.ns[loss as usize];
            Lost { cause: cause.path, about: cause.about, loss, ns }
        };
        all.extend(LostTime::ALL.iter().map(of));
    }
    // A replay imposes what quotas held back, so it is counted where the work is taken out.
    let quota = TREE.iter().find(|cause| cause.path == QUOTA).expect("a cause");
    all.push(Lost { cause: QUOTA, about: quota.about, loss: LostTime::Quota, ns: held.0 });
    all.retain(|lost| lost.ns > 0);
    all.sort_by_key(|lost| std::cmp::Reverse(lost.ns));
    all
}

/// The cause of all that quotas held back.
const QUOTA: &str = "configuration/quota";

impl Lost {
    /// How much of `all` is of its kind, and by its cause or one below.
    fn within(&self, all: &[Lost]) -> u64 {
        let of = |it: &&Lost| it.loss == self.loss && is_within(it.cause, self.cause);
        all.iter().filter(of).fold(0, |sum, it| sum.saturating_add(it.ns))
    }
    /// How much of `all` is of its kind.
    fn in_all(&self, all: &[Lost]) -> u64 {
        let of = all.iter().filter(|it| it.loss == self.loss);
        of.fold(0, |sum, it| sum.saturating_add(it.ns))
    }
}

/// What a run lost of the kind of `of`, by its cause and in all.
fn measure(of: &Lost, work: &Extracted, run: &Run) -> Sample {
    let figures = waste::measure(&run.history, &wastenot_check::Options::default());
    let lost = lost(figures.causes.as_ref(), work.held);
    let makespan_ns = what_if::makespan(work, run).map(|span| span.0);
    Sample { cause_ns: of.within(&lost), loss_ns: of.in_all(&lost), makespan_ns }
}

impl Arm {
    /// The median of a figure; `None` if a run has none.
    fn median(&self, of: fn(&Sample) -> Option<u64>) -> Option<Median> {
        Median::of(self.samples.iter().map(of).collect::<Option<_>>()?)
    }
    /// Of what was lost by the cause.
    pub fn cause(&self) -> Option<Median> {
        self.median(|it| Some(it.cause_ns))
    }
    /// Of what was lost in all.
    pub fn loss(&self) -> Option<Median> {
        self.median(|it| Some(it.loss_ns))
    }
    /// Of the makespan.
    pub(crate) fn makespan(&self) -> Option<Median> {
        self.median(|it| it.makespan_ns)
    }
}

impl Confirmation {
    /// What came of it.
    pub fn verdict(&self) -> Verdict {
        match &self.trial {
            Some(trial) => trial.verdict(),
            None if self.asked().is_none() => Verdict::NothingLost,
            None => Verdict::NoChange,
        }
    }

    /// The largest loss by what was asked about.
    fn asked(&self) -> Option<&Lost> {
        self.lost.iter().find(|lost| self.cause.is_none_or(|it| is_within(lost.cause, it)))
    }
}

impl Trial {
    fn verdict(&self) -> Verdict {
        self.judge().unwrap_or(Verdict::Unknown)
    }

    fn judge(&self) -> Option<Verdict> {
        let (before, after, control) = (&self.before, &self.after, &self.control);
        let by_cause = [before.cause()?, after.cause()?, control.cause()?];
        let in_all = [before.loss()?, after.loss()?, control.loss()?];
        if !is_as_much(by_cause[0].median, self.recorded.cause_ns) {
            return Some(Verdict::NotReproduced);
        }
        let makespans = [before.makespan()?, after.makespan()?, control.makespan()?];
        let figures = [by_cause, in_all, makespans];
        // Runs of the same are apart: the intervals are too narrow for what varies.
        if figures.iter().any(|[before, _, again]| again.is_below(before) || before.is_below(again))
        {
            return None;
        }
        let [ended, ends, _] = &makespans;
        if ended.is_below(ends) || (self.change.ends_it_by_definition() && !ends.is_below(ended)) {
            return Some(Verdict::Refuted);
        }
        let left = |[before, after, _]: &[Median; 3]| after.median as f64 / before.median as f64;
        let apart = [by_cause, in_all].iter().all(|[before, after, _]| after.is_below(before));
        let removed = [by_cause, in_all].iter().all(|it| left(it) <= 1.0 - REMOVES);
        match (apart, removed) {
            (true, true) => Some(Verdict::Confirmed),
            (true, false) => Some(Verdict::Partly),
            (false, true) => None,
            (false, false) => Some(Verdict::Refuted),
        }
    }
}

/// Whether the model loses as much as was lost.
fn is_as_much(model: u64, recorded: u64) -> bool {
    let (model, recorded) = (model as f64, recorded as f64);
    model >= AS_MUCH * recorded && AS_MUCH * model <= recorded
}
