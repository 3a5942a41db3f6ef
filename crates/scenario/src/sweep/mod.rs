//! Sweeps: random task sets at many points, each judged in many ways.
//!
//! A sweep is a TOML file (`docs/sweep.md`). Its axes are multiplied to points, its criteria and
//! cache delays to curves; what makes no sense is refused with its line and what to write instead.

mod axis;
mod curves;
mod points;
mod results;
mod schema;

use crate::Error;
use crate::scenario::fields::{Fields, integer, span, text};
use crate::scenario::node::{self, Wrong, wrong};
use crate::scenario::stem;

pub use curves::{Costs, Criterion, Curve};
pub use points::Point;
pub use results::{Judged, results};
pub use schema::SCHEMA;

/// Most points of a sweep.
pub const MOST_POINTS: usize = 100_000;
/// Most verdicts: a set by a curve. Each is a byte in memory.
pub const MOST_VERDICTS: u64 = 250_000_000;

/// Longest file that is read.
const BYTES: usize = 256 * 1024;

/// Random task sets at many points, each judged in many ways.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// The file's name without `.toml`.
    pub name: String,
    /// What it shows.
    pub about: String,
    /// Where its numbers are from.
    pub source: String,
    /// Another seed, other sets.
    pub seed: u64,
    /// How many sets are made at each point.
    pub sets: u32,
    /// What sets are drawn from; at least one.
    pub points: Vec<Point>,
    /// How they are judged; at least one.
    pub curves: Vec<Curve>,
    /// Who judges them.
    pub tests: Tests,
}

/// Who judges sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tests {
    /// Those of deadlines, of [`Names::tests`], in the order in which they are asked.
    pub hard: Vec<&'static str>,
    /// By how much response times of RTA grow at least, in us.
    pub rta_step_us: u64,
    /// How many steps each may take for a set.
    pub budget: u64,
}

/// What a sweep may name.
#[derive(Clone, Copy, Debug)]
pub struct Names {
    /// Tests of deadlines, the cheapest first.
    pub tests: &'static [&'static str],
    /// Implementations of schedulers.
    pub implementations: &'static [Scheduler],
}

/// An implementation that a sweep may name.
#[derive(Clone, Copy, Debug)]
pub struct Scheduler {
    /// As written.
    pub name: &'static str,
    /// How many CPUs it takes for itself.
    pub takes: u32,
    /// Whether jobs may be due after the next one comes.
    pub takes_late_deadlines: bool,
}

/// Reads a sweep of tests and implementations that have names. `file` is the name of its file.
///
/// # Errors
/// The first thing that is wrong, with its line.
pub fn sweep(file: &str, text: &str, names: &Names) -> Result<Sweep, Error> {
    read(file, text, names).map_err(|wrong| wrong.into_error(file, text))
}

fn read(file: &str, whole: &str, names: &Names) -> Result<Sweep, Wrong> {
    if whole.len() > BYTES {
        let what = format!("more than {} KiB", BYTES / 1024);
        return Err(wrong(BYTES, what, "write axes, not points"));
    }
    let table = node::parse(whole)?;
    let fields = Fields::new(&schema::SWEEP, 0, &table);
    fields.check()?;
    let version = fields.need("schema", "\"wastenot.sweep/1\"")?;
    if text(version, "schema")? != schema::VERSION {
        let help = format!("this version reads \"{}\"", schema::VERSION);
        return Err(wrong(version.at, "no sweep, or one of another schema", help));
    }
    let seed = fields.integer("seed", 0..=i64::MAX)?.unwrap_or(1) as u64;
    let sets = fields.integer("sets", 1..=100_000)?.unwrap_or(100) as u32;
    fields.need("points", "{ cpus = [8], .. }")?;
    let (at, axes) = fields.table("points")?.unwrap_or((0, &table));
    let points = points::read(at, axes)?;
    let curves = curves::read(&fields, &points, names)?;
    if points.len() as u64 * u64::from(sets) * curves.len() as u64 > MOST_VERDICTS {
        let (points, curves) = (points.len(), curves.len());
        let what = format!("{points} points of {sets} sets by {curves} curves are too many");
        return Err(wrong(at, what, "write several sweeps"));
    }
    Ok(Sweep {
        name: stem(file).into(),
        about: fields.text("about")?.unwrap_or_default().trim().into(),
        source: fields.text("source")?.unwrap_or_default().trim().into(),
        seed,
        sets,
        points,
        curves,
        tests: tests(&fields, names)?,
    })
}

fn tests(fields: &Fields, names: &Names) -> Result<Tests, Wrong> {
    let mut tests = Tests { hard: names.tests.to_vec(), rta_step_us: 1, budget: 200_000_000 };
    let Some((at, table)) = fields.table("tests")? else { return Ok(tests) };
    let fields = Fields::new(&schema::TESTS, at, table);
    fields.check()?;
    if let Some(node) = fields.get("hard") {
        let mut asked = Vec::new();
        for node in axis::nodes(node, "hard")? {
            let written = text(node, "hard")?;
            if !names.tests.contains(&written) {
                return Err(curves::unknown(node, "test", names.tests.iter().copied()));
            }
            asked.push(written);
        }
        // Whatever the order in the file: from the cheapest on.
        tests.hard.retain(|test| asked.contains(test));
    }
    if let Some(node) = fields.get("rta_step") {
        let step_us = span(node, "rta_step")?.0 / 1_000;
        if !(1..=1_000_000).contains(&step_us) {
            return Err(wrong(node.at, "no step of RTA", "write 1us to 1s"));
        }
        tests.rta_step_us = step_us;
    }
    if let Some(node) = fields.get("budget") {
        tests.budget = integer(node, "budget", 1..=1_000_000_000_000)? as u64;
    }
    Ok(tests)
}
