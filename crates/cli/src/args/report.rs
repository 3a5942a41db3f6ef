//! `wastenot report`

use std::path::PathBuf;

use clap::Args;
use wastenot_model::quantity::size;

use super::check::Looking;
use super::input;

/// Write a report on a trace as one HTML file
#[derive(Args, Debug)]
#[command(after_help = "\
The page shows the verdict, five numbers and a lane for each CPU. All other
results are below, in folded sections. The page is one file that loads nothing
from the network. You can open it from disk, or mail it. --size limits the
detail of the timeline. The timeline has the most detail around the worst
violations. All other parts have equal, lower detail. `wastenot view` shows full
detail.

Examples:
  wastenot report trace.dat
  wastenot report trace.dat -o slow.html --open
  wastenot report trace.dat --text")]
pub(crate) struct Report {
    #[arg(value_name = "FILE", help = input::FILE)]
    pub(crate) file: PathBuf,
    /// Write the page to this file [default: the name of the trace with .html, in the current
    /// directory]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite the output file
    #[arg(long)]
    pub(crate) force: bool,
    /// Limit the size of the page to about this size
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "20MB")]
    pub(crate) size: u64,
    /// Open the page in a browser
    #[arg(long)]
    pub(crate) open: bool,
    /// Print plain text instead of a page, 72 columns wide, for a mailing list
    #[arg(long, conflicts_with_all = ["output", "open", "size"])]
    pub(crate) text: bool,
    #[command(flatten)]
    pub(crate) looking: Looking,
}
