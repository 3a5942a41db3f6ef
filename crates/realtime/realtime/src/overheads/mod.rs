//! Tables of overheads: whose they are, and the curves that jobs are charged with.

mod simulated;

use wastenot_bounds::overheads::{Curve, Overheads, Twice};
use wastenot_model::sporadic::Criterion;
use wastenot_scenario::overheads::{Overhead as Row, Table};

use crate::{Error, Implementation};

pub use simulated::Simulated;

/// How often the tick comes unless the table says.
const QUANTUM_US: u64 = 1_000;

/// The curves of a table: maxima for `hard`, averages for `soft`. `None`: there are no averages.
///
/// # Errors
/// A kind was measured twice at one place, and which kind; no table that was read has that.
pub fn curves(
    table: &Table,
    criterion: Criterion,
) -> Result<Option<Overheads>, (&'static str, Twice)> {
    let soft = criterion == Criterion::Soft;
    let table = &table.rows;
    if soft && table.iter().all(|row| row.average_ns.is_none()) {
        return Ok(None);
    }
    let of = |row: &Row| if soft { row.average_ns } else { Some(row.max_ns) };
    let curve = |kind: &'static str| {
        let rows = table.iter().filter(|row| row.kind == kind);
        if let Some(ns) = rows.clone().find(|row| row.at.is_none()).and_then(of) {
            return Ok(Curve::constant(ns));
        }
        let points = rows.filter_map(|row| Some((row.at?, of(row)?)));
        Curve::through(points.collect()).map_err(|twice| (kind, twice))
    };
    let quantum = table.iter().find(|row| row.kind == "quantum");
    Ok(Some(Overheads {
        quantum_us: quantum.map_or(QUANTUM_US, |row| row.max_ns / 1_000),
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
    }))
}

/// A table, and the file it is from.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The file as it is shown.
    pub name: String,
    /// Its lines.
    pub table: Table,
}

impl Measured {
    /// Fails if the table states that it is for another implementation or number of CPUs.
    ///
    /// # Errors
    /// It does.
    pub fn is_of(&self, implementation: Implementation, cpus: u32) -> Result<(), Error> {
        let name = implementation.name();
        match self.table.stranger(name, cpus) {
            None => Ok(()),
            Some(whose) => Err(Error::Stranger { file: self.name.clone(), whose, name, cpus }),
        }
    }

    /// Maxima for hard deadlines; averages for soft ones, if there are any.
    ///
    /// # Errors
    /// A kind was measured twice at one place; no table that was read has that.
    pub fn curves(&self, criterion: Criterion) -> Result<Option<Overheads>, Error> {
        let file = || self.name.clone();
        curves(&self.table, criterion).map_err(|(kind, twice)| Error::Twice {
            file: file(),
            kind,
            twice,
        })
    }
}
