//! `wastenot simulate`: scenarios, run.

use std::path::Path;

use wastenot_lab::{Error, Experiment, Grid, Options, run};
use wastenot_model::machine::Profile;
use wastenot_model::report::Unit;
use wastenot_model::{Column, Report, Table, Time};
use wastenot_scenario::Scenario;
use wastenot_scenario::scenario::Choice;
use wastenot_sim::{REAL_TIME, SCHEDULERS, Values};

use super::check::print;
use super::{convert, what_if};
use crate::args::simulate::{Simulate, WhatIf};
use crate::fail::{Answer, Stop};
use crate::out::Target;
use crate::{open, progress};

/// The scheduler of files of rt-app, unless another one is named: Linux as it is now.
const RTAPP_SCHEDULER: &str = "eevdf-6.12";

/// What to do about an ending that is no format's.
pub(super) const ENDINGS: &str = "use .wn, .pftrace, .parquet, .csv or .jsonl";

/// Simulates.
pub(crate) fn run_verb(args: &Simulate) -> Result<Answer, Stop> {
    if let Some(trace) = args.replay.as_ref().filter(|_| !args.schedulers) {
        return what_if::run(trace, args);
    }
    no_trace(&args.what_if)?;
    let Some(file) = args.file.as_ref().filter(|_| !args.schedulers) else {
        print(&schedulers(), &args.face)?;
        return Ok(Answer::Yes);
    };
    let (scenario, scheduler) = read(file, args)?;
    let seeds = match (args.seed, args.seeds) {
        (Some(seed), _) => vec![seed],
        (None, Some(count)) => (1..=u64::from(count)).collect(),
        (None, None) => Vec::new(),
    };
    let options = Options {
        seeds,
        variants: args.variant.clone(),
        scheduler,
        store: args.resume.clone(),
        ..Options::default()
    };
    let grid = Grid::new(&scenario, &options).map_err(|error| failed(&error))?;
    grid.variants().iter().try_for_each(|variant| safe(&variant.scheduler, args))?;
    let experiment = match &args.output {
        Some(output) => one(&scenario, &grid, output, args)?,
        None => all(&scenario, grid)?,
    };
    print(&experiment.report(), &args.face)?;
    Ok(Answer::Yes)
}

/// Options about a trace mean nothing without one.
fn no_trace(options: &WhatIf) -> Result<(), Stop> {
    let reading = &options.reading;
    let given = [
        ("--task", !options.task.is_empty()),
        ("--on", options.on.is_some()),
        ("--buffer", reading.buffer.is_some()),
        ("--formats-from", reading.formats_from.is_some()),
        ("--clock-hz", reading.clock_hz.is_some()),
        ("--from", options.window.from.is_some()),
        ("--to", options.window.to.is_some()),
    ];
    match given.iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((option, _)) => Err(Stop::new(
            format_args!("{option} applies to a trace; no trace is given"),
            "name one with `--replay TRACE`; a scenario contains its own machine",
        )),
    }
}

/// Runs the whole grid.
fn all(scenario: &Scenario, grid: Grid<'_>) -> Result<Experiment, Stop> {
    let (name, cells) = (&scenario.name, grid.len());
    progress::counting(&format!("simulating {name}"), cells, |done| grid.run(done))
        .map_err(|error| failed(&error))
}

/// Runs one cell and writes its History.
fn one(
    scenario: &Scenario,
    grid: &Grid<'_>,
    output: &Path,
    args: &Simulate,
) -> Result<Experiment, Stop> {
    let format = convert::by_ending(output, ENDINGS)?;
    let target = Target::new(output, args.force)?;
    let [variant] = grid.variants() else {
        let names: Vec<&str> = grid.variants().iter().map(|it| it.name.as_str()).collect();
        let what = format!("-o writes one run, but there are {} variants", names.len());
        return Err(Stop::new(what, format!("add `--variant`, one of {}", names.join(", "))));
    };
    if let Some(count) = args.seeds.filter(|count| *count > 1) {
        let what = format!("-o writes one run, but --seeds {count} selects {count}");
        return Err(Stop::new(what, "name one with `--seed 1`"));
    }
    let seed = grid.seeds().first().copied().unwrap_or(1);
    let name = format!("{} {} seed {seed}", scenario.name, variant.name);
    let options = wastenot_sim::Options {
        name: name.clone(),
        seed,
        limit: Time(scenario.limit.0),
        notes: args.decisions,
    };
    let simulate = || run(variant, &options);
    let ran = progress::during(&format!("simulating {name}"), simulate)
        .map_err(|error| failed(&error))?;
    let write = || target.write(|out| convert::fill(&ran.history, format, out));
    progress::during("writing", write)?;
    Ok(grid.of_one(seed, &ran))
}

pub(super) fn failed(error: &Error) -> Stop {
    Stop::new(error, error.help())
}

/// What is to run, and what takes the place of its own schedulers.
fn read(file: &Path, args: &Simulate) -> Result<(Scenario, Option<Choice>), Stop> {
    let help = "name a scenario (TOML); examples: scenarios/, format: docs/scenario.md";
    let (name, text) = open::text(file, help)?;
    let machine = args.what_if.reading.machine.as_deref();
    let choice = chosen(args)?;
    let wrong = |error: wastenot_scenario::Error| Stop::new(&error, error.help());
    if wastenot_scenario::is_rtapp(&name, &text) {
        let machine = machine.map(|text| open::machine("--machine", text)).transpose()?;
        let read = wastenot_scenario::from_rtapp(&name, &text, machine).map_err(wrong)?;
        let usual = || Choice::named(RTAPP_SCHEDULER);
        return Ok((read.scenario(choice.unwrap_or_else(usual)), None));
    }
    if machine.is_some() {
        return Err(Stop::new(
            "--machine applies to a trace or an rt-app file, but this is a scenario",
            "change `machine` in the scenario",
        ));
    }
    Ok((wastenot_lab::scenario(&name, &text).map_err(wrong)?, choice))
}

/// The scheduler that was asked for, with its text if it is a file.
pub(super) fn chosen(args: &Simulate) -> Result<Option<Choice>, Stop> {
    let Some(scheduler) = &args.scheduler else { return Ok(None) };
    let mut choice = scheduler.0.clone();
    wastenot_lab::resolve(&mut choice, Path::new("")).map_err(|error| failed(&error))?;
    safe(&choice, args)?;
    Ok(Some(choice))
}

/// Policies that ask for an unsafe protocol are taken on request only.
fn safe(choice: &Choice, args: &Simulate) -> Result<(), Stop> {
    if args.allow_unsafe || !wastenot_lab::is_unsafe(choice) {
        return Ok(());
    }
    let what = format!("{} uses an unsafe protocol", choice.name);
    Err(Stop::new(what, "add `--allow-unsafe` to accept it"))
}

/// What can be chosen, and set.
fn schedulers() -> Report {
    let mut report = Report::new("schedulers/1", "Built-in schedulers");
    report.verdict = "Set switches in a scenario's [scheduler], or with \
                      `--scheduler NAME,SWITCH=VALUE`. A file of a policy (`x.rota`) can be named \
                      too; its parameters are its switches. Groups: whether it looks at sessions and \
                      cgroups, their shares and quotas."
        .into();
    let columns = [
        Column::new("name", "name", Unit::None),
        Column::new("about", "what it is", Unit::None),
        Column::new("groups", "groups", Unit::None),
        Column::for_programs("source", Unit::None),
    ];
    let mut table = Table::new("schedulers", "Schedulers", columns);
    table.shown = usize::MAX;
    let columns = [
        Column::new("scheduler", "scheduler", Unit::None),
        Column::new("switch", "switch", Unit::None),
        Column::new("default", "default", Unit::None),
        Column::new("values", "values", Unit::None),
        Column::for_programs("about", Unit::None),
    ];
    let mut switches = Table::new("switches", "Switches", columns);
    switches.shown = usize::MAX;
    for scheduler in SCHEDULERS.iter().chain(REAL_TIME) {
        let (name, about) = (scheduler.name, scheduler.about);
        let (groups, source) = (scheduler.groups.into(), scheduler.source.into());
        table.push(vec![name.into(), about.into(), groups, source]);
        for switch in scheduler.switches {
            let values = match switch.values {
                Values::Words(words) => words.join("|"),
                Values::Span => "time".into(),
                Values::Count => "whole number".into(),
                Values::Profile => {
                    Profile::NAMED.map(|(name, _)| name).join("|") + "|file of a profile"
                }
            };
            switches.push(vec![
                name.into(),
                switch.name.into(),
                switch.default.into(),
                values.into(),
                switch.about.into(),
            ]);
        }
    }
    report.tables = vec![table, switches];
    report
}
