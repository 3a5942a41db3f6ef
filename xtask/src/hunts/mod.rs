//! Hunts: the tables of docs/results/hunt.md.

mod confirmed;
mod faults;
mod mutants;
mod policies;
mod scoreboard;
mod suite;
mod texts;
mod wrong;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use wastenot_experiment::Cell;
use wastenot_hunt::search::{Hooks, Outcome, Progress, Question, search};
use wastenot_scenario::scenario::Scenario;

use crate::parts::files;

pub(crate) use confirmed::write as confirmed;
pub(crate) use faults::write as faults;
pub(crate) use mutants::write as mutants;
pub(crate) use policies::write as policies;
pub(crate) use scoreboard::write as scoreboard;
pub(crate) use suite::write as suite;
pub(crate) use texts::write as texts;

/// Hunts; gives how long it took until something was found, without shrinking.
fn hunt(question: &Question, long: Duration) -> Result<(Outcome, Duration), String> {
    let (begin, took) = (Instant::now(), std::cell::Cell::new(Duration::ZERO));
    let progress = |at: Progress| {
        if !at.shrinks {
            took.set(begin.elapsed());
        }
    };
    let is_over = || begin.elapsed() >= long;
    let hooks =
        Hooks { look: &wrong::look, is_over: &is_over, progress: &progress, found: &|_| () };
    let outcome = search(question, None, &hooks);
    Ok((outcome.map_err(|error| error.to_string())?, took.get()))
}

/// The scenarios of a folder, by name.
fn read(folder: &Path) -> Result<Vec<(String, Scenario)>, String> {
    let one = |file: PathBuf| {
        let text = fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let scenario = wastenot_experiment::scenario(&file.display().to_string(), &text);
        Ok((name, scenario.map_err(|error| error.to_string())?))
    };
    files(folder, "toml")?.into_iter().map(one).collect()
}

/// The CPU time that tasks used, at least 1 ns.
fn used_ns(cell: &Cell) -> f64 {
    cell.kinds.iter().map(|kind| kind.cpu_ns).sum::<u64>().max(1) as f64
}

/// What of it was wasted.
fn wasted(cell: &Cell) -> f64 {
    cell.waste_cpu_ns as f64 / used_ns(cell)
}
