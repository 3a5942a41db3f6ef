//! `wastenot what-if`

use std::path::PathBuf;

use clap::Args;

use super::check::Face;
use super::input::{FILE, Reading};
use super::scheduler::Under;
use super::when::WindowArgs;

/// Simulate the work of a trace under another scheduler
#[derive(Args, Debug)]
#[command(after_help = "\
`what-if` extracts the workload from the trace. It simulates this workload under
a work-conserving scheduler, and under the scheduler of --scheduler. The report
states a lower bound: no scheduler can finish this work in less time. It also
states the most time that another scheduler can save (docs/explain/what-if.md).

Exit codes: 0 success; 2 failure.

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
    /// Simulate this machine instead of the machine of the trace: a preset, an hwloc description,
    /// or a file
    #[arg(long, value_name = "MACHINE")]
    pub(crate) target_machine: Option<String>,
    /// Use this seed for the simulation
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Simulate until these tasks finish: a tid, or a name with * and ?; may be repeated [default:
    /// tasks that started or exited during the recording]
    #[arg(long, value_name = "TASK")]
    pub(crate) task: Vec<String>,
    /// Write the trace of the simulation (.wn, or any other format of `convert`)
    #[arg(short, long, value_name = "TRACE")]
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
