//! What was measured of a kernel, as curves; and whether it was measured where it is asked for.

use std::path::Path;

use wastenot_bounds::overheads::{Curve, Overheads};
use wastenot_model::sporadic::TaskSet;
use wastenot_scenario::overheads::{self, Overhead};

use crate::fail::Stop;
use crate::open;

/// A table of overheads.
pub(super) struct Measured {
    pub(super) name: String,
    rows: Vec<Overhead>,
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

    /// The longest that were seen.
    pub(super) fn maxima(&self) -> Result<Overheads, Stop> {
        self.curves(|row| Some(row.max_ns))
    }

    /// The averages, if there are any.
    pub(super) fn averages(&self) -> Result<Option<Overheads>, Stop> {
        if self.rows.iter().all(|row| row.average_ns.is_none()) {
            return Ok(None);
        }
        self.curves(|row| row.average_ns.or((row.kind == "quantum").then_some(row.max_ns)))
            .map(Some)
    }

    fn curves(&self, of: impl Fn(&Overhead) -> Option<u64>) -> Result<Overheads, Stop> {
        let curve = |kind: &str| {
            let rows = self.rows.iter().filter(|row| row.kind == kind);
            let points = rows.filter_map(|row| Some((row.at.unwrap_or(0), of(row)?)));
            Curve::through(points.collect()).map_err(|twice| {
                Stop::new(format_args!("{}: {kind}: {twice}", self.name), "leave one out")
            })
        };
        let quantum = self.rows.iter().find(|row| row.kind == "quantum");
        let quantum_us = quantum.map_or(1_000, |row| row.max_ns / 1_000);
        if quantum_us == 0 {
            let what = format!("{}: quantum: the tick comes more often than each us", self.name);
            return Err(Stop::new(what, "write its period in us: 1000 for 1 kHz"));
        }
        Ok(Overheads {
            quantum_us,
            schedule: curve("schedule")?,
            switch: curve("switch")?,
            tick: curve("tick")?,
            release: curve("release")?,
            ipi: curve("ipi")?,
            latency: curve("latency")?,
            handler: curve("handler")?,
            request: curve("request")?,
            cache_delay: curve("cache_delay")?,
            cache_load: curve("cache_load")?,
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
