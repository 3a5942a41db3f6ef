//! `wastenot view`: shows a trace in the browser.

use std::io::{self, Read};
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use wastenot_model::Report;
use wastenot_view::{Recording, Server, View};

use super::again::Again;
use super::{recording, report, select, signals};
use crate::args::check::Looking;
use crate::args::input::Reading;
use crate::args::view::View as Args;
use crate::cache::{self, Entry};
use crate::fail::{Answer, Stop};
use crate::{open, out};

/// Serves a trace until a signal ends it.
pub(crate) fn run(args: &Args) -> Result<Answer, Stop> {
    let answer = serve(args);
    // Remove the cache entry of a check that is not complete.
    cache::remove_begun();
    answer
}

fn serve(args: &Args) -> Result<Answer, Stop> {
    let files = std::iter::once(&args.file).chain(&args.with);
    let names: Vec<String> = files.map(|file| file.display().to_string()).collect();
    let server = Arc::new(Server::begin(&names.join(" beside "), args.port)?);
    let mut signals = signals::listen().map_err(|error| failed(&error))?;
    let (done, found) = mpsc::channel();
    let (asked, shows) = (args.clone(), Arc::clone(&server));
    let work = move || done.send(view(&asked, &shows)).unwrap_or_default();
    let worker = thread::Builder::new()
        .name("wastenot-check".into())
        .spawn(work)
        .map_err(|error| failed(&error))?;
    let (begin, mut is_announced) = (Instant::now(), false);
    let view = loop {
        match found.recv_timeout(LOOK) {
            // Early errors are reported before a browser starts.
            Ok(view) => break view?,
            Err(RecvTimeoutError::Disconnected) => {
                worker.join().unwrap_or_else(|panic| resume_unwind(panic));
                return Ok(Answer::Yes); // it ends with a view or a panic
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        if signals::comes_within(&signals, Duration::ZERO) {
            return Ok(Answer::Yes);
        }
        if !is_announced && begin.elapsed() >= PATIENCE {
            announce(args, &server)?;
            is_announced = true;
        }
    };
    server.show(view);
    if !is_announced {
        announce(args, &server)?;
    }
    signals.read_exact(&mut [0]).map_err(|error| failed(&error))?;
    Ok(Answer::Yes)
}

/// Prints the address, and opens it in a browser.
fn announce(args: &Args, server: &Server) -> Result<(), Stop> {
    out::print(&format!("{}\n", server.address()))?;
    if args.no_open {
        return Ok(());
    }
    let address = server.address();
    // The starters of some browsers run until the browser is closed.
    let open = move || {
        if report::show(address.as_ref()).is_err() {
            out::note("cannot start a browser: open the address in a browser");
        }
    };
    thread::Builder::new()
        .name("wastenot-open".into())
        .spawn(open)
        .map_err(|error| failed(&error))?;
    Ok(())
}

fn failed(error: &io::Error) -> Stop {
    Stop::io("cannot serve the page", error, "try again")
}

/// The address is announced after this time, even if the page is not ready.
const PATIENCE: Duration = Duration::from_secs(1);
/// The interval between two checks for signals until the page is ready.
const LOOK: Duration = Duration::from_millis(50);

/// The content of the page. Before a long trace is checked, the server shows a glance at it.
fn view(args: &Args, server: &Server) -> Result<View, Stop> {
    let Looking { window, select, reading } = &args.looking;
    // Identify the file before it is read, to detect later changes.
    let events = |file: &Path| Again::of(file, reading, select).map(Again::events);
    let Some(with) = &args.with else {
        let events = events(&args.file);
        let asked = format!("{window:?} {select:?} {reading:?}");
        let entry = (!args.no_cache).then(|| Entry::of(&files(args), &asked)).flatten();
        let known = entry.as_ref().and_then(Entry::read);
        if let Some(recording) = known.and_then(|bytes| Recording::from_bytes(&bytes)) {
            return Ok(View::new(recording.with_events(events)));
        }
        show_glance(args, &[&args.file], server);
        let (recording, _) = checked(args, &args.file, entry.as_ref())?;
        return Ok(View::new(recording.with_events(events)));
    };
    show_glance(args, &[&args.file, with], server);
    let of = |file: &Path| -> Result<(Recording, Report), Stop> {
        let events = events(file);
        let (recording, report) = checked(args, file, None)?;
        Ok((recording.with_events(events), report))
    };
    Ok(View::two(of(&args.file)?, of(with)?))
}

/// The input files of the page of one trace.
fn files(args: &Args) -> Vec<&Path> {
    let Reading { machine, formats_from, .. } = &args.looking.reading;
    // The name of a preset is not a file.
    let machine = machine.as_deref().map(Path::new).filter(|path| path.is_file());
    [Some(args.file.as_path()), machine, formats_from.as_deref()].into_iter().flatten().collect()
}

fn checked(args: &Args, file: &Path, kept: Option<&Entry>) -> Result<(Recording, Report), Stop> {
    recording::of(file, &args.looking, false, kept)
}

/// Shows short parts of the traces if all of them are long. Errors are reported later, when the
/// traces are read.
fn show_glance(args: &Args, files: &[&Path], server: &Server) {
    let glances = files.iter().map(|file| glance(args, file)).collect::<Option<Vec<_>>>();
    if let Some(glances) = glances {
        server.show_glance(View::of(glances));
    }
}

fn glance(args: &Args, file: &Path) -> Option<Recording> {
    let Looking { window, select, reading } = &args.looking;
    let history = open::glance(file, reading)?;
    let options = select::options(&history, window.of(&history).ok()?, select).ok()?;
    let (found, content) = wastenot_view::check(&history, &options, &mut Vec::new()).ok()?;
    let (name, span) = (file.file_name().unwrap_or_default(), history.window().span());
    let title = format!("{}: {} CPUs, {span}", name.to_string_lossy(), history.cpu_count());
    let mut report = Report::new("view/1", title);
    report.verdict = "Preview: so far, wastenot read only short parts of the trace, at regular \
                      distances. Each column shows the parts that were read. Hatched columns have \
                      no data yet. The page will show the whole trace after the check."
        .to_owned();
    Some(Recording::new(&history, &options, &found, &report, content).glance())
}
