//! `wastenot run`: runs scenarios, simulated and on kernels.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use wastenot_experiment::{Bench, Error, Experiment, Grid, Options, Series, Sim, usual};
use wastenot_lab::Host;
use wastenot_scenario::Scenario;
use wastenot_scenario::scenario::{self, Choice, Instead, Variant};

use super::{lab, signals};
use crate::args::run::{On, Run};
use crate::export::page::Pictures;
use crate::fail::{Answer, Stop};
use crate::out::{self, Target};
use crate::verbs::trace_file::TraceFile;
use crate::{open, progress};

/// The default machine for commands.
const USUAL_MACHINE: &str = "core:4 pu:1";

/// Runs scenarios.
pub(crate) fn run(args: &Run) -> Result<Answer, Stop> {
    if !args.command.is_empty() {
        let scenario = of_command(args)?;
        return report(&[(scenario, None)], args);
    }
    let files = files(&args.files)?;
    if files.len() > 1 && args.output.as_ref().is_some_and(|output| !is_folder(output)) {
        let what =
            format!("-o writes the trace of one run, but there are {} scenarios", files.len());
        return Err(Stop::new(what, "use a directory for the traces of all runs: `-o DIR/`"));
    }
    // Read all scenarios before the first one runs.
    let scenarios = files.iter().map(|file| read(file, args)).collect::<Result<Vec<_>, Stop>>()?;
    report(&scenarios, args)
}

/// Runs scenarios and reports on them. Each may have a scheduler that replaces its own schedulers.
fn report(scenarios: &[(Scenario, Option<Choice>)], args: &Run) -> Result<Answer, Stop> {
    let mut figures = scenarios.iter().flat_map(|(scenario, _)| &scenario.figures);
    if args.fail_if_out_of_band && !figures.any(|figure| figure.band.is_some()) {
        let help =
            "leave out this option, or add a figure with a band (docs/reference/scenario.md)";
        return Err(Stop::new("--fail-if-out-of-band needs a figure with a band", help));
    }
    let page = page(args)?;
    let pictures = page.is_some().then(Pictures::default);
    let benches = benches(args)?;
    // Refuse scenarios that cannot run before the first one runs.
    let all = scenarios
        .iter()
        .map(|(scenario, scheduler)| grids(scenario, scheduler.clone(), &benches, args))
        .collect::<Result<Vec<_>, Stop>>()?;
    let is_over: Box<dyn Fn() -> bool> = match is_real(args) {
        true => Box::new(signals::is_over()?),
        // A signal then ends this program.
        false => Box::new(|| false),
    };
    let (mut reports, mut answer, mut stop) = (Vec::new(), Answer::Yes, None);
    let mut histories = 0;
    for grids in &all {
        if is_over() {
            let help = "repeat the command; `--resume` skips the runs that are complete";
            stop = stop.or_else(|| Some(Stop::new("interrupted before all scenarios ran", help)));
            break;
        }
        let (series, failed) = Series::run(grids, &is_over, |grid| {
            // The simulator leaves nothing to clean up, and handles no signals.
            signals::end_at_once(grid.bench().name() == Sim.name());
            let ran = match &args.output {
                Some(output) if !is_folder(output) => one(grid, output, args),
                output => kept(grid, output.as_deref(), pictures.as_ref(), args, &mut histories),
            };
            if matches!(ran, Err(Stop::Pipe)) { Err(Stop::Pipe) } else { Ok(ran) }
        })?;
        stop = stop.or(failed);
        if series.is_empty() {
            continue;
        }
        let report = series.report();
        match scenarios.len() > 1 && args.face.json {
            true => out::print_line(&report)?,
            false => args.face.print(&report)?,
        }
        reports.push(report);
        if judged(&series, args) == Answer::No {
            answer = Answer::No;
        }
    }
    let has_page = page.is_some() && !reports.is_empty();
    if let Some((page, pictures)) = page.zip(pictures).filter(|_| !reports.is_empty()) {
        let mut report = wastenot_experiment::together(reports);
        report.pictures = pictures.finish();
        let html = wastenot_view::html(&report);
        page.write(|file| file.write_all(html.as_bytes()))?;
    }
    if let Some(folder) = args.output.as_ref().filter(|it| is_folder(it)) {
        let page = if args.html.is_none() && has_page { " and report.html" } else { "" };
        out::note(&format!("{}: {histories} traces{page} written", folder.display()));
    }
    stop.map_or(Ok(answer), Err)
}

/// All runs of a scenario, on each bench.
fn grids<'s>(
    scenario: &'s Scenario,
    scheduler: Option<Choice>,
    benches: &'s [Box<dyn Bench>],
    args: &Run,
) -> Result<Vec<Grid<'s>>, Stop> {
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
        notes: args.decisions,
        ..Options::default()
    };
    let grid = |bench: &'s dyn Bench| {
        let grid = Grid::new(scenario, bench, &options)?;
        let choices = grid.variants().iter().map(|variant| &variant.scheduler);
        choices.into_iter().try_for_each(|choice| open::safe(choice, &args.under))?;
        Ok(grid)
    };
    benches.iter().map(|it| grid(&**it)).collect()
}

/// The named scenarios; for a directory, all scenarios in it, sorted by name.
fn files(named: &[PathBuf]) -> Result<Vec<PathBuf>, Stop> {
    let mut files = Vec::new();
    for path in named {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let doing = |error| Stop::io(path.display(), &error, "give a scenario (TOML)");
        let entries = std::fs::read_dir(path).map_err(doing)?.flatten().map(|entry| entry.path());
        let is_scenario = |file: &PathBuf| file.extension().is_some_and(|it| it == "toml");
        let mut inside: Vec<PathBuf> = entries.filter(is_scenario).collect();
        if inside.is_empty() {
            let what = format!("{} contains no scenario", path.display());
            let help = "give a directory with scenarios (TOML), such as scenarios/lab";
            return Err(Stop::new(what, help));
        }
        inside.sort();
        files.extend(inside);
    }
    Ok(files)
}

/// Whether a scheduler failed, or is worse than the scheduler before it.
fn judged(series: &Series, args: &Run) -> Answer {
    let mut why = Vec::new();
    if args.fail_if_out_of_band {
        why.extend(series.out_of_band());
    }
    why.extend(series.limited());
    if args.fail_if_worse {
        why.extend(series.worse());
    }
    why.iter().for_each(|it| out::note(it));
    if why.is_empty() && !series.has_fault() { Answer::Yes } else { Answer::No }
}

/// The benches of `--on`: each kernel with its own scheduler, and with each scheduler that a
/// program loads.
fn benches(args: &Run) -> Result<Vec<Box<dyn Bench>>, Stop> {
    if args.scheduler_cmd.iter().any(|it| it.trim().is_empty()) {
        let help = "give a program that loads a scheduler, or a BPF object";
        return Err(Stop::new("--scheduler-cmd is empty", help));
    }
    let commands = commands(&args.scheduler_cmd);
    let is_in_guest = args.on.iter().any(|on| matches!(on, On::Kernel(_)));
    if !commands.is_empty() && !is_in_guest {
        let help = "add `--on 7.2`, or another kernel of version 6.13 or later";
        return Err(Stop::new("--scheduler-cmd works only in a guest", help));
    }
    if args.steps && !(is_in_guest && args.output.is_some()) {
        let help = "use `--on 7.2 --scheduler my.rota --steps -o steps.wn`";
        return Err(Stop::new("--steps needs a policy, a guest and an output file", help));
    }
    if let Some(name) = of_the_simulator(args) {
        let what = format!("{name} is a simulated scheduler, and cannot run in a kernel");
        let help = "leave out --scheduler, add `--on sim`, or give a policy (FILE.rota)";
        return Err(Stop::new(what, help));
    }
    if args.machine.is_some() && args.on.iter().all(|on| *on == On::Host) {
        let help = "leave out --machine, or add `--on sim` or `--on 7.2`";
        return Err(Stop::new("--machine has no effect with --on host", help));
    }
    let mut benches: Vec<Box<dyn Bench>> = Vec::new();
    for on in &args.on {
        match on {
            On::Sim => benches.push(Box::new(Sim)),
            On::Host => benches.push(Box::new(Host::new(signals::is_over()?))),
            On::Kernel(wanted) => {
                let none = (None, Vec::new());
                let commands = || std::iter::once(&none).chain(&commands);
                let each = wanted.shifts.iter().flat_map(|it| commands().map(move |of| (*it, of)));
                for (shift, command) in each {
                    let guests = lab::guests(&wanted.name, shift, command.clone(), args.steps)?;
                    benches.push(Box::new(guests));
                }
            }
        }
    }
    // Two names may mean the same kernel.
    let mut names = HashSet::new();
    benches.retain(|it| names.insert(it.name().to_owned()));
    Ok(benches)
}

/// The scheduler of `--scheduler`, if no bench can run it.
fn of_the_simulator(args: &Run) -> Option<&str> {
    let choice = args.under.scheduler.as_ref().map(|it| &it.0)?;
    let is_model = wastenot_sim::Scheduler::named(&choice.name).is_some();
    (is_model && !args.on.contains(&On::Sim)).then_some(choice.name.as_str())
}

/// The words of each command, and another name for its scheduler if an earlier command has the same
/// file name: `scx_foo.2`.
fn commands(all: &[String]) -> Vec<(Option<String>, Vec<String>)> {
    let mut names: Vec<String> = Vec::new();
    let mut command = |text: &String| {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        let file = Path::new(words.first().map_or("", String::as_str)).file_name();
        let name = file.map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
        let before = names.iter().filter(|it| **it == name).count();
        names.push(name.clone());
        ((before > 0).then(|| format!("{name}.{}", before + 1)), words)
    };
    all.iter().map(&mut command).collect()
}

/// The page to write, if any: the file of `--html`, or `report.html` in the directory of `-o`.
fn page(args: &Run) -> Result<Option<Target>, Stop> {
    let in_folder = args.output.as_ref().filter(|it| is_folder(it) && is_real(args));
    let path = args.html.clone().or_else(|| Some(in_folder?.join("report.html")));
    let Some(path) = path else { return Ok(None) };
    if let Some(folder) = path.parent().filter(|it| !it.as_os_str().is_empty()) {
        let doing = |error| Stop::io(path.display(), &error, "give another path");
        std::fs::create_dir_all(folder).map_err(doing)?;
    }
    super::report::is_page(&path)?;
    Target::new(&path, args.force).map(Some)
}

/// Whether a kernel runs the tasks.
fn is_real(args: &Run) -> bool {
    args.on.iter().any(|on| *on != On::Sim)
}

/// Whether `-o` names a directory for all runs.
fn is_folder(output: &Path) -> bool {
    output.is_dir() || output.as_os_str().as_encoded_bytes().ends_with(b"/")
}

/// Runs the whole grid, writes the History of each run into a directory, and draws pictures.
fn kept(
    grid: &Grid<'_>,
    folder: Option<&Path>,
    pictures: Option<&Pictures>,
    args: &Run,
    histories: &mut usize,
) -> Result<Experiment, Stop> {
    let draw = |variant: &Variant, seed: u64, run: &wastenot_experiment::Run| {
        if let Some(pictures) = pictures.filter(|_| run.is_recorded()) {
            let name = format!("{}, {}, {}", grid.name(), grid.bench().name(), variant.name);
            pictures.add(&name, seed, &run.history);
        }
    };
    let Some(folder) = folder else {
        return progress::of_grid(grid, &|variant, seed, run| {
            draw(variant, seed, run);
            Ok(())
        });
    };
    let doing =
        |error| Stop::io(format_args!("-o {}", folder.display()), &error, "give another path");
    std::fs::create_dir_all(folder).map_err(doing)?;
    let file = |variant: &Variant, seed: u64| folder.join(grid.trace_name(variant, seed) + ".wn");
    // Check the output files before the first run.
    for variant in grid.variants() {
        for &seed in grid.seeds() {
            TraceFile::named("-o", &file(variant, seed), args.force)?;
        }
    }
    let written = AtomicUsize::new(0);
    let write = |variant: &Variant, seed: u64, run: &wastenot_experiment::Run| {
        draw(variant, seed, run);
        if !run.is_recorded() {
            return Ok(());
        }
        written.fetch_add(1, Ordering::Relaxed);
        let kept = TraceFile::named("-o", &file(variant, seed), args.force);
        kept.and_then(|kept| kept.write(&run.history)).map_err(|stop| match stop {
            Stop::Failure { what, help, .. } => Error::Bench { what, help },
            Stop::Pipe => Error::Bench { what: "the pipe is closed".into(), help: String::new() },
        })
    };
    let experiment = progress::of_grid(grid, &write);
    *histories += written.into_inner();
    experiment
}

/// Runs one cell and writes its History.
fn one(grid: &Grid<'_>, output: &Path, args: &Run) -> Result<Experiment, Stop> {
    let kept = TraceFile::named("-o", output, args.force)?;
    if args.on.len() > 1 {
        let help = "use a directory for the traces of all runs: `-o DIR/`";
        return Err(Stop::new(
            "-o writes the trace of one run, but --on is given more than once",
            help,
        ));
    }
    let [variant] = grid.variants() else {
        let names: Vec<&str> = grid.variants().iter().map(|it| it.name.as_str()).collect();
        let what =
            format!("-o writes the trace of one run, but there are {} variants", names.len());
        return Err(Stop::new(what, format!("select one with `--variant`: {}", names.join(", "))));
    };
    let [_] = grid.seeds() else {
        let what =
            format!("-o writes the trace of one run, but there are {} seeds", grid.seeds().len());
        return Err(Stop::new(what, "select one with `--seed 1`"));
    };
    let what = format!("{} {}", grid.bench().doing(), variant.name);
    let simulate = || grid.run_first();
    let (experiment, run) = progress::during(&what, simulate)?;
    kept.write(&run.history)?;
    Ok(experiment)
}

/// A scenario of one task that runs a command.
fn of_command(args: &Run) -> Result<Scenario, Stop> {
    if let Some(setting) = args.set.first() {
        let what = format!("--set {}: the scenario of a command has no such key", setting.name);
        return Err(Stop::new(
            what,
            "write a scenario with a task that has the step `run COMMAND`",
        ));
    }
    let choice = open::scheduler(&args.under)?;
    let machine = args.machine.as_deref().unwrap_or(USUAL_MACHINE);
    let machine = open::machine("--machine", machine)?;
    Ok(scenario::of_command(args.command.clone(), machine, choice.unwrap_or_else(usual)))
}

/// The scenario to run, and the scheduler that replaces its own schedulers.
fn read(file: &Path, args: &Run) -> Result<(Scenario, Option<Choice>), Stop> {
    let help = "give a scenario (TOML); examples: scenarios/, format: docs/reference/scenario.md";
    let (name, text) = open::text(file, help)?;
    let choice = open::scheduler(&args.under)?;
    let machine = args.machine.as_deref();
    let machine = machine.map(|text| open::machine("--machine", text)).transpose()?;
    let instead = Instead { set: args.set.clone(), machine };
    Ok(wastenot_experiment::given(&name, &text, instead, choice)?)
}
