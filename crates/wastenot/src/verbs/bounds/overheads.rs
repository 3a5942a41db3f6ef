//! What was measured of a kernel, as curves; and whether it was measured where it is asked for.

use std::path::Path;

use wastenot_bounds::overheads::Overheads;
use wastenot_lab::overheads::curves;
use wastenot_model::sporadic::TaskSet;
use wastenot_scenario::overheads::{self, Overhead};
use wastenot_scenario::sweep::Criterion;

use crate::fail::Stop;
use crate::open;

/// A table of overheads.
pub(super) struct Measured {
    pub(super) name: String,
    pub(super) rows: Vec<Overhead>,
}

/// A place at which a kind of overhead is asked for, and was not measured.
pub(super) struct Beyond {
    kind: &'static str,
    at: u64,
    first: u64,
    last: u64,
}

/// How overheads come by way of standard input.
const PIPED: &str = "`... | wastenot bounds tasks.csv --cpus 4 --overheads -`";

impl Measured {
    pub(super) fn read(file: &Path) -> Result<Measured, Stop> {
        let name = open::shown(file);
        let rows = overheads::read(&name, open::table(file, PIPED)?);
        let rows = rows.map_err(|error| Stop::new(&error, error.help()))?;
        Ok(Measured { name, rows })
    }

    /// The longest that were seen, or the averages, if there are any.
    pub(super) fn curves(&self, criterion: Criterion) -> Result<Option<Overheads>, Stop> {
        curves(&self.rows, criterion).map_err(|(kind, twice)| {
            Stop::new(format_args!("{}: {kind}: {twice}", self.name), "leave one out")
        })
    }

    /// The first place at which `tasks` ask for what was not measured.
    pub(super) fn beyond(&self, tasks: &TaskSet) -> Option<Beyond> {
        let sizes = || tasks.iter().map(|task| u64::from(task.wss_kb));
        let (small, large) = (sizes().min()?, sizes().max()?);
        overheads::KINDS.into_iter().filter(|kind| *kind != "quantum").find_map(|kind| {
            let places =
                || self.rows.iter().filter(|row| row.kind == kind).filter_map(|row| row.at);
            let (first, last) = (places().min()?, places().max()?);
            let asked = match kind {
                "cache_delay" | "cache_load" => [small, large],
                _ => [tasks.len() as u64; 2],
            };
            let at = asked.into_iter().find(|at| !(first..=last).contains(at))?;
            Some(Beyond { kind, at, first, last })
        })
    }
}

impl Beyond {
    /// In words, in a sentence on the file.
    pub(super) fn words(&self) -> String {
        let Beyond { kind, at, first, last } = self;
        let (unit, here) = match *kind {
            "cache_delay" | "cache_load" => ("KiB", format!("a task has {at}")),
            _ => ("tasks", format!("there are {at}")),
        };
        let range = if first == last { format!("{first}") } else { format!("{first} to {last}") };
        format!("{kind} was measured at {range} {unit}, and {here}")
    }
    /// What to do about it.
    pub(super) fn help(&self) -> &'static str {
        match (self.kind, self.at) {
            ("cache_delay" | "cache_load", 0) => {
                "give each task its wss_kb, or go on beyond what was measured: `--extrapolate`"
            }
            _ => "measure there, or go on beyond what was measured: `--extrapolate`",
        }
    }
}
