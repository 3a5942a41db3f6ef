//! `wastenot run`: scenarios, simulated.

use std::path::Path;

use wastenot_experiment::{Error, Experiment, Grid, Options, Sim};
use wastenot_scenario::Scenario;
use wastenot_scenario::scenario::{Choice, Instead, Setting};

use super::check::print;
use super::convert::Kept;
use crate::args::run::{Bench, Run};
use crate::fail::{Answer, Stop};
use crate::{open, progress};

/// The scheduler of files of rt-app, unless another one is named: Linux as it is now.
const RTAPP_SCHEDULER: &str = "eevdf-6.12";

/// Runs a scenario.
pub(crate) fn run(args: &Run) -> Result<Answer, Stop> {
    let bench = match args.on {
        Bench::Sim => &Sim,
    };
    let (scenario, scheduler) = read(args)?;
    let options = Options {
        seeds: match (&args.seed, &args.output) {
            (Some(seeds), _) => seeds.0.clone(),
            (None, Some(_)) => vec![1],
            (None, None) => Vec::new(),
        },
        variants: args.variant.clone(),
        scheduler,
        store: args.resume.clone(),
        ..Options::default()
    };
    let grid = Grid::new(&scenario, bench, &options).map_err(|error| failed(&error))?;
    let choices = grid.variants().iter().map(|variant| &variant.scheduler);
    choices.into_iter().try_for_each(|choice| open::safe(choice, &args.under))?;
    let experiment = match &args.output {
        Some(output) => one(&grid, output, args)?,
        None => all(&scenario.name, grid)?,
    };
    print(&experiment.report(), &args.face)?;
    Ok(Answer::Yes)
}

/// Runs the whole grid.
fn all(name: &str, grid: Grid<'_>) -> Result<Experiment, Stop> {
    let cells = grid.len();
    progress::counting(&format!("simulating {name}"), cells, |done| grid.run(done))
        .map_err(|error| failed(&error))
}

/// Runs one cell and writes its History.
fn one(grid: &Grid<'_>, output: &Path, args: &Run) -> Result<Experiment, Stop> {
    let kept = Kept::named("-o", output, args.force)?;
    let [variant] = grid.variants() else {
        let names: Vec<&str> = grid.variants().iter().map(|it| it.name.as_str()).collect();
        let what = format!("-o writes one run, but there are {} variants", names.len());
        return Err(Stop::new(what, format!("add `--variant`, one of {}", names.join(", "))));
    };
    let [_] = grid.seeds() else {
        let what = format!("-o writes one run, but --seed selects {}", grid.seeds().len());
        return Err(Stop::new(what, "name one with `--seed 1`"));
    };
    let simulate = || grid.run_first(args.decisions);
    let (experiment, run) = progress::during(&format!("simulating {}", variant.name), simulate)
        .map_err(|error| failed(&error))?;
    kept.write(&run.history)?;
    Ok(experiment)
}

pub(super) fn failed(error: &Error) -> Stop {
    Stop::new(error, error.help())
}

/// What is to run, and what takes the place of its own schedulers.
fn read(args: &Run) -> Result<(Scenario, Option<Choice>), Stop> {
    let help = "name a scenario (TOML); examples: scenarios/, format: docs/scenario.md";
    let (name, text) = open::text(&args.file, help)?;
    let choice = open::scheduler(&args.under)?;
    let machine = args.machine.as_deref();
    let machine = machine.map(|text| open::machine("--machine", text)).transpose()?;
    let wrong = |error: wastenot_scenario::Error| Stop::new(&error, error.help());
    if wastenot_scenario::is_rtapp(&name, &text) {
        if let Some(setting) = args.set.first() {
            let what = format!("--set {}: an rt-app file has no such key", setting.0);
            let help = "an rt-app file can be changed with --machine and --scheduler only";
            return Err(Stop::new(what, help));
        }
        let read = wastenot_scenario::from_rtapp(&name, &text, machine).map_err(wrong)?;
        let usual = || Choice::named(RTAPP_SCHEDULER);
        return Ok((read.scenario(choice.unwrap_or_else(usual)), None));
    }
    let set = args.set.iter().cloned();
    let set = set.map(|setting| Setting { name: setting.0, value: setting.1 }).collect();
    let instead = Instead { set, machine };
    Ok((wastenot_experiment::scenario_with(&name, &text, &instead).map_err(wrong)?, choice))
}
