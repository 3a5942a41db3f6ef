//! `wastenot report`

use std::path::PathBuf;

use clap::Args;
use wastenot_model::quantity::size;

use super::check::Select;
use super::input::{self, Reading};
use super::when::WindowArgs;

/// Write the page of `view` to one HTML file
#[derive(Args, Debug)]
#[command(after_help = "\
The page has the verdict, five figures, a lane for each CPU, and the rest in
words, folded. It opens from disk, asks for nothing, and can be mailed. Time has
as much detail as fits: the same everywhere, and more around the worst
violations. `wastenot view` has all of it.

Examples:
  wastenot report trace.dat
  wastenot report trace.dat -o slow.html --open
  wastenot report trace.dat --text")]
pub(crate) struct Report {
    #[arg(value_name = "FILE", help = input::FILE)]
    pub(crate) file: PathBuf,
    /// Output file [default: the name of the trace with .html, in the current directory]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite the output file
    #[arg(long)]
    pub(crate) force: bool,
    /// Write at most about so much
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "20MB")]
    pub(crate) size: u64,
    /// Open the report in a browser
    #[arg(long)]
    pub(crate) open: bool,
    /// Print plain text of 72 columns instead, for a mailing list
    #[arg(long, conflicts_with_all = ["output", "open", "size"])]
    pub(crate) text: bool,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
    #[command(flatten)]
    pub(crate) select: Select,
    #[command(flatten)]
    pub(crate) reading: Reading,
}
