//! The content of the page of `view` and `report` for a trace.

use std::path::Path;

use crate::export::page;
use crate::export::picture::Look;
use wastenot_model::Report;
use wastenot_view::{Recording, Spill};

use super::{check, select};
use crate::args::check::Looking;
use crate::cache::Entry;
use crate::fail::Stop;
use crate::progress;

/// Results of traces with at least this many events are cached. Smaller traces are checked quickly.
const MANY: usize = 1_000_000;

/// The content of the page for a file, and the report of its check, with a picture of the worst
/// moment if `has_picture`. Large tiles are mostly in `kept`, not in memory.
pub(super) fn of(
    file: &Path,
    looking: &Looking,
    has_picture: bool,
    kept: Option<&Entry>,
) -> Result<(Recording, Report), Stop> {
    let (mut history, options) = select::read(file, looking)?;
    let check = |spill: &mut dyn Spill| {
        progress::during("checking", || wastenot_view::check(&history, &options, spill))
    };
    let mut part = kept.filter(|_| history.len() >= MANY).and_then(|entry| entry.begin().ok());
    // If the cache cannot be written, all results stay in memory.
    let (found, content) = match part.as_mut().map(|part| check(part)) {
        Some(Ok(found)) => found,
        Some(Err(_)) | None => {
            part = None;
            check(&mut Vec::new())
                .map_err(|error| Stop::io("cannot store the results", &error, "free some memory"))?
        }
    };
    if !has_picture {
        // No reader needs the rows from here on, and the texts of many tasks take as much memory.
        history.forget_rows();
    }
    let mut report = found.report(&history, &options);
    let counted = options.counted(&history);
    report.next = check::next(file, &history, &found, counted);
    if has_picture {
        let window = looking.window.is_asked().then_some(options.window);
        let look = Look { window, silent: options.silent, ..Look::of(&history) };
        page::with_worst(&mut report, &history, &found, &options, &look);
    }
    let recording = Recording::new(&history, &options, &found, &report, content);
    // These take more memory than the results.
    drop((found, history));
    if let Some(part) = part {
        let _ = part.keep(&recording.tail());
    }
    Ok((recording, report))
}
