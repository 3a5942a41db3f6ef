//! Shows progress on stderr: only on a terminal, and only after half a second.

use std::io::{IsTerminal, stderr};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget};
use wastenot_experiment::{Experiment, Grid, Keep};
use wastenot_model::printable;

use crate::fail::Stop;

/// Work that takes less time shows nothing.
const PATIENCE: Duration = Duration::from_millis(500);

/// Does `work` with `count` parts. `work` reports the number of finished parts.
pub(crate) fn counting<T>(
    what: &str,
    count: usize,
    work: impl FnOnce(&(dyn Fn(usize) + Sync)) -> T,
) -> T {
    if !is_wanted() {
        return work(&|_| {});
    }
    let bar = ProgressBar::new(count as u64).with_message(printable(what).into_owned());
    bar.set_draw_target(ProgressDrawTarget::hidden());
    let begin = Instant::now();
    let result = work(&|done| {
        if begin.elapsed() > PATIENCE && bar.is_hidden() {
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        bar.set_position(done as u64);
    });
    bar.finish_and_clear();
    result
}

/// Runs a whole grid, and passes each run to `keep`.
pub(crate) fn of_grid(grid: &Grid<'_>, keep: &Keep<'_>) -> Result<Experiment, Stop> {
    let what = format!("{} {}", grid.bench().doing(), grid.name());
    Ok(counting(&what, grid.len(), |done| grid.run_and_keep(done, keep))?)
}

/// Does `work`, and meanwhile shows `what` and the elapsed time.
pub(crate) fn during<T>(what: &str, work: impl FnOnce() -> T) -> T {
    if !is_wanted() {
        return work();
    }
    let (done, waiting) = channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            if waiting.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                let what = printable(what).into_owned();
                let spinner = ProgressBar::new_spinner().with_message(what);
                spinner.enable_steady_tick(Duration::from_millis(100));
                // The sender is dropped when the work ends, even if it panics.
                let _ = waiting.recv();
                spinner.finish_and_clear();
            }
        });
        let result = work();
        drop(done);
        result
    })
}

/// A line with the current state, which is shown until it is dropped.
#[derive(Debug)]
pub(crate) struct Live(Option<ProgressBar>);

impl Live {
    /// Shows nothing if a command uses the same terminal.
    pub(crate) fn new(alone: bool) -> Live {
        Live((alone && is_wanted()).then(ProgressBar::new_spinner))
    }

    /// Replaces the line.
    pub(crate) fn say(&self, line: impl FnOnce() -> String) {
        if let Some(spinner) = &self.0 {
            spinner.set_message(printable(&line()).into_owned());
            spinner.tick();
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        if let Some(spinner) = &self.0 {
            spinner.finish_and_clear();
        }
    }
}

fn is_wanted() -> bool {
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    stderr().is_terminal() && !dumb
}
