//! `wastenot bounds`: whether deadlines hold, why not, and what would help.

mod calibrate;
mod clusters;
mod measure;
mod outcome;
mod overheads;
mod report;
mod simulated;
mod sweep;

use wastenot_bounds::overheads::Beyond;
use wastenot_bounds::verdict::Verdict;
use wastenot_model::sporadic::TaskSet;
use wastenot_scenario::task_set;

use self::clusters::Division;
use self::outcome::{Asked, Outcome};
use self::overheads::Measured;
use super::check::print;
use super::report::is_page;
use crate::args::bounds::{Bounds, Test, What};
use crate::fail::{Answer, Stop};
use crate::out::Target;
use crate::{open, out, progress};

/// Judges a task set, or many, or looks at what schedulers cost.
pub(crate) fn run(args: &Bounds) -> Result<Answer, Stop> {
    match (&args.what, &args.test) {
        (Some(What::Sweep(args)), _) => sweep::run(args),
        (Some(What::Overheads(args)), _) => simulated::run(args),
        (Some(What::Measure(args)), _) => measure::run(args),
        (Some(What::Calibrate(args)), _) => calibrate::run(args),
        (None, Some(args)) => test(args),
        (None, None) => {
            Err(Stop::new("bounds needs a task set", "`wastenot bounds tasks.csv --cpus 4`"))
        }
    }
}

fn test(args: &Test) -> Result<Answer, Stop> {
    let target = args.output.as_ref().map(|path| {
        is_page(path)?;
        Target::new(path, args.force)
    });
    let target = target.transpose()?;
    let cpus = together(args)?;
    let measured = args.overheads.as_deref().map(Measured::read).transpose()?;
    let name = open::shown(&args.file);
    let tasks = tasks(args, &name)?;
    let asked = Asked::of(args, cpus, measured.as_ref())?;
    let is_measured = |beyond: Option<(String, Beyond)>| match (&measured, beyond) {
        (Some(measured), Some((words, beyond))) if !args.extrapolate => {
            Err(Stop::new(format!("{}: {words}", measured.name), overheads::help(&beyond)))
        }
        _ => Ok(()),
    };
    let judging = format!("judging {name}");
    let (verdict, report) = match args.cluster {
        None => {
            is_measured(asked.beyond(&tasks).map(|it| (overheads::words(&it), it)))?;
            let outcome = progress::during(&judging, || Outcome::of(&tasks, &asked));
            (outcome.verdict(), report::report(&name, &tasks, &asked, &outcome))
        }
        Some(_) => {
            let of = || Division::of(&tasks, args.cpus / cpus, &asked, args.extrapolate);
            let division = progress::during(&judging, of);
            let beyond = division.beyond(&asked);
            is_measured(beyond.map(|(n, it)| (clusters::place(n, &it, &asked), it)))?;
            (division.verdict(), clusters::report(&name, &tasks, &asked, &division))
        }
    };
    match target {
        None => print(&report, &args.face)?,
        Some(target) => {
            let page = wastenot_draw::html(&report);
            target.write(|file| file.write_all(page.as_bytes()))?;
            if target.is_file() {
                let shown = target.path().display();
                out::print(&format!("{}\n\nReport: {shown}\n", report.verdict))?;
            }
        }
    }
    Ok(match verdict {
        Verdict::Schedulable(_) => Answer::Yes,
        Verdict::Unschedulable(_) => Answer::No,
        Verdict::Unknown => Answer::CannotTell,
    })
}

/// How many CPUs schedule together: all, or those of a cluster.
fn together(args: &Test) -> Result<u32, Stop> {
    let cpus = args.cluster.unwrap_or(args.cpus);
    if !args.cpus.is_multiple_of(cpus) {
        let what = format!("{} CPUs cannot be divided into clusters of {cpus}", args.cpus);
        return Err(Stop::new(what, "`--cluster` must divide `--cpus`"));
    }
    if cpus <= args.implementation.dedicated() {
        let what = format!("{} leaves no CPU for tasks", args.implementation.name());
        let help = match args.cluster {
            None => "use `--cpus 2` or more, or another implementation",
            Some(_) => "use `--cluster 2` or more, or another implementation",
        };
        return Err(Stop::new(what, help));
    }
    Ok(cpus)
}

fn tasks(args: &Test, name: &str) -> Result<TaskSet, Stop> {
    let read = task_set::read(name, open::table(&args.file, "`... | wastenot bounds - --cpus 4`")?);
    read.map_err(|error| Stop::new(&error, error.help()))
}
