//! What trace.dat and perf.data share: the kernel's own event layouts.
//!
//! Both carry the kernel's format descriptions and raw tracepoint records. [`head`] reads the
//! sequence of descriptions at the start of a trace.dat (which perf.data embeds), [`format`] one
//! description, [`event`] one record.

pub(crate) mod cursor;
pub(crate) mod event;
pub(crate) mod field;
pub(crate) mod format;
pub(crate) mod head;
pub(crate) mod order;

pub(crate) use cursor::Cursor;
pub(crate) use event::Decoder;
pub(crate) use field::Field;
pub(crate) use format::Format;
pub(crate) use order::{Big, Endian, Little, Order};
