//! Compressed records (`perf record -z`): the same records as one zstd stream, cut into pieces.

use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation, OutBuffer};

use super::bytes::Bytes;
use super::events::Events;
use super::records::{HEAD, Record, Records, Stop, kind};

/// What came out.
pub(super) struct Inflated {
    /// The records that matter, in file order.
    pub(super) records: Vec<u8>,
    /// Where the file's own records ended.
    pub(super) stop: Stop,
    /// Where the compressed stream is damaged; nothing after it can be read.
    pub(super) damaged: Option<usize>,
    /// More came out than is believable of a trace.
    pub(super) too_much: bool,
}

/// Records of scheduling shrink by 10 to 20; damaged bytes can claim any size.
const RATIO_MAX: usize = 64;
const ROOM: usize = 16 << 20;
/// The largest window that a small file may ask memory for (2 to this power), and a large one.
const WINDOW_LOG: (u32, u32) = (24, 27);

/// Inflates the compressed records and keeps of all records those that are read.
///
/// A record may begin in one piece and end in the next, so what is left over of one piece waits
/// for the next.
pub(super) fn inflate(events: &Events, bytes: Bytes<'_>) -> Inflated {
    let mut inflated =
        Inflated { records: Vec::new(), stop: Stop::End, damaged: None, too_much: false };
    let limit = bytes.len().saturating_mul(RATIO_MAX).saturating_add(ROOM);
    let Some(mut decoder) = decoder(bytes.len()) else {
        inflated.damaged = Some(0);
        return inflated;
    };
    let mut records = Records { bytes, at: 0 };
    let mut pending = Vec::new();
    let mut total = 0usize;
    loop {
        let record = match records.next() {
            Ok(record) => record,
            Err(stop) => {
                inflated.stop = stop;
                return inflated;
            }
        };
        let piece = match record.kind {
            kind::COMPRESSED => record.bytes.data.get(HEAD..),
            // {u64 size}, since this record is padded.
            kind::COMPRESSED2 => {
                let size = record.bytes.u64(HEAD).and_then(|size| usize::try_from(size).ok());
                size.and_then(|size| record.bytes.part(HEAD + 8, size)).map(|part| part.data)
            }
            _ => {
                if matters(events, &record) {
                    inflated.records.extend_from_slice(record.bytes.data);
                }
                continue;
            }
        };
        let before = pending.len();
        let sound = piece.is_some_and(|piece| {
            run(&mut decoder, piece, &mut pending, limit.saturating_sub(total)).is_some()
        });
        total += pending.len() - before;
        let whole = keep(events, Bytes { data: &pending, ..bytes }, &mut inflated.records);
        match whole {
            Ok(whole) => drop(pending.drain(..whole)),
            Err(_) => inflated.damaged = Some(record.at),
        }
        inflated.too_much = total >= limit;
        if !sound {
            inflated.damaged = Some(record.at);
        }
        if inflated.damaged.is_some() || inflated.too_much {
            return inflated;
        }
    }
}

fn decoder(len: usize) -> Option<Decoder<'static>> {
    let mut decoder = Decoder::new().ok()?;
    let log = if len < 64 << 20 { WINDOW_LOG.0 } else { WINDOW_LOG.1 };
    decoder.set_parameter(DParameter::WindowLogMax(log)).ok()?;
    Some(decoder)
}

/// Inflates one piece onto the end of `out`, at most `room` bytes.
fn run(decoder: &mut Decoder<'static>, piece: &[u8], out: &mut Vec<u8>, room: usize) -> Option<()> {
    const STEP: usize = 128 << 10;
    let begin = out.len();
    let mut input = InBuffer::around(piece);
    loop {
        let (at, read) = (out.len(), input.pos());
        out.resize(at + STEP, 0);
        let mut output = OutBuffer::around_pos(out.as_mut_slice(), at);
        let result = decoder.run(&mut input, &mut output);
        let written = output.pos();
        out.truncate(written);
        result.ok()?;
        let ended = input.pos() >= piece.len() && written < at + STEP;
        if ended || out.len() - begin >= room {
            return Some(());
        }
        if (written, input.pos()) == (at, read) {
            return None; // no progress: it asks for what is not there
        }
    }
}

fn matters(events: &Events, record: &Record<'_>) -> bool {
    match record.kind {
        kind::SAMPLE => events.stamp(record).is_some(),
        kind::COMM | kind::FORK | kind::EXIT | kind::ID_INDEX => true,
        kind::LOST | kind::LOST_SAMPLES => true,
        _ => false,
    }
}

/// Copies the records that matter; tells how many bytes were whole records. An error is a record
/// of impossible size.
fn keep(events: &Events, bytes: Bytes<'_>, out: &mut Vec<u8>) -> Result<usize, Stop> {
    let mut records = Records { bytes, at: 0 };
    loop {
        match records.next() {
            Ok(record) => {
                if matters(events, &record) {
                    out.extend_from_slice(record.bytes.data);
                }
            }
            Err(Stop::Damaged(at)) => return Err(Stop::Damaged(at)),
            Err(_) => return Ok(records.at),
        }
    }
}
