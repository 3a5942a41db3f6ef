//! The options for reading a trace, which all verbs share.

use std::path::PathBuf;

use clap::Args;
use wastenot_model::quantity::hertz;

/// The help text of FILE.
pub(crate) const FILE: &str =
    "Trace to read, in any supported format (detected from the content); `-` is standard input";

/// Options for facts that the file lacks, and for files with several buffers.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Input")]
pub(crate) struct Reading {
    /// Use the topology of this machine, on which the trace was recorded: a preset, an hwloc
    /// description, or a file (hwloc XML, `lscpu -p`, /sys)
    #[arg(long, value_name = "MACHINE")]
    pub(crate) machine: Option<String>,
    /// Read this buffer of a trace.dat that contains several buffers
    #[arg(long, value_name = "NAME")]
    pub(crate) buffer: Option<String>,
    /// Take event formats that a truncated perf.data lacks from this file: a perf.data or trace.dat
    /// of the same kernel
    #[arg(long, value_name = "FILE")]
    pub(crate) formats_from: Option<PathBuf>,
    /// Set the rate of a trace clock that counts cycles, in cycles per second: 2.4GHz, 2400MHz or
    /// 2400000000
    #[arg(long, value_name = "HZ", value_parser = hertz)]
    pub(crate) clock_hz: Option<u64>,
}
