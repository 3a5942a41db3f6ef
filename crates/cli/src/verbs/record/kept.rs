//! The events that a recording keeps: all of them, on disk, or the last seconds, in memory.

use std::time::{Duration, Instant};

use wastenot_model::{Head, Sink, Span};
use wastenot_read::own::Writer;
use wastenot_record::{Error, Fired, Flight};

use crate::args::record::{Record, Until};
use crate::out::Growing;

/// The longest time that a crash can lose.
const FLUSH: Duration = Duration::from_secs(1);
/// The default length of a flight recording.
const LAST: Span = Span::s(10);

/// The kept events.
pub(super) enum Kept<'f, 't> {
    /// All of it.
    All { writer: Box<Writer<&'f mut Growing<'t>>>, flushed: Instant },
    /// The last seconds.
    Last { flight: Box<Flight>, file: &'f mut Growing<'t>, last: Span },
}

impl<'f, 't> Kept<'f, 't> {
    /// The kept events for the options in `args`, written to `file`.
    pub(super) fn new(
        args: &Record,
        file: &'f mut Growing<'t>,
        head: Head,
    ) -> Result<Kept<'f, 't>, Error> {
        let asked = &args.flight;
        if asked.last.is_none() && asked.until.is_none() {
            let writer = Box::new(Writer::new(file, &head)?);
            return Ok(Kept::All { writer, flushed: Instant::now() });
        }
        let last = asked.last.unwrap_or(LAST);
        let mut flight = Flight::new(head, last, asked.memory);
        if let Some(Until::Trigger(trigger)) = &asked.until {
            flight = flight.with_trigger(trigger.clone());
        }
        Ok(Kept::Last { flight: Box::new(flight), file, last })
    }

    /// The receiver of events.
    pub(super) fn sink(&mut self) -> &mut dyn Sink {
        match self {
            Kept::All { writer, .. } => &mut **writer,
            Kept::Last { flight, .. } => &mut **flight,
        }
    }

    /// Called after each drain: writes new events to disk, or drops old ones. Returns the trigger
    /// if it fired.
    pub(super) fn turn(&mut self) -> Result<Option<Fired>, Error> {
        match self {
            Kept::All { writer, flushed } => {
                if flushed.elapsed() >= FLUSH {
                    writer.flush()?;
                    *flushed = Instant::now();
                }
                Ok(None)
            }
            Kept::Last { flight, .. } => Ok(flight.turn()),
        }
    }

    /// The time to continue after a trigger fired, because later events also help to understand it.
    pub(super) fn aftermath(&self) -> Duration {
        match self {
            Kept::All { .. } => Duration::ZERO,
            Kept::Last { last, .. } => Duration::from_nanos(last.0 / 10).min(FLUSH),
        }
    }

    /// Writes the remaining events. Returns the kept time and the number of kept events.
    pub(super) fn finish(self) -> Result<(Span, u64), Error> {
        match self {
            Kept::All { writer, .. } => {
                let kept = (writer.span(), writer.events());
                writer.finish()?;
                Ok(kept)
            }
            Kept::Last { mut flight, file, .. } => {
                flight.turn();
                let (_, events) = flight.save(file)?;
                Ok((flight.kept(), events))
            }
        }
    }
}
