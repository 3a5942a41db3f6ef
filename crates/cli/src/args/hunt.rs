//! `wastenot hunt`

use std::path::PathBuf;

use clap::{Args, value_parser};
use wastenot_check::causes::{is_within, node};
use wastenot_hunt::oracle::OTHERS;
use wastenot_model::{Span, quantity};

use super::check::Face;
use super::scheduler::{Scheduler, Under};

/// Search for workloads that a scheduler handles badly
#[derive(Args, Debug)]
#[command(after_help = "\
`hunt` varies machines and workloads, and simulates them under the scheduler. A
run is a candidate if
  - a CPU is idle while tasks that may run on it wait, and this happens
    repeatedly or takes longer than the balancing time of the scheduler,
  - a task starves, gets less than half of its share, or migrates endlessly,
  - the run hangs, or
  - a job is late (real-time schedulers only).
A candidate is a finding if it occurs with three seeds, and disappears in a
control run. The control run changes one setting of the scheduler, uses the
reference scheduler `work-conserving`, or uses another real-time scheduler. With
--against, a run is a finding if the same work takes less time, or wastes less
CPU time, under the other scheduler.

`hunt` shrinks each finding to a smaller workload. This may take longer than the
search. With -o, `hunt` writes each finding as a scenario with a trace and a
picture (docs/explain/hunt.md). As a baseline, half of the trials are random
workloads. The number of trials is rounded up to a multiple of 64.

The same seed and the same number of trials give the same findings. You can
continue an interrupted hunt if its command contains --resume: repeat the
command.

Exit codes: 0 no finding; 1 at least one finding; 2 failure.

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
    /// Search for workloads on which --scheduler is worse than this scheduler
    #[arg(long, value_name = "NAME", conflicts_with = "cause")]
    pub(crate) against: Option<Scheduler>,
    /// Use this seed for the search
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Search for this long, then shrink the findings
    #[arg(long = "for", value_name = "TIME", default_value = "1m", value_parser = quantity::some_span)]
    pub(crate) long: Span,
    /// Run this many trials instead of --for; half of them are random
    #[arg(long, value_name = "N", conflicts_with = "long")]
    #[arg(value_parser = value_parser!(u64).range(1..))]
    pub(crate) trials: Option<u64>,
    /// Stop after this many losses were found
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..))]
    pub(crate) findings: Option<u64>,
    /// Stop after a loss with this cause was found, and report only this loss: deadline, hang,
    /// lost-wakeup, starvation, storm, unfairness, or a cause below scheduler (`wastenot list
    /// causes`)
    #[arg(long, value_name = "CAUSE", conflicts_with = "findings", value_parser = cause)]
    pub(crate) cause: Option<&'static str>,
    /// Write each finding as a scenario into this directory
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite files in the directory of -o; not needed to continue with --resume
    #[arg(long)]
    pub(crate) force: bool,
    /// Store the result of each run in this file, and skip runs whose results are already in it
    #[arg(long, value_name = "RESULTS")]
    pub(crate) resume: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) face: Face,
}

/// Parses a cause that a hunt may find.
fn cause(text: &str) -> Result<&'static str, String> {
    if let Some(other) = OTHERS.into_iter().find(|it| *it == text) {
        return Ok(other);
    }
    let node = node(text)
        .map_err(|error| format!("{error}; `hunt` also accepts {}", OTHERS.join(", ")))?;
    match is_within(node, "scheduler") {
        true => Ok(node),
        false => Err(format!(
            "{node} is not a loss that a scheduler causes: give a cause in `scheduler/`"
        )),
    }
}
