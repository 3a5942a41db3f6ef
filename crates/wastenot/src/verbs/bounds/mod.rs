//! `wastenot bounds`: whether deadlines hold, why not, and what would help.

mod calibrate;
mod measure;
mod outcome;
mod overheads;
mod report;
mod simulated;
mod sweep;

use wastenot_bounds::verdict::Verdict;
use wastenot_model::sporadic::TaskSet;
use wastenot_scenario::task_set;

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
    let dedicated = args.implementation.dedicated();
    if args.cpus <= dedicated {
        let what = format!("{} leaves no CPU for tasks", args.implementation.name());
        return Err(Stop::new(what, "it needs `--cpus 2` or more, or take another implementation"));
    }
    let measured = args.overheads.as_deref().map(Measured::read).transpose()?;
    let name = open::shown(&args.file);
    let tasks = tasks(args, &name)?;
    let asked = Asked::of(args, measured.as_ref())?;
    if let Some(measured) = &measured
        && let Some(beyond) = asked.beyond(&tasks).filter(|_| !args.extrapolate)
    {
        let what = format!("{}: {}", measured.name, overheads::words(&beyond));
        return Err(Stop::new(what, overheads::help(&beyond)));
    }
    let outcome = progress::during(&format!("judging {name}"), || Outcome::of(&tasks, &asked));
    let report = report::report(&name, &tasks, &asked, &outcome);
    match target {
        None => print(&report, &args.face)?,
        Some(target) => {
            let page = wastenot_draw::html(&report, &[]);
            target.write(|file| file.write_all(page.as_bytes()))?;
            if target.is_file() {
                let shown = target.path().display();
                out::print(&format!("{}\n\nReport: {shown}\n", report.verdict))?;
            }
        }
    }
    Ok(match outcome.verdict() {
        Verdict::Schedulable(_) => Answer::Yes,
        Verdict::Unschedulable(_) => Answer::No,
        Verdict::Unknown => Answer::CannotTell,
    })
}

fn tasks(args: &Test, name: &str) -> Result<TaskSet, Stop> {
    let read = task_set::read(name, open::table(&args.file, "`... | wastenot bounds - --cpus 4`")?);
    read.map_err(|error| Stop::new(&error, error.help()))
}
