//! Whether the watch is well, and what it saw so far, for those who ask from outside.

use std::sync::{Arc, Mutex, PoisonError};

use wastenot_model::Span;

use super::Figures;
use super::looks::Gauge;
use crate::{Error, clock};

/// Figures that are read wherever it is moved to.
#[derive(Debug)]
pub(super) enum Pulse {
    /// The timer's.
    Looks(Gauge),
    /// Of the last part of what happened.
    Events(Arc<Mutex<Figures>>),
}

/// A watch that has not looked for so long stands still.
const LATE: Span = Span::s(10);

impl Pulse {
    /// What was seen so far.
    pub(super) fn read(&self) -> Result<Figures, Error> {
        match self {
            Pulse::Looks(gauge) => gauge.read(),
            Pulse::Events(figures) => Ok(*figures.lock().unwrap_or_else(PoisonError::into_inner)),
        }
    }

    /// Whether it looks on.
    pub(super) fn is_well(&self) -> bool {
        let Ok(figures) = self.read() else { return false };
        let (begun, look) = match self {
            Pulse::Looks(gauge) => (gauge.begun, gauge.look),
            Pulse::Events(_) => (figures.now, Span::ZERO),
        };
        clock::now().since(figures.now.max(begun)) < LATE + look
    }
}
