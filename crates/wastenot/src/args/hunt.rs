//! `wastenot hunt`

use std::path::PathBuf;

use clap::Args;
use wastenot_check::causes::node;
use wastenot_model::{Span, quantity};

use super::check::Face;
use super::scheduler::{Scheduler, Under};

/// Search for work on which a scheduler breaks its promise
#[derive(Args, Debug)]
#[command(after_help = "\
Machines and workloads are varied and simulated. A loss that lasts longer than
the scheduler's own intervals, or that recurs, is a candidate; so is a task that
starves or is moved without end. It is a finding if it is there with three seeds
and disappears in a control: with one change to the scheduler, or under the
work-conserving reference. With --against it is one if the other scheduler does
better. Each finding is shrunk, and written as a scenario, with its trace and a
picture (docs/hunt.md). Workloads at random run beside the search, as many.

The same seed and number of trials give the same findings. With --resume a hunt
that was interrupted goes on where it was.

Exit codes: 0 nothing was found; 1 something was; 2 failure.

Examples:
  wastenot hunt --scheduler cfs-4.1,groups=own-balanced --for 3s -o found/
  wastenot hunt --scheduler policies/work-stealing.rota --trials 100
  wastenot hunt --scheduler cfs-4.1 --cause scheduler/balancing/beyond-one-hop
  wastenot hunt --scheduler eevdf-6.12 --against cfs-6.1 --trials 200
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
    pub(crate) trials: Option<u64>,
    /// Stop once this many causes of loss were found
    #[arg(long, value_name = "N")]
    pub(crate) findings: Option<usize>,
    /// Stop once this cause of loss was found, and report only it (`wastenot list causes`)
    #[arg(long, value_name = "CAUSE", conflicts_with = "findings", value_parser = node)]
    pub(crate) cause: Option<&'static str>,
    /// Write each finding into this folder, as a scenario
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite files in it
    #[arg(long)]
    pub(crate) force: bool,
    /// Store the result of each run in this file, and run only what is not in it
    #[arg(long, value_name = "RESULTS")]
    pub(crate) resume: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) face: Face,
}
