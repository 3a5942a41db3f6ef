//! `wastenot convert`

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::input::{self, Reading};
use super::when::WindowArgs;

/// Write a trace in another format, cut out a part, hide names
#[derive(Args, Debug)]
#[command(after_help = "\
The ending of -o decides the format; --format says it where there is none.

Examples:
  wastenot convert trace.dat -o trace.pftrace
  wastenot convert trace.dat -o part.wn --from 100ms --to 200ms
  wastenot convert trace.dat -o for-the-bug-report.wn --scrub
  wastenot convert after.dat -o after.wn --scrub=a-word-of-mine
  wastenot convert trace.dat -o - --format csv | head")]
pub(crate) struct Convert {
    #[arg(value_name = "FILE", help = input::FILE)]
    pub(crate) file: PathBuf,
    /// Where to write it; `-` is standard output
    #[arg(short, long, value_name = "FILE", required = true)]
    pub(crate) output: PathBuf,
    /// Where the ending does not tell: wn, perfetto, parquet, csv or jsonl
    #[arg(long, value_name = "FORMAT", hide_possible_values = true)]
    pub(crate) format: Option<Format>,
    /// Replace what is there
    #[arg(long)]
    pub(crate) force: bool,
    /// Hide names behind pseudonyms; with a SALT they are the same in all files scrubbed with it
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
    /// Our own: everything that is known (.wn)
    Wn,
    /// Perfetto protobuf, for ui.perfetto.dev (.pftrace, .perfetto-trace)
    Perfetto,
    /// Parquet, an event a row (.parquet)
    Parquet,
    /// CSV, an event a line (.csv)
    Csv,
    /// JSON Lines, an event a line (.jsonl)
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
