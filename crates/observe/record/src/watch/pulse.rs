//! Whether the watch works, and its figures so far, for requests from outside.

use std::sync::{Arc, Mutex, PoisonError};

use wastenot_host::metrics::Source;
use wastenot_model::Span;

use super::looks::Gauge;
use super::{Figures, Metrics};
use crate::{Error, clock};

/// Figures that can be read from another thread.
#[derive(Debug)]
pub(super) enum Pulse {
    /// The timer's.
    Looks(Gauge),
    /// Those of the last part of events.
    Events(Arc<Mutex<Figures>>),
}

/// A watch that has not looked for this long is stuck.
const LATE: Span = Span::s(10);

impl Pulse {
    /// The figures so far.
    pub(super) fn read(&self) -> Result<Figures, Error> {
        match self {
            Pulse::Looks(gauge) => gauge.read(),
            Pulse::Events(figures) => Ok(*figures.lock().unwrap_or_else(PoisonError::into_inner)),
        }
    }

    /// Whether it still looks.
    pub(super) fn is_well(&self) -> bool {
        let Ok(figures) = self.read() else { return false };
        let (begun, look) = match self {
            Pulse::Looks(gauge) => (gauge.begun, gauge.look),
            Pulse::Events(_) => (figures.now, Span::ZERO),
        };
        clock::now().since(figures.now.max(begun)) < LATE + look
    }
}

/// The metrics of a watch, brought up to date at each scrape.
pub(super) struct Scraped {
    pub(super) metrics: Arc<Metrics>,
    pub(super) pulse: Pulse,
}

impl Source for Scraped {
    fn metrics(&self) -> Result<String, String> {
        let figures = self.pulse.read().map_err(|error| error.to_string())?;
        self.metrics.look(&figures, clock::own_cpu());
        Ok(self.metrics.text())
    }

    fn is_well(&self) -> bool {
        self.pulse.is_well()
    }
}
