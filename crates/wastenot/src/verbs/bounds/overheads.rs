//! What was measured of a kernel, as curves; and whether it was measured where it is asked for.

use std::path::Path;

use wastenot_bounds::overheads::{Beyond, Overheads};
use wastenot_lab::overheads::curves;
use wastenot_scenario::overheads::{self, Overhead};
use wastenot_scenario::sweep::Criterion;

use crate::fail::Stop;
use crate::open;

/// A table of overheads.
pub(super) struct Measured {
    pub(super) name: String,
    pub(super) rows: Vec<Overhead>,
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
}

/// That a kind of overhead is asked for where it was not measured, in a sentence on the file.
pub(super) fn words(beyond: &Beyond) -> String {
    let Beyond { kind, at, first, last, is_size } = beyond;
    let (unit, here) = match is_size {
        true => ("KiB", format!("a task has {at}")),
        false => ("tasks", format!("there are {at}")),
    };
    let range = if first == last { format!("{first}") } else { format!("{first} to {last}") };
    format!("{kind} was measured at {range} {unit}, and {here}")
}

/// What to do about it.
pub(super) fn help(beyond: &Beyond) -> &'static str {
    match (beyond.is_size, beyond.at) {
        (true, 0) => {
            "give each task its wss_kb, or go on beyond what was measured: `--extrapolate`"
        }
        _ => "measure there, or go on beyond what was measured: `--extrapolate`",
    }
}
