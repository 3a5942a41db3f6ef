//! `wastenot hunt`: searches for workloads that a scheduler handles badly.

use std::cell::RefCell;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, path};

use crate::export::picture::{self, Look};
use crate::verbs::trace_file::TraceFile;
use wastenot_check::Options;
use wastenot_experiment::{Bench, Error, Sim, is_unsafe};
use wastenot_host::store::Store;
use wastenot_hunt::finding::{Control, Finding, SEEDS};
use wastenot_hunt::genome::is_real_time;
use wastenot_hunt::oracle::{HANG, LATE, Promise};
use wastenot_hunt::search::{Hooks, Progress, Question, search};
use wastenot_hunt::trial::{self, Notes, Seen};
use wastenot_model::History;
use wastenot_scenario::scenario::Choice;

use crate::args::hunt::Hunt;
use crate::fail::{Answer, Stop};
use crate::out::{self, Target};
use crate::{open, progress};

/// Hunts, and writes the findings.
pub(crate) fn run(args: &Hunt) -> Result<Answer, Stop> {
    let choice = open::scheduler(&args.under)?.ok_or_else(|| {
        Stop::new("`hunt` needs a scheduler", "give one: `wastenot hunt --scheduler cfs-4.1`")
    })?;
    let folder = folder(args)?;
    let store = args.resume.as_deref().map(Store::<Seen>::open).transpose()?;
    let against = args.against.as_ref().map(|it| open::another(it, &args.under)).transpose()?;
    if let Some(other) = &against {
        comparable(&choice, other)?;
    }
    args.cause.map_or(Ok(()), |cause| is_asked(cause, &choice))?;
    let written = folder.map(|(folder, force)| Written::new(folder, force, &choice));
    let question = Question {
        choice,
        against,
        seed: args.seed,
        trials: args.trials.unwrap_or(u64::MAX),
        findings: args.findings.map_or(usize::MAX, |it| it as usize),
        cause: args.cause.map(str::to_owned),
        both: false,
    };
    let (begin, long) = (Instant::now(), Duration::from_nanos(args.long.0));
    let live = progress::Live::new(true);
    let hooks = Hooks {
        look: &trial::look,
        is_over: &|| args.trials.is_none() && begin.elapsed() >= long,
        progress: &|at| live.say(|| words(at)),
        // Write each finding at once, because the hunt may end before all are shrunk.
        found: &|finding| written.iter().for_each(|it| it.take(finding)),
    };
    let outcome = search(&question, store.as_ref(), &hooks);
    drop(live);
    let outcome = outcome?;
    let mut report = outcome.report(&question);
    if let Some((written, first)) = written.as_ref().zip(outcome.shrunk.first()) {
        let file = written.file(first);
        let allow = if is_unsafe(&question.choice) { " --allow-unsafe" } else { "" };
        report.next = out::quoted(&file).map(|file| format!("wastenot run {file}{allow}"));
    }
    args.face.print(&report)?;
    written.map_or(Ok(()), |it| it.failed.into_inner().map_or(Ok(()), Err))?;
    Ok(if outcome.shrunk.is_empty() { Answer::Yes } else { Answer::No })
}

/// Refuses a cause that `hunt` does not check for this scheduler.
fn is_asked(cause: &str, choice: &Choice) -> Result<(), Stop> {
    let what = match (is_real_time(choice), cause) {
        (false, LATE) => {
            format!("{} is not a real-time scheduler, so jobs have no deadlines", choice.name)
        }
        (true, LATE | HANG) | (false, _) => return Ok(()),
        (true, _) => {
            let name = &choice.name;
            format!("{name} is a real-time scheduler: `hunt` does not check it for {cause}")
        }
    };
    let help = "give `--cause deadline` or `--cause hang` for real-time schedulers, and other \
                causes for all other schedulers";
    Err(Stop::new(what, help))
}

/// Refuses to compare a real-time scheduler with another one, or a scheduler with itself.
fn comparable(one: &Choice, other: &Choice) -> Result<(), Stop> {
    let (jobs, threads) = match (is_real_time(one), is_real_time(other)) {
        (true, false) => (one, other),
        (false, true) => (other, one),
        _ if one == other => {
            let what = "--against names the same scheduler as --scheduler";
            return Err(Stop::new(what, "give another scheduler, or other tunables"));
        }
        _ => return Ok(()),
    };
    let what = format!("{} is a real-time scheduler, and {} is not", jobs.name, threads.name);
    let help = "give two real-time schedulers, or two other schedulers: `wastenot list schedulers`";
    Err(Stop::new(what, help))
}

fn words(at: Progress) -> String {
    let Progress { trials, found, found_at_random, shrinks } = at;
    match shrinks {
        true => format!("{trials} trials, shrinking {found} findings"),
        false => format!(
            "{trials} trials; causes found by the search: {found}; causes found by random trials: \
             {found_at_random}"
        ),
    }
}

/// The directory of the findings, and whether its files may be overwritten. A directory with files
/// may contain findings of the same hunt before it was interrupted.
fn folder(args: &Hunt) -> Result<Option<(&Path, bool)>, Stop> {
    let Some(folder) = args.output.as_deref() else { return Ok(None) };
    let help = "give another directory";
    let doing = |error| Stop::io(format_args!("-o {}", folder.display()), &error, help);
    fs::create_dir_all(folder).map_err(doing)?;
    let is_empty = fs::read_dir(folder).map_err(doing)?.next().is_none();
    if !is_empty && !args.force && args.resume.is_none() {
        let what = format!("{} is not empty", folder.display());
        let help = "overwrite its files with `--force`, or give another directory";
        return Err(Stop::new(what, help));
    }
    // A hunt takes long, so check first that the directory is writable.
    tempfile::tempfile_in(folder).map_err(doing)?;
    Ok(Some((folder, is_empty || args.force)))
}

/// Writes findings as they are found.
struct Written<'f> {
    folder: &'f Path,
    /// With `--force`, the hunt overwrites files.
    force: bool,
    /// The scheduler as it runs, and with the paths that a scenario in the directory needs.
    choice: Choice,
    named: Choice,
    /// The first error of writing a finding.
    failed: RefCell<Option<Stop>>,
}

impl<'f> Written<'f> {
    fn new(folder: &'f Path, force: bool, choice: &Choice) -> Written<'f> {
        let choice = Promise::of(choice.clone(), None).choice;
        let mut named = choice.clone();
        let profile = named.tunables.iter_mut().filter(|(name, _)| name == "profile");
        let files = profile.map(|(_, value)| value).filter(|value| value.ends_with(".toml"));
        let policy = Some(&mut named.name).filter(|_| choice.text.is_some());
        files.chain(policy).for_each(|file| *file = from(folder, file));
        Written { folder, force, choice, named, failed: RefCell::new(None) }
    }

    fn file(&self, finding: &Finding) -> PathBuf {
        self.folder.join(format!("{}.toml", finding.name()))
    }

    fn take(&self, finding: &Finding) {
        if let Err(stop) = self.write(finding) {
            self.failed.borrow_mut().get_or_insert(stop);
        }
    }

    /// Writes the scenario, the trace of its first seed, and a picture of this trace.
    fn write(&self, finding: &Finding) -> Result<(), Stop> {
        let (file, mut finding) = (self.file(finding), finding.clone());
        let text = {
            if let Control::Other(other) = &mut finding.control
                && other.text.is_some()
            {
                other.name = from(self.folder, &other.name);
            }
            finding.text(&self.named, finding.name())
        };
        // A resumed hunt writes the same files again.
        let force = self.force || fs::read(&file).is_ok_and(|it| it == text.as_bytes());
        Target::new(&file, force)?.write(|to| to.write_all(text.as_bytes()))?;
        // A run that never ends has no History.
        let Some(history) = history(&finding, &self.choice)? else { return Ok(()) };
        TraceFile::named("-o", &file.with_extension("wn"), force)?.write(&history)?;
        let options = Options { marks: true, ..Options::default() };
        let check = wastenot_check::check(&history, &options);
        let (look, marks) = (Look::of(&history), picture::found(&check));
        let scene = picture::scene(picture::Picture::Cores, &history, &look, &marks);
        let svg = scene.svg();
        let target = Target::new(&file.with_extension("svg"), force)?;
        target.write(|to| to.write_all(svg.as_bytes()))
    }
}

/// The path of a file for a scenario in `folder`: relative to `folder` if both are below the
/// working directory.
fn from(folder: &Path, file: &str) -> String {
    let is_below = |path: &Path| path.components().all(|it| matches!(it, Component::Normal(_)));
    if is_below(folder) && is_below(Path::new(file)) {
        return "../".repeat(folder.components().count()) + file;
    }
    path::absolute(file).map_or_else(|_| file.to_owned(), |it| it.display().to_string())
}

/// The History of a finding with its first seed, if the run ends.
fn history(finding: &Finding, choice: &Choice) -> Result<Option<History>, Stop> {
    let variant = trial::variant(&finding.genome, choice)?;
    match Sim.run(&variant, &trial::options(finding.name(), SEEDS[0], Notes::Decisions)) {
        Ok(run) => Ok(Some(run.history)),
        Err(Error::Run { .. } | Error::Wrong { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_names_a_policy_by_the_way_from_its_folder() {
        assert_eq!(from(Path::new("found/a"), "policies/x.rota"), "../../policies/x.rota");
        assert_eq!(from(Path::new("/tmp/found"), "/p/x.rota"), "/p/x.rota");
        assert!(from(Path::new("/tmp/found"), "x.rota").starts_with('/'));
    }
}
