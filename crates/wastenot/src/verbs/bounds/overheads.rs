//! What was measured of a kernel, as curves; and whether it was measured where it is asked for.

use std::path::Path;

use wastenot_bounds::overheads::{Beyond, Overheads};
use wastenot_lab::overheads::curves;
use wastenot_scenario::overheads::{self, Table};
use wastenot_scenario::sweep::Criterion;

use crate::fail::Stop;
use crate::open;

/// A table of overheads.
pub(super) struct Measured {
    pub(super) name: String,
    pub(super) table: Table,
}

/// How overheads come by way of standard input.
const PIPED: &str = "`... | wastenot bounds tasks.csv --cpus 4 --overheads -`";

impl Measured {
    pub(super) fn read(file: &Path) -> Result<Measured, Stop> {
        let name = open::shown(file);
        let table = overheads::read(&name, open::table(file, PIPED)?);
        let table = table.map_err(|error| Stop::new(&error, error.help()))?;
        Ok(Measured { name, table })
    }

    /// Fails if it says that it is of somebody else.
    pub(super) fn is_of(&self, implementation: &str, cpus: u32) -> Result<(), Stop> {
        let Some(whose) = self.table.stranger(implementation, cpus) else { return Ok(()) };
        let s = if cpus == 1 { "" } else { "s" };
        let what = format!(
            "{}: the table is for {whose}, not for {implementation} on {cpus} CPU{s}",
            self.name
        );
        let help = "use a table for that (`wastenot bounds overheads` simulates one), or remove \
                    its columns `implementation` and `cpus` if it is valid there, too";
        Err(Stop::new(what, help))
    }

    /// The longest that were seen, or the averages, if there are any.
    pub(super) fn curves(&self, criterion: Criterion) -> Result<Option<Overheads>, Stop> {
        curves(&self.table, criterion).map_err(|(kind, twice)| {
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
        (true, 0) => "give each task its wss_kb, or extrapolate: `--extrapolate`",
        _ => "measure there, or extrapolate: `--extrapolate`",
    }
}
