//! Where variants run: on a [`Bench`], which gives the History of each run.

use std::fmt::Debug;

use wastenot_model::workload::{Class, TemplateId};
use wastenot_model::{Builder, Head, Help, History, Machine, Policy, Time};
use wastenot_scenario::scenario::Variant;
use wastenot_sim::{
    End, Made, Options, Outcome, Paced, Stuck, checkers, edf, simulate, simulate_mechanism,
};

use crate::choice::{made, paced};
use crate::real_time::RealTime;
use crate::{Error, Fault, choice};

/// A place that runs variants of a scenario. All figures come from the [`Run`], so they are
/// computed alike on every bench.
pub trait Bench: Debug + Sync {
    /// Its name, as in `--on sim`. Stored cells of different benches are different.
    fn name(&self) -> &str;
    /// What its cells are made from beside the variant, the seed and this program. Stored cells
    /// are of one identity.
    fn identity(&self) -> String {
        self.name().to_owned()
    }
    /// What it does, as in `simulating`.
    fn doing(&self) -> String;
    /// How it did that, as in `simulated`.
    fn how(&self) -> String;
    /// What it has of its own, and puts in the place of what a scenario says.
    fn has(&self) -> String {
        String::new()
    }
    /// Whether a program loads its scheduler, which is compared with that of the bench before it.
    fn is_loaded(&self) -> bool {
        false
    }
    /// What its figures rest on, one sentence each.
    fn assumes(&self) -> Vec<String>;
    /// What it makes of a variant: one that is not the simulator may have a machine and a scheduler
    /// of its own.
    fn takes(&self, variant: Variant) -> Variant {
        variant
    }
    /// Refuses a variant that this bench cannot run, before any variant has run.
    fn fits(&self, variant: &Variant) -> Result<(), Error>;
    /// Does for all `cells` together what need not be done for each. It is told of those that are
    /// going to be run, before the first of them is; it tells how many are done.
    fn prepare(&self, _: &[(&Variant, Options)], _: &(dyn Fn(usize) + Sync)) -> Result<(), Error> {
        Ok(())
    }
    /// Whether [`Bench::prepare`] does all the work, so that after a run that failed the others
    /// need only be taken.
    fn is_prepared(&self) -> bool {
        false
    }
    /// Runs `variant` once.
    fn run(&self, variant: &Variant, options: &Options) -> Result<Run, Error>;
}

/// A run in full.
#[derive(Debug)]
pub struct Run {
    /// What happened.
    pub history: History,
    /// How it ended.
    pub outcome: Outcome,
    /// The template of each task, by [`TaskId::index`](wastenot_model::TaskId::index), where others
    /// ran as well, which may have the same names; else names tell it.
    pub templates: Option<Vec<Option<TemplateId>>>,
    /// What a real-time scheduler showed beside.
    pub real_time: Option<RealTime>,
    /// What went wrong with the scheduler. The History is empty then if it never scheduled.
    pub fault: Option<Fault>,
}

impl Run {
    /// A run that never began, because its scheduler did not.
    pub fn faulty(machine: Machine, fault: Fault) -> Run {
        let outcome = Outcome {
            end: End::Limit,
            time: Time(0),
            stuck: Vec::new(),
            marks: Vec::new(),
            ended: Vec::new(),
            rows: 0,
        };
        let history = Builder::new(Head::new(machine)).finish();
        let templates = Some(Vec::new());
        Run { history, outcome, templates, real_time: None, fault: Some(fault) }
    }

    /// Whether anything was recorded.
    pub fn is_recorded(&self) -> bool {
        !self.history.is_empty()
    }
}

/// The simulator.
#[derive(Clone, Copy, Debug)]
pub struct Sim;

impl Bench for Sim {
    fn name(&self) -> &str {
        "sim"
    }

    fn doing(&self) -> String {
        "simulating".into()
    }

    fn how(&self) -> String {
        "simulated".into()
    }

    fn assumes(&self) -> Vec<String> {
        let what = "simulated: caches, memory and interrupts cost no time, unless [costs] gives \
                    their costs";
        vec![what.into()]
    }

    fn fits(&self, variant: &Variant) -> Result<(), Error> {
        let made = made(&variant.scheduler)?;
        runs_no_program(variant)?;
        classes_fit(variant, &made)?;
        let Made::RealTime(real) = made else { return Ok(()) };
        let fits = edf::fits(&variant.machine, &variant.workload, &real);
        fits.map_err(|wrong| unfit(variant, &real, &wrong))
    }

    fn run(&self, variant: &Variant, options: &Options) -> Result<Run, Error> {
        let Variant { machine, costs, workload, .. } = variant;
        if let Some((policy, pace)) = paced(&variant.scheduler)? {
            let paced = Paced::new(policy, pace, options.seed);
            let ran = simulate_mechanism(machine, costs, workload, paced, options);
            return ended(variant, options, ran, None);
        }
        match made(&variant.scheduler)? {
            Made::Policy(policy) => simulated(variant, policy, options),
            Made::RealTime(real) => {
                let ran = edf::run_workload(machine, costs, workload, &real, options);
                let ran = ran.map_err(|wrong| unfit(variant, &real, &wrong))?;
                let real_time = RealTime::of(&ran, workload);
                ended(variant, options, (ran.history, ran.outcome), Some(real_time))
            }
        }
    }
}

/// Simulates `variant` under `policy`, in the place of its own scheduler.
///
/// # Errors
/// The run does not end as it should.
pub fn simulated(variant: &Variant, policy: impl Policy, options: &Options) -> Result<Run, Error> {
    let Variant { machine, costs, workload, .. } = variant;
    ended(variant, options, simulate(machine, costs, workload, policy, options), None)
}

fn ended(
    variant: &Variant,
    options: &Options,
    (history, outcome): (History, Outcome),
    real_time: Option<RealTime>,
) -> Result<Run, Error> {
    if cfg!(debug_assertions) {
        let wrong = checkers::wrong(&history);
        assert!(wrong.is_empty(), "{}, seed {}: {wrong:#?}", variant.name, options.seed);
    }
    match bad_end(&outcome, &history) {
        None => {
            let history = choice::noted(history, &variant.scheduler);
            Ok(Run { history, outcome, templates: None, real_time, fault: None })
        }
        Some((what, help)) => {
            let (variant, seed) = (variant.name.clone(), options.seed);
            Err(match outcome.end {
                End::Fault(_) => Error::Wrong { variant, seed, what, help },
                _ => Error::Run { variant, seed, what, help },
            })
        }
    }
}

/// Refuses programs of users: what they do is not in the scenario.
fn runs_no_program(variant: &Variant) -> Result<(), Error> {
    let Some(command) = variant.workload.commands.first() else { return Ok(()) };
    let what = format!(
        "variant `{}` runs `{command}`, but the simulator cannot run real programs",
        variant.name
    );
    let help = format!(
        "run the scenario on a kernel: --on 7.2; or record the program, `wastenot record -o it.wn \
         -- {command}`, and simulate the recorded work: `wastenot what-if it.wn`"
    );
    Err(Error::Bench { what, help })
}

/// Refuses classes that the scheduler does not know: their tasks would run as ordinary ones.
/// Real-time schedulers take runtime, deadline and period of every task, so they know that of
/// deadlines.
fn classes_fit(variant: &Variant, made: &Made) -> Result<(), Error> {
    let is_known = |class: Class| match class {
        Class::Other => true,
        Class::Deadline { .. } => matches!(made, Made::RealTime(_)),
        _ => false,
    };
    let unknown = variant.workload.templates.iter().find(|it| !is_known(it.class));
    let Some(task) = unknown else { return Ok(()) };
    let what = format!(
        "variant `{}`: task `{}` has the scheduling class `{}`; {} does not support this class in \
         the simulator",
        variant.name, task.name, task.class, variant.scheduler.name
    );
    let help = match task.class {
        Class::Deadline { .. } => {
            "run the scenario on a kernel: --on 7.2; or use a real-time scheduler: --scheduler \
             sched-deadline"
        }
        _ => "run the scenario on a kernel: --on 7.2",
    };
    Err(Error::Bench { what, help: help.into() })
}

fn unfit(variant: &Variant, real: &edf::Real, wrong: &edf::NotSporadic) -> Error {
    Error::NotSporadic {
        variant: variant.name.clone(),
        scheduler: real.name(),
        what: wrong.to_string(),
        help: wrong.help().into_owned(),
    }
}

/// What went wrong and what to do about it; `None` if the run ended as it should. One that reached
/// its limit did, unless an awaited task can never continue.
pub(crate) fn bad_end(outcome: &Outcome, history: &History) -> Option<(String, String)> {
    Some(match &outcome.end {
        End::Limit if !outcome.stuck.is_empty() => deadlock(&outcome.stuck, history),
        End::Done | End::Limit => return None,
        End::Deadlock(stuck) => deadlock(stuck, history),
        End::Livelock { task } => (
            format!("{} runs an endless loop in which no time passes", history.task_label(*task)),
            "add a `compute`, a `sleep` or a wait to the loop".into(),
        ),
        End::Crowd { parent } => (
            format!("a million tasks exist, and {} forks another one", history.task_label(*parent)),
            "make the task fork fewer children, or set a smaller `limit`".into(),
        ),
        End::Fault(fault) => (
            format!("at {}, {}", fault.time, fault.what),
            "this is a bug in the scheduler; try another scheduler".into(),
        ),
    })
}

/// Who waits for whom, and how that could end. Those that wait for a CPU come first: the others
/// spin, and wait for them.
fn deadlock(stuck: &[Stuck], history: &History) -> (String, String) {
    const SHOWN: usize = 4;
    let mut stuck: Vec<&Stuck> = stuck.iter().collect();
    stuck.sort_by_key(|it| !it.for_cpu);
    let each = stuck.iter().take(SHOWN).map(|it| {
        let task = history.task_label(it.task);
        let held = it.held_by.map(|owner| history.task_label(owner));
        let held = held.map_or_else(String::new, |owner| format!(", held by {owner}"));
        format!("{task} waits for {}{held}", it.waits_for)
    });
    let listed = each.collect::<Vec<_>>().join("; ");
    let more = stuck.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let help = match stuck.first().is_some_and(|it| it.for_cpu) {
        true => "let the spinning tasks block, or use fewer spinning tasks than CPUs",
        false => {
            "add the step that ends the wait of these tasks: an unlock, a put, a signal or an \
             arrival at a barrier"
        }
    };
    (format!("deadlock: {listed}{more}"), help.into())
}
