//! `wastenot report`

use std::path::PathBuf;

use clap::Args;

use super::check::Select;
use super::input::{self, Reading};
use super::when::WindowArgs;

/// Put verdict, tables and pictures of a trace into one HTML file
#[derive(Args, Debug)]
#[command(after_help = "\
The file holds everything and opens from disk; it can be mailed as it is.

Examples:
  wastenot report trace.dat
  wastenot report trace.dat -o slow.html --open
  wastenot report trace.dat --text")]
pub(crate) struct Report {
    #[arg(value_name = "FILE", help = input::FILE)]
    pub(crate) file: PathBuf,
    /// Where to write it [default: the trace's name with .html, in this folder]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace what is there
    #[arg(long)]
    pub(crate) force: bool,
    /// Open it in the browser
    #[arg(long)]
    pub(crate) open: bool,
    /// Print it as plain text of 72 columns instead, for a mailing list
    #[arg(long, conflicts_with_all = ["output", "open"])]
    pub(crate) text: bool,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
    #[command(flatten)]
    pub(crate) select: Select,
    #[command(flatten)]
    pub(crate) reading: Reading,
}
