//! `wastenot convert`

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::input::{self, Reading};
use super::when::WindowArgs;

/// Convert a trace to a format or tables, cut it, hide names
#[derive(Args, Debug)]
#[command(after_help = "\
The file extension of -o selects the format; without one, use --format. If -o
ends in / or is a directory, it gets one Parquet file for each table: events,
tasks, spans, waits, violations, episodes, losses (docs/reference/tables.md).

--scrub replaces the names of tasks and cgroups, and removes the names of host
and file, the recorder's notes, and all of the kernel's version but the number.
What stays: times, CPUs, thread and process ids, affinities, the topology, the
names of kernel threads, and a /N at the end of a name.

Examples:
  wastenot convert trace.dat -o trace.pftrace
  wastenot convert trace.dat -o part.wn --from 100ms --to 200ms
  wastenot convert trace.dat -o for-the-bug-report.wn --scrub
  wastenot convert after.dat -o after.wn --scrub=a-word-of-mine
  wastenot convert trace.dat -o - --format csv | head
  wastenot convert trace.dat -o tables/")]
pub(crate) struct Convert {
    #[arg(value_name = "FILE", help = input::FILE)]
    pub(crate) file: PathBuf,
    /// Output file, or a directory for tables; `-` is standard output
    #[arg(short, long, value_name = "FILE|DIR/", required = true)]
    pub(crate) output: PathBuf,
    /// Output format: wn, perfetto, parquet, csv or jsonl [default: by the file extension]
    #[arg(long, value_name = "FORMAT", hide_possible_values = true)]
    pub(crate) format: Option<Format>,
    /// Overwrite the output
    #[arg(long)]
    pub(crate) force: bool,
    /// Replace names with pseudonyms; the same SALT gives the same pseudonyms in all files
    #[arg(long, value_name = "SALT", num_args = 0..=1, require_equals = true)]
    pub(crate) scrub: Option<Option<String>>,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// A format that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Native format; contains everything that is known (.wn)
    Wn,
    /// Perfetto protobuf, for ui.perfetto.dev (.pftrace, .perfetto-trace)
    Perfetto,
    /// Parquet, one row per event (.parquet)
    Parquet,
    /// CSV, one line per event (.csv)
    Csv,
    /// JSON Lines, one line per event (.jsonl)
    Jsonl,
}

impl Format {
    /// The format of a file's ending.
    pub(crate) fn by_ending(ending: &str) -> Option<Format> {
        match ending {
            "wn" => Some(Format::Wn),
            "pftrace" | "perfetto-trace" | "perfetto" => Some(Format::Perfetto),
            "parquet" => Some(Format::Parquet),
            "csv" => Some(Format::Csv),
            "jsonl" | "ndjson" => Some(Format::Jsonl),
            _ => None,
        }
    }
}
