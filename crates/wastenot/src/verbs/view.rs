//! `wastenot view`: a trace in the browser.

use std::io::Read;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::mpsc::{self, TryRecvError};
use std::thread;
use std::time::Duration;

use wastenot_check::{Check, Options};
use wastenot_draw::Palette;
use wastenot_export::page;
use wastenot_export::picture::Look;
use wastenot_model::{History, Report, Window};
use wastenot_view::{Events, Recording, Server, Spill, View};

use super::again::Again;
use super::{check, report, select, signals};
use crate::args::check::Select;
use crate::args::input::Reading;
use crate::args::view::View as Args;
use crate::args::when::WindowArgs;
use crate::cache::{self, Entry};
use crate::fail::{Answer, Stop};
use crate::{open, out, progress};

/// Serves a trace until a signal ends it.
pub(crate) fn run(args: &Args) -> Result<Answer, Stop> {
    let failed = |error: std::io::Error| Stop::io("cannot serve", &error, "try again");
    let files = std::iter::once(&args.file).chain(&args.with);
    let names: Vec<String> = files.map(|file| file.display().to_string()).collect();
    let server = Server::begin(&names.join(" beside "), args.port);
    let server = server.map_err(|it| Stop::new(&it, it.help()))?;
    let mut signals = signals::listen().map_err(failed)?;
    let (done, found) = mpsc::channel();
    let asked = args.clone();
    let work = move || done.send(view(&asked)).unwrap_or_default();
    let worker =
        thread::Builder::new().name("wastenot-check".into()).spawn(work).map_err(failed)?;
    // What fails soon fails before a browser is started.
    let mut next = found.recv_timeout(PATIENCE).or_else(|_| found.try_recv());
    if let Ok(Err(stop)) = next {
        return Err(stop);
    }
    out::print(&format!("{}\n", server.address()))?;
    if !args.no_open {
        let address = server.address();
        // Some browsers keep their starter until they are closed.
        let open = move || {
            if report::show(address.as_ref()).is_err() {
                out::note("no browser could be started: open the address in one");
            }
        };
        thread::Builder::new().name("wastenot-open".into()).spawn(open).map_err(failed)?;
    }
    loop {
        match next {
            Ok(view) => break server.show(view?),
            Err(TryRecvError::Disconnected) => {
                worker.join().unwrap_or_else(|panic| resume_unwind(panic));
                return Ok(Answer::Yes); // it ends with a view or a panic
            }
            Err(TryRecvError::Empty) if signals::comes_within(&signals, LOOK) => {
                cache::remove_begun();
                return Ok(Answer::Yes);
            }
            Err(TryRecvError::Empty) => next = found.try_recv(),
        }
    }
    signals.read_exact(&mut [0]).map_err(failed)?;
    Ok(Answer::Yes)
}

/// A page that takes longer is announced before it is there.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long it may take until a page that is there is shown.
const LOOK: Duration = Duration::from_millis(50);

/// What the page shows.
fn view(args: &Args) -> Result<View, Stop> {
    // Asked before it is read: if it changes meanwhile, it is another one.
    let again = |file: &Path| Again::of(file, &args.reading, &args.select).map(Again::events);
    let with_events = |recording: Recording, events: Option<Events>| match events {
        Some(events) => recording.with_events(events),
        None => recording,
    };
    let of = |file: &Path| -> Result<(Recording, Report), Stop> {
        let events = again(file);
        let (found, report) =
            recording(file, &args.window, &args.select, &args.reading, false, None)?;
        Ok((with_events(found, events), report))
    };
    Ok(match &args.with {
        None => {
            let events = again(&args.file);
            View::new(with_events(known_or_found(args)?, events))
        }
        Some(with) => View::two(of(&args.file)?, of(with)?),
    })
}

/// Events from which on what was found is kept for the next time; fewer are checked at once.
const MANY: usize = 1_000_000;

/// What is known of the recording from the last time, or what is found now.
fn known_or_found(args: &Args) -> Result<Recording, Stop> {
    let asked = format!("{:?} {:?} {:?}", args.window, args.select, args.reading);
    let entry = Some(&args.file).filter(|_| !args.no_cache);
    let entry = entry.and_then(|file| Entry::of(file, &asked));
    let known = entry.as_ref().and_then(Entry::read);
    if let Some(recording) = known.and_then(|bytes| Recording::from_bytes(&bytes)) {
        return Ok(recording);
    }
    let kept = entry.as_ref();
    let (recording, _) =
        recording(&args.file, &args.window, &args.select, &args.reading, false, kept)?;
    Ok(recording)
}

/// What a page shows of a file, and the report of its check, with a picture of the worst moment if
/// that is asked for. Of tiles that are large, most is not in memory but in `kept`.
pub(super) fn recording(
    file: &Path,
    window: &WindowArgs,
    select: &Select,
    reading: &Reading,
    has_picture: bool,
    kept: Option<&Entry>,
) -> Result<(Recording, Report), Stop> {
    let history = open::history(file, reading)?;
    let asked = window.of(&history)?;
    let options = select::options(&history, asked, select)?;
    let options = Options { marks: has_picture, ..options };
    // A cache that cannot be written is no failure.
    let mut part = kept.filter(|_| history.len() >= MANY).and_then(|entry| entry.begin().ok());
    let mut memory = Vec::new();
    let spill: &mut dyn Spill = part.as_mut().map_or(&mut memory, |part| part);
    let (found, over_time) =
        progress::during("checking", || wastenot_view::check(&history, &options, spill)).map_err(
            |error| Stop::io("cannot keep what was found", &error, "make room, or use --no-cache"),
        )?;
    let mut report = found.report(&history, &options);
    let counted = options.counted(&history);
    report.next = check::next(file, &history, &found, counted);
    if has_picture {
        draw_worst(&mut report, &history, &found, window.is_asked().then_some(asked), select);
    }
    let recording = Recording::new(&history, &options, &found, &report, over_time);
    // They take more memory than all that is kept.
    drop((found, history));
    if let Some(part) = part {
        let _ = part.keep(&recording.tail());
    }
    Ok((recording, report))
}

/// Adds a picture of the worst moment to the report: a file may be printed.
fn draw_worst(
    report: &mut Report,
    history: &History,
    found: &Check,
    window: Option<Window>,
    select: &Select,
) {
    let look = Look {
        window,
        socket_order: history.head.machine.topology_known(),
        palette: Palette::default(),
        silent: select.silent_cpus.into(),
        color_by_command: false,
        target: None,
        considered: None,
    };
    page::with_worst(report, history, found, &look);
}
