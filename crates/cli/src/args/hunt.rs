//! `wastenot hunt`

use std::path::PathBuf;

use clap::{Args, value_parser};
use wastenot_check::causes::{is_within, node};
use wastenot_hunt::oracle::OTHERS;
use wastenot_model::{Span, quantity};

use super::check::Face;
use super::scheduler::{Scheduler, Under};

/// Search for work on which a scheduler breaks its promise
#[derive(Args, Debug)]
#[command(after_help = "\
Machines and workloads are varied and simulated. A loss is a candidate if a CPU
is idle while tasks wait that it may run, for longer than the scheduler's own
intervals, or again and again; if a task starves, gets less than half of its
share, or is moved without end; if a run hangs; or, under a real-time scheduler,
if a job is late. It is a finding if it is there with three seeds of the run and
disappears in a control: with one change to the scheduler, under the reference
work-conserving, or under another real-time scheduler. With --against it is one
if the work takes longer, or more is wasted, than under the other scheduler.

Each finding is shrunk, which may take longer than the search, and written as a
scenario, with its trace and a picture (docs/explain/hunt.md). As many workloads
are drawn at random, as a baseline. Trials are rounded up to a multiple of 64.

The same seed and number of trials give the same findings. With --resume a hunt
that was interrupted goes on where it was: repeat the same command.

Exit codes: 0 nothing was found; 1 something was; 2 failure.

Examples:
  wastenot hunt --scheduler cfs-4.1,groups=own-balanced --for 3s -o found/
  wastenot hunt --scheduler policies/work-stealing.rota --trials 100
  wastenot hunt --scheduler cfs-4.1 --cause scheduler/balancing/beyond-one-hop
  wastenot hunt --scheduler eevdf-6.12 --against cfs-6.1 --trials 200
  wastenot hunt --scheduler gsn-edf --trials 600
  wastenot hunt --scheduler eevdf-6.12 --trials 100 --resume hunt.results")]
pub(crate) struct Hunt {
    #[command(flatten)]
    pub(crate) under: Under,
    /// Search for work on which it is worse than this scheduler
    #[arg(long, value_name = "NAME", conflicts_with = "cause")]
    pub(crate) against: Option<Scheduler>,
    /// Seed of the search
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Search for this long, then shrink what was found
    #[arg(long = "for", value_name = "TIME", default_value = "1m", value_parser = quantity::some_span)]
    pub(crate) long: Span,
    /// Search for this many trials instead, half of them at random
    #[arg(long, value_name = "N", conflicts_with = "long")]
    #[arg(value_parser = value_parser!(u64).range(1..))]
    pub(crate) trials: Option<u64>,
    /// Stop once this many losses were found
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..))]
    pub(crate) findings: Option<u64>,
    /// Stop once a loss by this cause was found, and report only it: deadline, hang,
    /// lost-wakeup, starvation, storm, unfairness, or one within `scheduler`
    /// (`wastenot list causes`)
    #[arg(long, value_name = "CAUSE", conflicts_with = "findings", value_parser = cause)]
    pub(crate) cause: Option<&'static str>,
    /// Write each finding into this folder, as a scenario
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite files in it; not needed to go on with --resume
    #[arg(long)]
    pub(crate) force: bool,
    /// Store the result of each run in this file, and run only what is not in it
    #[arg(long, value_name = "RESULTS")]
    pub(crate) resume: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) face: Face,
}

/// A cause that a hunt may find.
fn cause(text: &str) -> Result<&'static str, String> {
    if let Some(other) = OTHERS.into_iter().find(|it| *it == text) {
        return Ok(other);
    }
    let node =
        node(text).map_err(|error| format!("{error}; beside these, {}", OTHERS.join(", ")))?;
    match is_within(node, "scheduler") {
        true => Ok(node),
        false => Err(format!("{node} is no loss of a scheduler: name one within `scheduler`")),
    }
}
