//! `wastenot view`: a trace in the browser.

use std::io::Read;

use wastenot_check::Options;
use wastenot_view::{Server, View};

use super::{report, signals};
use crate::args::view::View as Args;
use crate::fail::{Answer, Stop};
use crate::{open, out, progress};

/// Serves a trace until a signal ends it.
pub(crate) fn run(args: &Args) -> Result<Answer, Stop> {
    let failed = |error: std::io::Error| Stop::io("cannot serve", &error, "try again");
    let history = open::history(&args.file, &args.reading)?;
    let options = Options::default();
    let view = progress::during("checking", || {
        let (found, tiles) = wastenot_view::check(&history, &options);
        View::new(&history, &found.report(&history, &options), tiles)
    });
    // From here on only tiles are asked for.
    drop(history);
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
