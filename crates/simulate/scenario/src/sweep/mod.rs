//! Sweeps: random task sets at many points, each judged in many ways.
//!
//! A sweep is a TOML file (`docs/reference/sweep.md`). The product of its axes gives the points;
//! the product of criteria and cache delays gives the curves. Values that make no sense are refused
//! with their line and what to write instead.

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

/// The maximum number of points of a sweep.
pub const MOST_POINTS: usize = 100_000;
/// The maximum number of verdicts, one for each set and curve. Each takes one byte of memory.
const MOST_VERDICTS: u64 = 250_000_000;

/// The maximum size of a file.
const BYTES: usize = 256 * 1024;

/// Random task sets at many points, each judged in many ways.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// The file's name without `.toml`.
    pub name: String,
    /// What it shows.
    pub about: String,
    /// The source of its numbers.
    pub source: String,
    /// The seed; another seed gives other sets.
    pub seed: u64,
    /// The number of sets at each point.
    pub sets: u32,
    /// The points, from which sets are drawn; at least one.
    pub points: Vec<Point>,
    /// The curves, which judge the sets; at least one.
    pub curves: Vec<Curve>,
    /// The schedulability tests.
    pub tests: Tests,
}

/// The schedulability tests, which judge the sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tests {
    /// The tests for deadlines, among [`Names::tests`], in the order in which they run.
    pub hard: Vec<&'static str>,
    /// The least growth of a response time per step of RTA, in us.
    pub rta_step_us: u64,
    /// How many steps each test may take for a set.
    pub budget: u64,
}

/// The names that a sweep may use.
#[derive(Clone, Copy, Debug)]
pub struct Names {
    /// Tests of deadlines, the cheapest first.
    pub tests: &'static [&'static str],
    /// Implementations of schedulers.
    pub implementations: &'static [Scheduler],
}

/// An implementation of a scheduler.
#[derive(Clone, Copy, Debug)]
pub struct Scheduler {
    /// Its name in the file.
    pub name: &'static str,
    /// How many CPUs it uses for itself.
    pub takes: u32,
    /// Whether it supports deadlines later than the next release.
    pub takes_late_deadlines: bool,
}

/// Reads a sweep, with these names of tests and implementations. `file` is the file's name.
///
/// # Errors
/// The first error, with its line.
pub fn sweep(file: &str, text: &str, names: &Names) -> Result<Sweep, Error> {
    read(file, text, names).map_err(|wrong| wrong.into_error(file, text))
}

fn read(file: &str, whole: &str, names: &Names) -> Result<Sweep, Wrong> {
    if whole.len() > BYTES {
        let what = format!("the file has more than {} KiB", BYTES / 1024);
        return Err(wrong(BYTES, what, "write axes instead of single points"));
    }
    let table = node::parse(whole)?;
    let fields = Fields::new(&schema::SWEEP, 0, &table);
    fields.check()?;
    fields.version("sweep", schema::VERSION)?;
    let seed = fields.integer("seed", 0..=i64::MAX)?.unwrap_or(1) as u64;
    let sets = fields.integer("sets", 1..=100_000)?.unwrap_or(100) as u32;
    fields.need("points", "{ cpus = [8], .. }")?;
    let (at, axes) = fields.table("points")?.unwrap_or((0, &table));
    let points = points::read(at, axes)?;
    let curves = curves::read(&fields, &points, names)?;
    if points.len() as u64 * u64::from(sets) * curves.len() as u64 > MOST_VERDICTS {
        let (points, curves) = (points.len(), curves.len());
        let what = format!(
            "the sweep is too large: it has {points} points and {curves} curves, and each point \
             has {sets} task sets"
        );
        return Err(wrong(at, what, "split the sweep into several files"));
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
        // The cheapest test first, in any order of the file.
        tests.hard.retain(|test| asked.contains(test));
    }
    if let Some(node) = fields.get("rta_step") {
        let step_us = span(node, "rta_step")?.0 / 1_000;
        if !(1..=1_000_000).contains(&step_us) {
            return Err(wrong(node.at, "the step of RTA is not valid", "write 1us to 1s"));
        }
        tests.rta_step_us = step_us;
    }
    if let Some(node) = fields.get("budget") {
        tests.budget = integer(node, "budget", 1..=1_000_000_000_000)? as u64;
    }
    Ok(tests)
}
