//! Hunts: the tables of docs/hunt.md.

mod confirmed;
mod faults;
mod mutants;
mod policies;
mod scoreboard;
mod suite;
mod texts;

use std::cell::Cell;
use std::time::{Duration, Instant};

use wastenot_hunt::search::{Hooks, Outcome, Progress, Question, search};

pub(crate) use confirmed::write as confirmed;
pub(crate) use faults::write as faults;
pub(crate) use mutants::write as mutants;
pub(crate) use policies::write as policies;
pub(crate) use scoreboard::write as scoreboard;
pub(crate) use suite::write as suite;
pub(crate) use texts::write as texts;

/// Hunts; gives how long it took until something was found, without shrinking.
fn hunt(question: &Question, long: Duration) -> Result<(Outcome, Duration), String> {
    let (begin, took) = (Instant::now(), Cell::new(Duration::ZERO));
    let progress = |at: Progress| {
        if !at.shrinks {
            took.set(begin.elapsed());
        }
    };
    let is_over = || begin.elapsed() >= long;
    let hooks = Hooks { is_over: &is_over, progress: &progress, found: &|_| () };
    let outcome = search(question, None, &hooks);
    Ok((outcome.map_err(|error| error.to_string())?, took.get()))
}
