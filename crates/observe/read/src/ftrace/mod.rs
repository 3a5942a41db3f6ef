//! The common parts of trace.dat, perf.data and a running kernel: the kernel's own event layouts.
//!
//! All have the kernel's format descriptions and raw tracepoint records. [`head`] reads the
//! sequence of descriptions at the start of a trace.dat (which perf.data embeds), [`format`] one
//! description, [`event`] one record; [`walk`] finds the records of ring-buffer pages.

pub(crate) mod cursor;
pub(crate) mod event;
pub(crate) mod field;
pub(crate) mod format;
pub(crate) mod head;
pub(crate) mod order;
pub(crate) mod walk;

pub(crate) use cursor::Cursor;
pub(crate) use event::Decoder;
pub(crate) use field::Field;
pub(crate) use format::Format;
pub(crate) use order::{Big, Endian, Little, Native, Order};
pub(crate) use walk::Walk;
