//! `wastenot hunt`: a search for what a scheduler does badly.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, path};

use wastenot_check::Options;
use wastenot_experiment::{Bench, Error, Sim};
use wastenot_export::picture::{self, Look};
use wastenot_hunt::finding::{Finding, SEEDS};
use wastenot_hunt::genome::{LIMIT, is_real_time};
use wastenot_hunt::oracle::{Kind, Promise};
use wastenot_hunt::search::{Outcome, Progress, Question, search};
use wastenot_hunt::trial::{self, Seen};
use wastenot_model::{History, Time};
use wastenot_scenario::scenario::Choice;
use wastenot_store::Store;

use super::check::print;
use super::convert::Kept;
use super::prove::quoted;
use super::run::failed;
use crate::args::hunt::Hunt;
use crate::fail::{Answer, Stop};
use crate::out::Target;
use crate::{open, progress};

/// Hunts, and writes what was found.
pub(crate) fn run(args: &Hunt) -> Result<Answer, Stop> {
    let choice = open::scheduler(&args.under)?.ok_or_else(|| {
        Stop::new("no scheduler given", "name one: `wastenot hunt --scheduler cfs-4.1`")
    })?;
    let folder = folder(args)?;
    let store = args.resume.as_deref().map(Store::<Seen>::open).transpose();
    let store = store.map_err(|error| failed(&Error::Store(error)))?;
    let against = args.against.as_ref().map(|it| open::another(it, &args.under)).transpose()?;
    if let Some(other) = &against {
        comparable(&choice, other)?;
    }
    let question = Question {
        choice,
        against,
        seed: args.seed,
        trials: args.trials.unwrap_or(u64::MAX),
        findings: args.findings.unwrap_or(usize::MAX),
        cause: args.cause.map(str::to_owned),
    };
    let (begin, long) = (Instant::now(), Duration::from_nanos(args.long.0));
    let is_over = || args.trials.is_none() && begin.elapsed() >= long;
    let live = progress::Live::new(true);
    let outcome = search(&question, store.as_ref(), &is_over, &|at| live.say(|| words(at)));
    drop(live);
    let outcome = outcome.map_err(|error| failed(&error))?;
    let mut report = outcome.report(&question);
    if let Some(folder) = folder {
        let choice = Promise::of(question.choice, None).choice;
        let files = write(&outcome, &choice, folder)?;
        let first = files.first().and_then(|file| quoted(file));
        report.next = first.map(|file| format!("wastenot run {file}"));
    }
    print(&report, &args.face)?;
    Ok(if outcome.shrunk.is_empty() { Answer::Yes } else { Answer::No })
}

/// Refuses to hold schedulers of sporadic tasks against those of threads.
fn comparable(one: &Choice, other: &Choice) -> Result<(), Stop> {
    let (jobs, threads) = match (is_real_time(one), is_real_time(other)) {
        (true, false) => (one, other),
        (false, true) => (other, one),
        _ => return Ok(()),
    };
    let what = format!("{} is a real-time scheduler, and {} is not", jobs.name, threads.name);
    Err(Stop::new(what, "name two of either: `wastenot list schedulers` has them"))
}

fn words(at: Progress) -> String {
    let Progress { trials, found, found_at_random, shrinks } = at;
    match shrinks {
        true => format!("{trials} trials, shrinking {found} findings"),
        false => format!("{trials} trials, causes found: {found}, at random {found_at_random}"),
    }
}

/// The folder of the findings: it is empty, or may be written over.
fn folder(args: &Hunt) -> Result<Option<&Path>, Stop> {
    let Some(folder) = args.output.as_deref() else { return Ok(None) };
    let doing = |error| Stop::io(format_args!("-o {}", folder.display()), &error, "name another");
    fs::create_dir_all(folder).map_err(doing)?;
    let is_empty = fs::read_dir(folder).map_err(doing)?.next().is_none();
    if !is_empty && !args.force {
        let what = format!("{} is not empty", folder.display());
        return Err(Stop::new(what, "add `--force` to write over its files, or name another"));
    }
    Ok(Some(folder))
}

/// Writes each finding: the scenario, what it did with its first seed, and a picture of that. Gives
/// the scenarios.
fn write(outcome: &Outcome, choice: &Choice, folder: &Path) -> Result<Vec<PathBuf>, Stop> {
    let mut choice = choice.clone();
    if choice.text.is_some() {
        // The scenario lies elsewhere.
        let policy = path::absolute(&choice.name);
        choice.name = policy.map_or(choice.name, |it| it.display().to_string());
    }
    let write = |finding: &Finding| {
        let file = folder.join(format!("{}.toml", finding.name()));
        let text = finding.text(&choice);
        Target::new(&file, true)?.write(|to| to.write_all(text.as_bytes()))?;
        // A run that never ends has no History.
        if finding.kind != Kind::Hangs {
            let history = history(finding, &choice)?;
            Kept::named("-o", &file.with_extension("wn"), true)?.write(&history)?;
            let options = Options { marks: true, ..Options::default() };
            let check = wastenot_check::check(&history, &options);
            let (look, marks) = (Look::of(&history), picture::found(&check));
            let scene = picture::scene(picture::Picture::Cores, &history, &look, &marks);
            let svg = scene.svg();
            let target = Target::new(&file.with_extension("svg"), true)?;
            target.write(|to| to.write_all(svg.as_bytes()))?;
        }
        Ok(file)
    };
    outcome.shrunk.iter().map(write).collect()
}

/// What a finding does with its first seed.
fn history(finding: &Finding, choice: &Choice) -> Result<History, Stop> {
    let variant = trial::variant(&finding.genome, choice);
    let variant = variant.map_err(|error| Stop::new(&error, error.help()))?;
    let options = wastenot_sim::Options {
        name: finding.name().to_owned(),
        seed: SEEDS[0],
        limit: Time(LIMIT.0),
        notes: true,
    };
    let run = Sim.run(&variant, &options).map_err(|error| failed(&error))?;
    Ok(run.history)
}
