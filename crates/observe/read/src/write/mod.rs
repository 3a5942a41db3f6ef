//! Writes a History in other formats. All writers stream and hold no copy of it.
//!
//! | function | for |
//! |---|---|
//! | [`wn`] | wastenot itself: everything that the History holds |
//! | [`perfetto()`] | the Perfetto viewer and its SQL: events, names, topology, where tasks wait |
//! | [`csv`], [`jsonl`], [`parquet`] | spreadsheets, scripts, data frames: one event a row, see [`COLUMNS`] |
//!
//! ```
//! # use wastenot_model::*;
//! let history = Builder::new(Head::new(Machine::flat(2))).finish();
//! let mut lines = Vec::new();
//! wastenot_read::write::csv(&history, &mut lines)?;
//! assert!(lines.starts_with(b"time_ns,cpu,event,"));
//! # Ok::<(), wastenot_read::Error>(())
//! ```

mod columns;
mod csv;
pub mod edit;
mod jsonl;
#[cfg(feature = "parquet")]
mod parquet;
pub(crate) mod perfetto;
#[cfg(test)]
pub(crate) mod sample;
#[cfg(test)]
mod tests;

use std::io::Write;

use wastenot_model::History;

use crate::Error;

pub use self::perfetto::perfetto;
pub use columns::{COLUMNS, Cell, Column, Kind};
pub use csv::csv;
pub use jsonl::jsonl;
#[cfg(feature = "parquet")]
pub use parquet::{Table, events, metadata, parquet};

/// Writes a History in the own format; see [`crate::own`].
pub fn wn(history: &History, out: impl Write) -> Result<(), Error> {
    crate::own::write_wn(history, out).map(drop)
}
