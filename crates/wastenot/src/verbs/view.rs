//! `wastenot view`: a trace in the browser.

use std::io::Read;
use std::path::Path;

use wastenot_check::Options;
use wastenot_model::Report;
use wastenot_view::{Recording, Server, View};

use super::{report, signals};
use crate::args::view::View as Args;
use crate::fail::{Answer, Stop};
use crate::{open, out, progress};

/// Serves a trace until a signal ends it.
pub(crate) fn run(args: &Args) -> Result<Answer, Stop> {
    let failed = |error: std::io::Error| Stop::io("cannot serve", &error, "try again");
    let view = match &args.with {
        None => View::new(recording(&args.file, args)?.0),
        Some(with) => View::two(recording(&args.file, args)?, recording(with, args)?),
    };
    let server = Server::begin(view, args.port).map_err(|it| Stop::new(&it, it.help()))?;
    let mut signals = signals::listen().map_err(failed)?;
    out::print(&format!("{}\n", server.address()))?;
    if !args.no_open {
        let address = server.address();
        // Some browsers keep their starter until they are closed.
        let open = move || {
            if report::show(address.as_ref()).is_err() {
                out::note("no browser could be started: open the address in one");
            }
        };
        std::thread::Builder::new().name("wastenot-open".into()).spawn(open).map_err(failed)?;
    }
    signals.read_exact(&mut [0]).map_err(failed)?;
    Ok(Answer::Yes)
}

/// What a page shows of a file, and the report of its check. Only tiles stay in memory.
fn recording(file: &Path, args: &Args) -> Result<(Recording, Report), Stop> {
    let history = open::history(file, &args.reading)?;
    let options = Options::default();
    Ok(progress::during("checking", || {
        let (found, tiles) = wastenot_view::check(&history, &options);
        let report = found.report(&history, &options);
        (Recording::new(&history, &report, tiles), report)
    }))
}
