//! `wastenot what-if`

use std::path::PathBuf;

use clap::Args;

use super::check::Face;
use super::input::{FILE, Reading};
use super::scheduler::Under;
use super::when::WindowArgs;

/// Run the work of a trace under another scheduler
#[derive(Args, Debug)]
#[command(after_help = "\
The workload is extracted from the trace and simulated, under a work-conserving
scheduler and under that of --scheduler. The report contains an upper bound on
the recorded time that is due to the scheduler, and a bound that no scheduler
can beat (docs/explain/what-if.md).

Exit codes: 0 simulated; 2 failure.

Examples:
  wastenot what-if trace.dat --scheduler global-fifo
  wastenot what-if trace.dat --scheduler policies/gang.rota
  wastenot what-if trace.dat --scheduler cfs-4.1 --target-machine xeon4ht
  wastenot what-if trace.dat --task 'make*' --from 50ms -o what-if.wn")]
pub(crate) struct WhatIf {
    #[arg(value_name = "TRACE", help = FILE)]
    pub(crate) trace: PathBuf,
    #[command(flatten)]
    pub(crate) under: Under,
    /// Simulate this machine instead of the recorded one: a preset, an hwloc description, or a
    /// file
    #[arg(long, value_name = "MACHINE")]
    pub(crate) target_machine: Option<String>,
    /// Seed of the simulation
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Tasks that must finish: a name with * and ?, or a tid; may be repeated [default: tasks
    /// that started or exited during the recording]
    #[arg(long, value_name = "TASK")]
    pub(crate) task: Vec<String>,
    /// Write the trace of the simulation (.wn, or any format of `convert`)
    #[arg(short, long, value_name = "HISTORY")]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite the output file
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) face: Face,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
    #[command(flatten)]
    pub(crate) reading: Reading,
}
