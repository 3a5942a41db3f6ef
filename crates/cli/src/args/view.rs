//! `wastenot view`

use std::path::PathBuf;

use clap::Args;

use super::check::Select;
use super::input::{self, Reading};
use super::when::WindowArgs;

/// Move through a trace in the browser
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
The page has a lane for each CPU, and the tables of the report: a row that has
a time leads there. Idle time that a task could have used which waited
elsewhere, and time that is unknown, shows at any zoom. Only programs of this
machine that know the printed address get an answer. Ctrl-C ends it.

Examples:
  wastenot view trace.dat
  wastenot view before.dat after.dat
  wastenot view trace.dat --no-open --port 8000")]
pub(crate) struct View {
    #[arg(value_name = "FILE", help = input::FILE)]
    pub(crate) file: PathBuf,
    /// A second trace, to show beside the first
    #[arg(value_name = "FILE2")]
    pub(crate) with: Option<PathBuf>,
    /// Listen on this port of 127.0.0.1 [default: a free one]
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    pub(crate) port: u16,
    /// Print the address, and start no browser
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Check it anew: what was found of a recording with 1,000,000 events or more is kept in
    /// ~/.cache/wastenot/view, 4 GiB at most
    #[arg(long)]
    pub(crate) no_cache: bool,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
    #[command(flatten)]
    pub(crate) select: Select,
    #[command(flatten)]
    pub(crate) reading: Reading,
}
