//! `wastenot report`

use std::path::PathBuf;

use clap::Args;

use super::check::Select;
use super::input::{self, Reading};
use super::when::WindowArgs;

/// Write findings and pictures of a trace to one HTML file
#[derive(Args, Debug)]
#[command(after_help = "\
The first screen has the verdict, five figures and the worst moment; the rest
folds away. The file is self-contained: it opens from disk and can be mailed.

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
    /// Open the report in a browser
    #[arg(long)]
    pub(crate) open: bool,
    /// Print plain text of 72 columns instead, for a mailing list
    #[arg(long, conflicts_with_all = ["output", "open"])]
    pub(crate) text: bool,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
    #[command(flatten)]
    pub(crate) select: Select,
    #[command(flatten)]
    pub(crate) reading: Reading,
}
