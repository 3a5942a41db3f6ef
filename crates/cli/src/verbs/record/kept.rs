//! What of a recording is kept: all of it, on disk, or its last seconds, in memory.

use std::time::{Duration, Instant};

use wastenot_model::{Head, Sink, Span};
use wastenot_read::own::Writer;
use wastenot_record::{Error, Fired, Flight};

use crate::args::record::{Record, Until};
use crate::out::Growing;

/// How much a crash loses at most.
const FLUSH: Duration = Duration::from_secs(1);
/// How many seconds a flight recording keeps when not told.
const LAST: Span = Span::s(10);

/// What is kept.
pub(super) enum Kept<'f, 't> {
    /// All of it.
    All { writer: Box<Writer<&'f mut Growing<'t>>>, flushed: Instant },
    /// The last seconds.
    Last { flight: Box<Flight>, file: &'f mut Growing<'t>, last: Span },
}

impl<'f, 't> Kept<'f, 't> {
    /// What `args` want kept, in `file`.
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

    /// Where events go.
    pub(super) fn sink(&mut self) -> &mut dyn Sink {
        match self {
            Kept::All { writer, .. } => &mut **writer,
            Kept::Last { flight, .. } => &mut **flight,
        }
    }

    /// After each drain: what came in is safe, or what is old is forgotten. Tells whether the
    /// trigger fired.
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

    /// How long to go on once a trigger fired: a moment is understood by what came after it, too.
    pub(super) fn aftermath(&self) -> Duration {
        match self {
            Kept::All { .. } => Duration::ZERO,
            Kept::Last { last, .. } => Duration::from_nanos(last.0 / 10).min(FLUSH),
        }
    }

    /// Writes what is not written yet of a recording of length `span`. Tells how long a time and
    /// how many events are kept.
    pub(super) fn finish(self, span: Duration) -> Result<(Span, u64), Error> {
        match self {
            Kept::All { writer, .. } => {
                let events = writer.events();
                writer.finish()?;
                Ok((Span(span.as_nanos() as u64), events))
            }
            Kept::Last { mut flight, file, .. } => {
                flight.turn();
                let (_, events) = flight.save(file)?;
                Ok((flight.kept(), events))
            }
        }
    }
}
