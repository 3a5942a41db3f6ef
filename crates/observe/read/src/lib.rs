//! Formats in and out of a [`History`].
//!
//! A format is recognised by its content. Each format turns its bytes into [`raw::Raw`] events, one
//! stream per CPU; [`assemble`] decodes the streams in parallel, merges them in order, resolves
//! tids to task ids and pushes into a History. Formats know layouts; the assembler knows time and
//! identity; this crate does not know what an event means (that is `model::State`).

mod assemble;
mod detect;
mod error;
mod formats;
mod ftrace;
pub mod live;
mod merge;
pub mod own;
mod perf;
mod perfetto;
mod raw;
mod tasks;
mod text;
mod tracedat;
mod unpack;
pub mod write;

use std::io::Read;

use wastenot_model::{History, Loss, LossKind};

pub use detect::{Format, detect};
pub use error::Error;
pub use ftrace::format::Formats;

/// How to read.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The name of the source in reports: a path.
    pub name: String,
    /// Cycles per second of a clock that counts cycles (x86-tsc without a conversion in the file).
    /// Without it the times of such a History stay in cycles, and its clock is marked so.
    pub clock_hz: Option<u64>,
    /// The buffer (instance) of a trace.dat to read; the default is the first with scheduling
    /// events.
    pub buffer: Option<String>,
    /// Descriptions of events, for a perf.data that lacks them.
    pub formats: Option<Formats>,
    /// How far to read.
    pub until: Until,
}

/// How far to read. Only benchmarks stop early, to measure each stage; they get an empty History,
/// or the error that it is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Until {
    /// Every record is decoded and dropped.
    Decoded,
    /// They are also put in order.
    Merged,
    /// A History.
    #[default]
    Read,
}

/// Reads a trace and detects its format by its content.
pub fn read(bytes: &[u8], options: &Options) -> Result<History, Error> {
    // Traces are often sent compressed as a whole; an archive within an archive is not a trace.
    match unpack::whole(bytes) {
        Some(unpacked) => {
            let unpacked = unpacked?;
            let mut history = read_plain(&unpacked.bytes, options)?;
            if unpacked.cut {
                history.lose(Loss::new(LossKind::Cut, "the compressed file ends too early"));
            }
            Ok(history)
        }
        None => read_plain(bytes, options),
    }
}

fn read_plain(bytes: &[u8], options: &Options) -> Result<History, Error> {
    let history = match detect(bytes)? {
        // It records the losses of its source, and those found when another format was read.
        Format::Own => return own::read(bytes, options),
        Format::Perfetto => perfetto::read(bytes, options),
        Format::PerfData => perf::read(bytes, options),
        Format::TraceDat => tracedat::read(bytes, options),
        Format::Text => text::read(bytes, options),
    };
    history.map(History::tell_early_ends)
}

/// Reads short stretches of a trace, spread over its time: about `room` bytes of it. What lies
/// between them counts as lost, and all else is as [`read`] tells it. `None` if that is not much
/// less than all, for what cannot be read, and for formats in which a time can only be found by
/// reading up to it: all but an uncompressed trace.dat, or one that trace-cmd compressed.
pub fn glance(bytes: &[u8], options: &Options, room: usize) -> Option<History> {
    match detect(bytes) {
        Ok(Format::TraceDat) => {
            tracedat::glance(bytes, options, room).map(History::tell_early_ends)
        }
        _ => None,
    }
}

/// Reads a stream to its end, then the trace in it. Memory grows with the bytes that arrive, not
/// with the sizes that the stream claims.
pub fn read_from(mut source: impl Read, options: &Options) -> Result<History, Error> {
    let mut bytes = Vec::new();
    source.read_to_end(&mut bytes).map_err(Error::Io)?;
    read(&bytes, options)
}

/// One fuzz case of every reader: for any bytes, no panic, no hang, and memory in proportion.
pub fn fuzz_one(bytes: &[u8]) {
    let _ = read(bytes, &Options::default());
    let _ = glance(bytes, &Options::default(), 1 << 14);
}
