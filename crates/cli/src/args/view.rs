//! `wastenot view`

use std::path::PathBuf;

use clap::Args;

use super::check::Looking;
use super::input;

/// Zoom and scroll through a trace in the browser
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
The page shows a lane for each CPU, and the tables of the report. A click on a
table row with a time shows this time in the lanes. Wasted CPU time and unknown
time are visible at every zoom level. The server answers only programs on this
machine that know the printed address. Ctrl-C ends the server.

Examples:
  wastenot view trace.dat
  wastenot view before.dat after.dat
  wastenot view trace.dat --no-open --port 8000")]
pub(crate) struct View {
    #[arg(value_name = "FILE", help = input::FILE)]
    pub(crate) file: PathBuf,
    /// Second trace, to show next to the first
    #[arg(value_name = "FILE2")]
    pub(crate) with: Option<PathBuf>,
    /// Listen on this port of 127.0.0.1 [default: a free port]
    #[arg(long, value_name = "PORT", default_value = "0", hide_default_value = true)]
    #[arg(value_parser = port)]
    pub(crate) port: u16,
    /// Print the address, but do not start a browser
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Check the trace again, and do not use the cache. The cache (~/.cache/wastenot/view, at most
    /// 4 GiB) has the results for traces of 1,000,000 events or more
    #[arg(long)]
    pub(crate) no_cache: bool,
    #[command(flatten)]
    pub(crate) looking: Looking,
}

fn port(text: &str) -> Result<u16, &'static str> {
    text.parse().map_err(|_| "expected a port from 0 to 65535")
}
