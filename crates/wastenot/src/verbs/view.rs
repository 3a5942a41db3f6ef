//! `wastenot view`: a trace in the browser.

use std::io::Read;
use std::path::Path;

use wastenot_draw::Palette;
use wastenot_export::page;
use wastenot_export::picture::Look;
use wastenot_model::Report;
use wastenot_view::{Recording, Server, View};

use super::{check, report, select, signals};
use crate::args::check::Select;
use crate::args::input::Reading;
use crate::args::view::View as Args;
use crate::args::when::WindowArgs;
use crate::fail::{Answer, Stop};
use crate::{open, out, progress};

/// Serves a trace until a signal ends it.
pub(crate) fn run(args: &Args) -> Result<Answer, Stop> {
    let failed = |error: std::io::Error| Stop::io("cannot serve", &error, "try again");
    let of = |file: &Path| recording(file, &args.window, &args.select, &args.reading);
    let view = match &args.with {
        None => View::new(of(&args.file)?.0),
        Some(with) => View::two(of(&args.file)?, of(with)?),
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
pub(super) fn recording(
    file: &Path,
    window: &WindowArgs,
    select: &Select,
    reading: &Reading,
) -> Result<(Recording, Report), Stop> {
    let history = open::history(file, reading)?;
    let asked = window.of(&history)?;
    let options = select::options(&history, asked, select)?;
    let (found, tiles) = progress::during("checking", || wastenot_view::check(&history, &options));
    let mut report = found.report(&history, &options);
    let counted = options.counted(&history);
    report.next = check::next(file, &history, &found, counted);
    let look = Look {
        window: window.is_asked().then_some(asked),
        socket_order: history.head.machine.topology_known(),
        palette: Palette::default(),
        silent: select.silent_cpus.into(),
        color_by_command: false,
        target: None,
        considered: None,
    };
    page::with_worst(&mut report, &history, &found, &look);
    let recording = Recording::new(&history, counted, &found, &report, tiles);
    Ok((recording, report))
}
