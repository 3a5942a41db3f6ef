//! `wastenot run`: runs scenarios, simulated and on kernels.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::export::page;
use crate::export::picture::Look;
use wastenot_experiment::{Bench, Change, Error, Experiment, Grid, Keep, Options, Sim, compared};
use wastenot_lab::Host;
use wastenot_model::{History, Picture, Report, Unit};
use wastenot_scenario::Scenario;
use wastenot_scenario::scenario::{self, Choice, Instead, Setting, Variant};

use super::check::print;
use super::convert::Kept;
use super::{lab, signals};
use crate::args::run::{On, Run};
use crate::fail::{Answer, Stop};
use crate::out::{self, Target};
use crate::{open, progress};

/// The default scheduler for rt-app files and commands: that of a current Linux.
const USUAL_SCHEDULER: &str = "eevdf-6.12";
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
        let what = format!("-o writes one run, but there are {} scenarios", files.len());
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
        let help = "leave the option out, or add a figure with a band (docs/reference/scenario.md)";
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
        true => Box::new(lab::is_over()?),
        // A signal then ends this program.
        false => Box::new(|| false),
    };
    let (mut reports, mut answer, mut stop) = (Vec::new(), Answer::Yes, None);
    let mut histories = 0;
    for ((scenario, _), grids) in scenarios.iter().zip(all) {
        if is_over() {
            let help = "repeat the command; `--resume` skips the runs that are complete";
            stop = stop.or_else(|| Some(Stop::new("interrupted before all scenarios ran", help)));
            break;
        }
        let ran = scenario_on(&scenario.name, grids, pictures.as_ref(), &is_over, args)?;
        stop = stop.or(ran.stop);
        histories += ran.histories;
        if ran.experiments.is_empty() {
            continue;
        }
        let pairs = pairs(&benches, &ran.experiments);
        let report = wastenot_experiment::report_with(&ran.experiments, &pairs);
        match scenarios.len() > 1 && args.face.json {
            true => out::print_line(&report)?,
            false => print(&report, &args.face)?,
        }
        reports.push(report);
        if judged(&ran.experiments, &pairs, args) == Answer::No {
            answer = Answer::No;
        }
    }
    let has_page = page.is_some() && !reports.is_empty();
    if let Some((page, pictures)) = page.zip(pictures).filter(|_| !reports.is_empty()) {
        let mut report = together(reports);
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

/// The result of a scenario.
#[derive(Default)]
struct Ran {
    experiments: Vec<Experiment>,
    /// The error of a bench that gave no result.
    stop: Option<Stop>,
    /// The number of traces that were written into the directory of `-o`.
    histories: usize,
}

/// All runs of a scenario, on each bench.
fn grids<'s>(
    scenario: &'s Scenario,
    scheduler: Option<Choice>,
    benches: &'s [Under],
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
    let grid = |of: &'s Under| {
        let grid = Grid::new(scenario, &*of.bench, &options)?;
        let choices = grid.variants().iter().map(|variant| &variant.scheduler);
        choices.into_iter().try_for_each(|choice| open::safe(choice, &args.under))?;
        Ok(grid)
    };
    benches.iter().map(grid).collect()
}

/// Runs a scenario on every bench. Results are reported even if another bench failed.
fn scenario_on(
    name: &str,
    grids: Vec<Grid<'_>>,
    pictures: Option<&Pictures>,
    is_over: &dyn Fn() -> bool,
    args: &Run,
) -> Result<Ran, Stop> {
    let mut ran = Ran::default();
    let are_several = grids.len() > 1;
    for grid in grids {
        // The simulator leaves nothing to clean up, and handles no signals.
        signals::end_at_once(grid.bench().name() == Sim.name());
        let experiment = match &args.output {
            Some(output) if !is_folder(output) => one(&grid, output, args),
            output => kept(name, grid, output.as_deref(), pictures, args, &mut ran.histories),
        };
        match experiment {
            Ok(experiment) => ran.experiments.push(experiment),
            Err(why) if are_several && !matches!(why, Stop::Pipe) => {
                ran.stop = ran.stop.or(Some(why));
                if is_over() {
                    break;
                }
            }
            Err(why) => return Err(why),
        }
    }
    Ok(ran)
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

/// Several reports as one page.
fn together(mut reports: Vec<Report>) -> Report {
    if reports.len() == 1 {
        return reports.remove(0);
    }
    let mut all = Report::new("run/1", format!("{} scenarios", reports.len()));
    for report in reports {
        let name = report.get("scenario").map_or_else(String::new, |it| it.show(Unit::None));
        all.verdict += &format!("{name}: {} ", report.verdict);
        all.tables.extend(report.tables.into_iter().map(|mut table| {
            table.title = format!("{name}: {}", table.title);
            table
        }));
        let new = report.assumptions.into_iter().filter(|it| !all.assumptions.contains(it));
        let new: Vec<String> = new.collect();
        all.assumptions.extend(new);
    }
    all
}

/// Whether a scheduler failed, or is worse than the scheduler before it.
fn judged(experiments: &[Experiment], pairs: &[(usize, usize)], args: &Run) -> Answer {
    let mut answer = Answer::Yes;
    if experiments.iter().any(Experiment::has_fault) {
        answer = Answer::No;
    }
    if args.fail_if_out_of_band {
        let figures = experiments.iter().flat_map(|it| &it.figures);
        for it in figures.filter(|it| it.figure.band.is_some() && it.in_band() != Some(true)) {
            let is = if it.value.is_some() { "is out of its band" } else { "is unknown" };
            out::note(&format!("figure `{}` {is}", it.figure.name));
            answer = Answer::No;
        }
    }
    for &(before, after) in pairs {
        if experiments[after].is_limited() && !experiments[before].is_limited() {
            let bench = &experiments[after].bench;
            let before = &experiments[before].bench;
            out::note(&format!("{bench}: a run reached the limit, but not under {before}"));
            answer = Answer::No;
        }
    }
    for &(before, after) in pairs.iter().filter(|_| args.fail_if_worse) {
        for it in compared(&experiments[before], &experiments[after]) {
            if it.change == Change::Worse {
                out::note(&format!("worse on {}: {}", it.benches[1], it.sentence()));
                answer = Answer::No;
            }
        }
    }
    answer
}

/// The pairs of experiments to compare: each scheduler that a program loads, with the scheduler
/// before it in the same kernel.
fn pairs(benches: &[Under], experiments: &[Experiment]) -> Vec<(usize, usize)> {
    let place = |it: &Under| experiments.iter().position(|of| of.bench == it.bench.name());
    let pairs = benches.windows(2).filter(|it| it[1].is_loaded);
    pairs.filter_map(|it| place(&it[0]).zip(place(&it[1]))).collect()
}

/// The benches of `--on`: each kernel with its own scheduler, and with each scheduler that a
/// program loads.
fn benches(args: &Run) -> Result<Vec<Under>, Stop> {
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
        return Err(Stop::new("--steps works only with a policy in a guest, and with -o", help));
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
    let mut benches: Vec<Under> = Vec::new();
    let own = |bench: Box<dyn Bench>| Under { bench, is_loaded: false };
    for on in &args.on {
        match on {
            On::Sim => benches.push(own(Box::new(Sim))),
            On::Host => benches.push(own(Box::new(Host::new(lab::is_over()?)))),
            On::Kernel(wanted) => {
                let none = (None, Vec::new());
                let commands = || std::iter::once(&none).chain(&commands);
                let each = wanted.shifts.iter().flat_map(|it| commands().map(move |of| (*it, of)));
                for (shift, command) in each {
                    let is_loaded = !command.1.is_empty();
                    let (name, command) = (&wanted.name, command.clone());
                    let bench = Box::new(lab::guests(name, shift, command, args.steps)?);
                    benches.push(Under { bench, is_loaded });
                }
            }
        }
    }
    // Two names may mean the same kernel.
    let mut names = HashSet::new();
    benches.retain(|it| names.insert(it.bench.name().to_owned()));
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

/// A bench, and whether a program loads its scheduler.
struct Under {
    bench: Box<dyn Bench>,
    is_loaded: bool,
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

/// A picture of the first run of each variant on each bench.
#[derive(Default)]
struct Pictures(Mutex<Vec<(String, Picture)>>);

impl Pictures {
    /// The largest number of pictures: a page with hundreds opens slowly.
    const MOST: usize = 24;

    /// Adds a picture of a run, unless a picture with this name exists.
    fn add(&self, name: &str, seed: u64, history: &History) {
        let has = |all: &[(String, Picture)]| {
            all.len() == Pictures::MOST || all.iter().any(|(known, _)| known == name)
        };
        if has(&self.0.lock().unwrap_or_else(PoisonError::into_inner)) {
            return;
        }
        let options = wastenot_check::Options { marks: true, ..Default::default() };
        let found = wastenot_check::check(history, &options);
        let mut drawn = page::cores(history, &found, &Look::of(history));
        drawn.title = format!("Tasks on each CPU: {name}, seed {seed}");
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !has(&all) {
            all.push((name.to_owned(), drawn));
        }
    }

    fn finish(self) -> Vec<Picture> {
        let all = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        all.into_iter().map(|(_, picture)| picture).collect()
    }
}

/// Whether `-o` names a directory for all runs.
fn is_folder(output: &Path) -> bool {
    output.is_dir() || output.as_os_str().as_encoded_bytes().ends_with(b"/")
}

/// Runs the whole grid, and passes each run to `keep`.
pub(super) fn all(name: &str, grid: Grid<'_>, keep: &Keep<'_>) -> Result<Experiment, Stop> {
    let (cells, what) = (grid.len(), format!("{} {name}", grid.bench().doing()));
    Ok(progress::counting(&what, cells, |done| grid.run_and_keep(done, keep))?)
}

/// Runs the whole grid, writes the History of each run into a directory, and draws pictures.
fn kept(
    name: &str,
    grid: Grid<'_>,
    folder: Option<&Path>,
    pictures: Option<&Pictures>,
    args: &Run,
    histories: &mut usize,
) -> Result<Experiment, Stop> {
    let bench = grid.bench().name().to_owned();
    let draw = |variant: &Variant, seed: u64, run: &wastenot_experiment::Run| {
        if let Some(pictures) = pictures.filter(|_| run.is_recorded()) {
            pictures.add(&format!("{name}, {bench}, {}", variant.name), seed, &run.history);
        }
    };
    let Some(folder) = folder else {
        return all(name, grid, &|variant, seed, run| {
            draw(variant, seed, run);
            Ok(())
        });
    };
    let doing =
        |error| Stop::io(format_args!("-o {}", folder.display()), &error, "give another path");
    std::fs::create_dir_all(folder).map_err(doing)?;
    let file = |variant: &str, seed: u64| {
        let name = format!("{name} {variant} {bench} {seed}");
        let usual = |letter: char| {
            if letter.is_alphanumeric() || ".=+".contains(letter) { letter } else { '-' }
        };
        folder.join(name.chars().map(usual).collect::<String>() + ".wn")
    };
    // Check the output files before the first run.
    for variant in grid.variants() {
        for &seed in grid.seeds() {
            Kept::named("-o", &file(&variant.name, seed), args.force)?;
        }
    }
    let written = AtomicUsize::new(0);
    let write = |variant: &Variant, seed: u64, run: &wastenot_experiment::Run| {
        draw(variant, seed, run);
        if !run.is_recorded() {
            return Ok(());
        }
        written.fetch_add(1, Ordering::Relaxed);
        let kept = Kept::named("-o", &file(&variant.name, seed), args.force);
        kept.and_then(|kept| kept.write(&run.history)).map_err(|stop| match stop {
            Stop::Failure { what, help, .. } => Error::Bench { what, help },
            Stop::Pipe => Error::Bench { what: "the pipe is closed".into(), help: String::new() },
        })
    };
    let experiment = all(name, grid, &write);
    *histories += written.into_inner();
    experiment
}

/// Runs one cell and writes its History.
fn one(grid: &Grid<'_>, output: &Path, args: &Run) -> Result<Experiment, Stop> {
    let kept = Kept::named("-o", output, args.force)?;
    if args.on.len() > 1 {
        let help = "use a directory for the traces of all runs: `-o DIR/`";
        return Err(Stop::new("-o writes one run, but there is more than one --on", help));
    }
    let [variant] = grid.variants() else {
        let names: Vec<&str> = grid.variants().iter().map(|it| it.name.as_str()).collect();
        let what = format!("-o writes one run, but there are {} variants", names.len());
        return Err(Stop::new(what, format!("select one with `--variant`: {}", names.join(", "))));
    };
    let [_] = grid.seeds() else {
        let what = format!("-o writes one run, but there are {} seeds", grid.seeds().len());
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
        let what = format!("--set {}: a command has no such key", setting.0);
        return Err(Stop::new(
            what,
            "write a scenario with a task that has the step `run COMMAND`",
        ));
    }
    let choice = open::scheduler(&args.under)?;
    let usual = || Choice::named(USUAL_SCHEDULER);
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
    if wastenot_scenario::is_rtapp(&name, &text) {
        if let Some(setting) = args.set.first() {
            let what = format!("--set {}: an rt-app file has no such key", setting.0);
            let help =
                "use --machine or --scheduler, or write a scenario (docs/reference/scenario.md)";
            return Err(Stop::new(what, help));
        }
        let read = wastenot_scenario::from_rtapp(&name, &text, machine)?;
        let usual = || Choice::named(USUAL_SCHEDULER);
        return Ok((read.scenario(choice.unwrap_or_else(usual)), None));
    }
    let set = args.set.iter().cloned();
    let set = set.map(|setting| Setting { name: setting.0, value: setting.1 }).collect();
    let instead = Instead { set, machine };
    Ok((wastenot_experiment::scenario_with(&name, &text, &instead)?, choice))
}
