//! Compressed records (`perf record -z`): the same records as one zstd stream, cut into pieces.

use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation, OutBuffer};

use super::bytes::Bytes;
use super::index::{Halt, Index};
use super::keep::Keep;
use super::records::{HEAD, Record, Records, Stop, kind};
use crate::raw::Raw;

/// A zstd stream, and the output that is not consumed yet: a record may begin in one piece and end
/// in the next.
pub(super) struct Inflate {
    decoder: Option<Decoder<'static>>,
    /// Room for a window; its first `pending` bytes are not consumed yet.
    window: Vec<u8>,
    pending: usize,
    /// Bytes of output so far.
    total: usize,
    limit: Limit,
}

/// Why a compressed record cannot be read; nothing after it can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Broken {
    /// Its bytes, or the records in it, are damaged.
    Damaged,
    /// The output is larger than is plausible for a trace.
    TooMuch,
}

/// Damaged bytes can claim any size: how much may be produced, and how much of it may be kept.
#[derive(Clone, Copy)]
struct Limit {
    unpacked: usize,
    kept: usize,
}

impl Limit {
    fn of(len: usize) -> Limit {
        // Records of scheduling shrink by 10 to 20.
        let room = |ratio: usize| len.saturating_mul(ratio).saturating_add(16 << 20);
        Limit { unpacked: room(64), kept: room(24) }
    }
}

impl Inflate {
    /// For a file whose records have `len` bytes.
    pub(super) fn new(len: usize) -> Inflate {
        let (decoder, limit) = (decoder(len), Limit::of(len));
        Inflate { decoder, window: Vec::new(), pending: 0, total: 0, limit }
    }

    /// Whether the stream ends within a record.
    pub(super) fn is_cut(&self) -> bool {
        self.pending > 0
    }

    /// Inflates a compressed record, window by window, and passes the records in it to `index`.
    pub(super) fn record<'a, K: Keep<'a>>(
        &mut self,
        record: &Record<'_>,
        index: &mut Index<'a, K>,
    ) -> Result<(), Broken> {
        /// A size that stays in cache until it is decoded.
        const WINDOW: usize = 128 << 10;
        let piece = piece(record).ok_or(Broken::Damaged)?;
        let mut decoder = self.decoder.take().ok_or(Broken::Damaged)?;
        let mut input = InBuffer::around(piece);
        loop {
            let (at, read) = (self.pending, input.pos());
            let full = at + WINDOW;
            if self.window.len() < full {
                self.window.resize(full, 0);
            }
            let mut output = OutBuffer::around_pos(&mut self.window[..full], at);
            let result = decoder.run(&mut input, &mut output);
            let written = output.pos();
            self.pending = written;
            self.total += written - at;
            // The output before the damage is sound.
            self.take_in(record.bytes, index)?;
            result.map_err(|_| Broken::Damaged)?;
            if self.total >= self.limit.unpacked
                || index.kept().saturating_mul(size_of::<Raw>()) >= self.limit.kept
            {
                return Err(Broken::TooMuch);
            }
            if input.pos() >= piece.len() && written < full {
                self.decoder = Some(decoder);
                return Ok(());
            }
            if (written, input.pos()) == (at, read) {
                return Err(Broken::Damaged); // no progress: it needs bytes that are not there
            }
        }
    }

    /// Passes the complete records to `index`.
    fn take_in<'a, K: Keep<'a>>(
        &mut self,
        order: Bytes<'_>,
        index: &mut Index<'a, K>,
    ) -> Result<(), Broken> {
        let data = &self.window[..self.pending];
        let mut records = Records::new(Bytes { data, ..order });
        let stop = loop {
            match index.walk(&mut records) {
                Halt::Compressed(_) => {} // none is within another
                Halt::Stop(stop) => break stop,
            }
        };
        let whole = records.at;
        self.window.copy_within(whole..self.pending, 0);
        self.pending -= whole;
        match stop {
            Stop::Damaged(_) => Err(Broken::Damaged),
            Stop::End | Stop::Cut(_) => Ok(()),
        }
    }
}

/// The compressed bytes of a record.
fn piece<'a>(record: &Record<'a>) -> Option<&'a [u8]> {
    if record.kind == kind::COMPRESSED {
        return record.bytes.data.get(HEAD..);
    }
    // COMPRESSED2, {u64 size}: it is padded.
    let size = usize::try_from(record.bytes.u64(HEAD)?).ok()?;
    Some(record.bytes.part(HEAD + 8, size)?.data)
}

fn decoder(len: usize) -> Option<Decoder<'static>> {
    /// The largest window (2 to this power) that a small file may use, and that a large one may
    /// use.
    const WINDOW_LOG: (u32, u32) = (24, 27);
    let mut decoder = Decoder::new().ok()?;
    let log = if len < 64 << 20 { WINDOW_LOG.0 } else { WINDOW_LOG.1 };
    decoder.set_parameter(DParameter::WindowLogMax(log)).ok()?;
    Some(decoder)
}
