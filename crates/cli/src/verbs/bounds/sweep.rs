//! `wastenot bounds sweep`: computes the share of random task sets that are schedulable.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use wastenot_bounds::overheads::Overheads;
use wastenot_model::Report;
use wastenot_model::report::Unit;
use wastenot_realtime::Error;
use wastenot_realtime::overheads::Measured;
use wastenot_realtime::sweep::{NAMES, Outcome, Plan, Swept, Wanted, Working};
use wastenot_scenario::sweep::{Sweep, sweep};

use super::overheads;
use crate::args::bounds::Sweep as Args;
use crate::fail::{Answer, Stop};
use crate::out::Target;
use crate::{open, progress};

/// Computes a sweep, or its remaining points.
pub(super) fn run(args: &Args) -> Result<Answer, Stop> {
    let help = "use a name that ends in .csv; `wastenot draw curves FILE.csv` then draws it";
    let target =
        |path: &_| super::target(path, "csv", args.force, "a sweep is written as CSV", help);
    let target = args.output.as_deref().map(target).transpose()?;
    let sweep = read(&args.file)?;
    let tables = Tables { folder: folder(&args.file), read: RefCell::default() };
    let plan = Plan::new(&sweep, |wanted| tables.overheads(wanted))?;
    let how = Working { store: args.resume.clone(), shard: args.shard };
    let rows = plan.len(args.shard);
    let work = |done: &(dyn Fn(usize) + Sync)| plan.run(&how, done);
    match progress::counting(&format!("judging {}", sweep.name), rows, work)? {
        Outcome::Whole(swept) => {
            shown(args, target, &swept)?;
            Ok(Answer::Yes)
        }
        Outcome::Part { there, missing } => {
            args.face.print(&part(&sweep, there, missing))?;
            Ok(Answer::CannotTell)
        }
    }
}

fn shown(args: &Args, target: Option<Target>, swept: &Swept<'_>) -> Result<(), Stop> {
    let Some(target) = target else { return args.face.print(&swept.report()) };
    let is_file = target.is_file();
    target.write(|file| file.write_all(swept.csv().as_bytes()))?;
    if is_file { args.face.print(&swept.report()) } else { Ok(()) }
}

/// The report if points are missing.
fn part(sweep: &Sweep, there: usize, missing: usize) -> Report {
    let mut report = Report::new("bounds-sweep/1", sweep.name.clone());
    report.verdict = format!(
        "{there} of {} points are complete; concatenate the RESULTS of all shards, and continue \
         with `--resume`.",
        there + missing
    );
    report.measure("name", "", sweep.name.as_str(), Unit::None);
    report.measure("points", "points", sweep.points.len() as u64, Unit::None);
    report.measure("missing", "missing", missing as u64, Unit::None);
    report
}

fn read(file: &Path) -> Result<Sweep, Stop> {
    let help = "give a sweep (TOML); examples: scenarios/sweeps, format: docs/reference/sweep.md";
    let (name, text) = open::text(file, help)?;
    Ok(sweep(&name, &text, &NAMES)?)
}

/// The directory of the files that an experiment names.
fn folder(file: &Path) -> PathBuf {
    file.parent().map_or_else(PathBuf::new, Path::to_owned)
}

/// Tables of overheads, each read once.
struct Tables {
    folder: PathBuf,
    read: RefCell<BTreeMap<String, Measured>>,
}

impl Tables {
    fn overheads(&self, wanted: &Wanted) -> Result<Overheads, Stop> {
        let Wanted { file, implementation, cpus, criterion } = wanted;
        let mut read = self.read.borrow_mut();
        if !read.contains_key(file) {
            read.insert(file.clone(), overheads::read(&self.folder.join(file), PIPED)?);
        }
        let table = &read[file];
        table.is_of(*implementation, *cpus)?;
        let curves = table.curves(*criterion)?;
        Ok(curves.ok_or_else(|| Error::Averages { file: table.name.clone() })?)
    }
}

/// The tables of a sweep cannot come from standard input.
const PIPED: &str = "give a file in the sweep (docs/reference/sweep.md)";
