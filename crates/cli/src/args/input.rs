//! A trace to read: the same words in every verb.

use std::path::PathBuf;

use clap::Args;
use wastenot_model::quantity::hertz;

/// What the help says of FILE.
pub(crate) const FILE: &str =
    "Trace in any supported format, detected from its content; `-` is standard input";

/// What a file does not tell, or what of it is meant.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Input")]
pub(crate) struct Reading {
    /// Machine that recorded the trace: a preset, an hwloc description, or a file (hwloc XML,
    /// `lscpu -p`, /sys)
    #[arg(long, value_name = "MACHINE")]
    pub(crate) machine: Option<String>,
    /// Buffer of a trace.dat with several buffers
    #[arg(long, value_name = "NAME")]
    pub(crate) buffer: Option<String>,
    /// Read event formats that a truncated perf.data lacks from another recording of the same
    /// kernel, perf.data or trace.dat
    #[arg(long, value_name = "FILE")]
    pub(crate) formats_from: Option<PathBuf>,
    /// Cycles per second, if the trace clock counts cycles: 2.4GHz, 2400MHz, 2400000000
    #[arg(long, value_name = "HZ", value_parser = hertz)]
    pub(crate) clock_hz: Option<u64>,
}
