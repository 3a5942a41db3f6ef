//! This machine as a bench.

use std::sync::{Mutex, PoisonError};

use crate::runner::Plan;
use wastenot_experiment::{Bench, Error, Run};
use wastenot_model::machine::Costs;
use wastenot_model::{Help, Machine};
use wastenot_scenario::scenario::{Choice, Variant};
use wastenot_sim::Options;

use crate::real;

/// Runs scenarios on this machine, under the scheduler of its kernel.
pub struct Host {
    machine: Machine,
    kernel: String,
    /// Whether to end.
    is_over: Box<dyn Fn() -> bool + Send + Sync>,
    /// What is not as in the scenario, each sentence once.
    notes: Mutex<Vec<String>>,
    /// One run at a time has the machine.
    turn: Mutex<()>,
}

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Host").field("kernel", &self.kernel).finish_non_exhaustive()
    }
}

impl Host {
    /// This machine. A run ends when `is_over` says so.
    pub fn new(is_over: impl Fn() -> bool + Send + Sync + 'static) -> Host {
        let kernel = wastenot_host::kernel();
        let release = kernel.split(' ').next().unwrap_or_default().to_owned();
        Host {
            machine: wastenot_host::machine(),
            kernel: release,
            is_over: Box::new(is_over),
            notes: Mutex::default(),
            turn: Mutex::new(()),
        }
    }
}

/// The scheduler of a variant in a real kernel: its own, or a policy.
pub(crate) fn scheduler(choice: &Choice, kernel: &str) -> Choice {
    match choice.text {
        Some(_) => choice.clone(),
        None => Choice::named(&format!("linux {kernel}")),
    }
}

impl Bench for Host {
    fn name(&self) -> &str {
        "host"
    }

    fn doing(&self) -> String {
        "running".into()
    }

    fn how(&self) -> String {
        format!("run on this machine (Linux {})", self.kernel)
    }

    fn has(&self) -> String {
        "this machine and its scheduler".into()
    }

    fn assumes(&self) -> Vec<String> {
        let what = "run on this machine: other activity of the machine affected the results; \
                    [costs] and [ambient] of the scenario had no effect";
        let notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner).clone();
        [what.into()].into_iter().chain(notes).collect()
    }

    fn takes(&self, mut variant: Variant) -> Variant {
        variant.machine.clone_from(&self.machine);
        variant.costs = Costs::default();
        variant.scheduler = scheduler(&variant.scheduler, &self.kernel);
        variant
    }

    fn fits(&self, variant: &Variant) -> Result<(), Error> {
        if variant.scheduler.text.is_some() {
            let what = format!("`run --on host` cannot deploy {}", variant.scheduler.name);
            let help = "load the policy with `wastenot deploy`, and run this command while the \
                        policy is loaded; or run the policy in a guest: --on 7.2";
            return Err(Error::Bench { what, help: help.into() });
        }
        if !wastenot_host::is_first_namespace() {
            let what = "in this PID namespace, tasks have other numbers than in the trace";
            let help = "run the command outside the container, or start the container with \
                        `--pid=host`";
            return Err(Error::Bench { what: what.into(), help: help.into() });
        }
        note(&self.notes, &plan(variant, &Options::default())?.notes);
        Ok(())
    }

    fn run(&self, variant: &Variant, options: &Options) -> Result<Run, Error> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let plan = plan(variant, options)?;
        let ran = real::run(&plan, options.notes, &|| {}, &*self.is_over);
        let (history, told) = ran.map_err(|error| error.of(variant, options))?;
        Ok(real::part(&history, &told, &variant.workload))
    }
}

/// Adds those of `sentences` that `notes` lack.
pub(crate) fn note(notes: &Mutex<Vec<String>>, sentences: &[String]) {
    let mut notes = notes.lock().unwrap_or_else(PoisonError::into_inner);
    for sentence in sentences {
        if !notes.contains(sentence) {
            notes.push(sentence.clone());
        }
    }
}

/// The plan of a variant.
pub(crate) fn plan(variant: &Variant, options: &Options) -> Result<Plan, Error> {
    let limit = wastenot_model::Span(options.limit.0);
    Plan::new(&variant.workload, variant.machine.len(), options.seed, limit).map_err(|unfit| {
        let what = format!("variant `{}` cannot run in a real kernel: {unfit}", variant.name);
        Error::Bench { what, help: unfit.help().into_owned() }
    })
}
