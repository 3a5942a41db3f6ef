//! `wastenot convert`

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::input::{self, Reading};
use super::when::WindowArgs;

/// Convert a trace, cut out a part, or hide its names
#[derive(Args, Debug)]
#[command(after_help = "\
The file extension of -o selects the format; --format selects it explicitly. If
-o ends in / or is a directory, `convert` writes one Parquet file for each of
these tables: events, tasks, spans, waits, violations, episodes, losses
(docs/reference/tables.md).

--scrub replaces the names of tasks and cgroups with pseudonyms. It removes the
host name, the file name, the notes of the recorder and the details of losses,
and shortens the kernel version to its number. The following data do not change:
times, CPUs, thread and process ids, affinities, the topology, the names of
kernel threads, and a number after a slash at the end of a name.

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
    /// Write to this file, or write tables to this directory; `-` is standard output
    #[arg(short, long, value_name = "FILE|DIR/", required = true)]
    pub(crate) output: PathBuf,
    /// Write this format: wn, perfetto, parquet, csv or jsonl [default: by the file extension]
    #[arg(long, value_name = "FORMAT", hide_possible_values = true)]
    pub(crate) format: Option<Format>,
    /// Overwrite the output file or directory
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

/// An output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Native format of wastenot, without loss of information (.wn)
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
    /// The format for a file extension.
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
