//! `wastenot run`: scenarios, simulated.

use std::path::Path;

use wastenot_experiment::{Bench, Error, Experiment, Grid, Keep, Options, Sim};
use wastenot_lab::Host;
use wastenot_scenario::Scenario;
use wastenot_scenario::scenario::{Choice, Instead, Setting, Variant};

use super::check::print;
use super::convert::Kept;
use super::lab;
use crate::args::run::{On, Run};
use crate::fail::{Answer, Stop};
use crate::{open, progress};

/// The scheduler of files of rt-app, unless another one is named: Linux as it is now.
const RTAPP_SCHEDULER: &str = "eevdf-6.12";

/// Runs a scenario.
pub(crate) fn run(args: &Run) -> Result<Answer, Stop> {
    let (scenario, scheduler) = read(args)?;
    let options = Options {
        seeds: match (&args.seed, args.repeat, &args.output) {
            (Some(seeds), ..) => seeds.0.clone(),
            (None, Some(count), _) => (1..=count).collect(),
            (None, None, Some(output)) if !is_folder(output) => vec![1],
            (None, None, _) => Vec::new(),
        },
        variants: args.variant.clone(),
        scheduler,
        store: args.resume.clone(),
        ..Options::default()
    };
    let benches = benches(args)?;
    let mut experiments = Vec::new();
    for bench in &benches {
        let grid = Grid::new(&scenario, &**bench, &options).map_err(|error| failed(&error))?;
        let choices = grid.variants().iter().map(|variant| &variant.scheduler);
        choices.into_iter().try_for_each(|choice| open::safe(choice, &args.under))?;
        experiments.push(match &args.output {
            Some(output) if !is_folder(output) => one(&grid, output, args)?,
            Some(folder) => kept(&scenario.name, grid, folder, args)?,
            None => all(&scenario.name, grid, &|_, _, _| Ok(()))?,
        });
    }
    print(&wastenot_experiment::report(&experiments), &args.face)?;
    Ok(Answer::Yes)
}

/// The benches of `--on`: each kernel once with its own scheduler, and once with the one that a
/// program loads.
fn benches(args: &Run) -> Result<Vec<Box<dyn Bench>>, Stop> {
    let command: Option<Vec<String>> = args
        .scheduler_cmd
        .iter()
        .map(|it| it.split_whitespace().map(str::to_owned).collect())
        .next();
    if command.is_some() && !args.on.iter().any(|on| matches!(on, On::Kernel(_))) {
        let help = "add `--on 7.2`, or another kernel from 6.13 on";
        return Err(Stop::new("--scheduler-cmd loads a scheduler in a guest", help));
    }
    if args.steps && !args.on.iter().any(|on| matches!(on, On::Kernel(_))) {
        let help = "add `--on 7.2`, or another kernel from 6.13 on";
        return Err(Stop::new("--steps is of a policy in a guest", help));
    }
    let mut benches: Vec<Box<dyn Bench>> = Vec::new();
    for on in &args.on {
        match on {
            On::Sim => benches.push(Box::new(Sim)),
            On::Host => benches.push(Box::new(Host::new(lab::is_over()?))),
            On::Kernel(wanted) => {
                for command in [Vec::new()].into_iter().chain(command.clone()) {
                    let (name, shift) = (&wanted.name, wanted.shift);
                    benches.push(Box::new(lab::guests(name, shift, command, args.steps)?));
                }
            }
        }
    }
    Ok(benches)
}

/// Whether `-o` names a folder for all runs.
fn is_folder(output: &Path) -> bool {
    output.is_dir() || output.as_os_str().as_encoded_bytes().ends_with(b"/")
}

/// Runs the whole grid; `keep` is given each run.
pub(super) fn all(name: &str, grid: Grid<'_>, keep: &Keep<'_>) -> Result<Experiment, Stop> {
    let (cells, what) = (grid.len(), format!("{} {name}", grid.bench().doing()));
    progress::counting(&what, cells, |done| grid.run_and_keep(done, keep))
        .map_err(|error| failed(&error))
}

/// Runs the whole grid, and writes the History of each run into a folder.
fn kept(name: &str, grid: Grid<'_>, folder: &Path, args: &Run) -> Result<Experiment, Stop> {
    let doing = |error| Stop::io(format_args!("-o {}", folder.display()), &error, "name another");
    std::fs::create_dir_all(folder).map_err(doing)?;
    let bench = grid.bench().name().to_owned();
    let file = |variant: &str, seed: u64| {
        let name = format!("{name} {variant} {bench} {seed}");
        let usual = |letter: char| {
            if letter.is_alphanumeric() || ".=+".contains(letter) { letter } else { '-' }
        };
        folder.join(name.chars().map(usual).collect::<String>() + ".wn")
    };
    // Before anything has run.
    for variant in grid.variants() {
        for &seed in grid.seeds() {
            Kept::named("-o", &file(&variant.name, seed), args.force)?;
        }
    }
    let write = |variant: &Variant, seed: u64, run: &wastenot_experiment::Run| {
        let kept = Kept::named("-o", &file(&variant.name, seed), args.force);
        kept.and_then(|kept| kept.write(&run.history)).map_err(|stop| match stop {
            Stop::Failure { what, help, .. } => Error::Bench { what, help },
            Stop::Pipe => Error::Bench { what: "the pipe is closed".into(), help: String::new() },
        })
    };
    all(name, grid, &write)
}

/// Runs one cell and writes its History.
fn one(grid: &Grid<'_>, output: &Path, args: &Run) -> Result<Experiment, Stop> {
    let kept = Kept::named("-o", output, args.force)?;
    if args.on.len() > 1 {
        let help = "name a folder, `-o DIR/`, for the runs of all";
        return Err(Stop::new("-o writes one run, but there are several --on", help));
    }
    let [variant] = grid.variants() else {
        let names: Vec<&str> = grid.variants().iter().map(|it| it.name.as_str()).collect();
        let what = format!("-o writes one run, but there are {} variants", names.len());
        return Err(Stop::new(what, format!("add `--variant`, one of {}", names.join(", "))));
    };
    let [_] = grid.seeds() else {
        let what = format!("-o writes one run, but --seed selects {}", grid.seeds().len());
        return Err(Stop::new(what, "name one with `--seed 1`"));
    };
    let what = format!("{} {}", grid.bench().doing(), variant.name);
    let simulate = || grid.run_first(args.decisions);
    let (experiment, run) = progress::during(&what, simulate).map_err(|error| failed(&error))?;
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
