//! Which messages of an Arrow stream are whole and safe to hand to the Arrow library.
//!
//! The library allocates what a buffer's length prefix states, so every length is held against
//! the number of rows first, and that against what compression can yield.

use arrow_ipc::{MessageHeader, RecordBatch, root_as_message};

/// What precedes each message: four bytes of ones, then the size of its metadata.
const MARK: [u8; 4] = [0xff; 4];
/// Most bytes of a cell: 8 of a number; texts are bounded on their own.
const WIDEST: u64 = 8;
/// Most text in a batch. A reader must bound it; a writer stays far below.
const TEXT_LIMIT: u64 = 16 << 20;
/// Most rows in a batch that this version reads.
const ROWS_LIMIT: u64 = 1 << 17;

/// How far the stream can be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Its end mark is there.
    Whole,
    /// The last bytes are the beginning of a message.
    Cut,
    /// A message is not what the format says; at this offset.
    Damaged(usize),
}

/// The length of the part of `bytes` that can be handed on, and what comes after it.
pub(super) fn whole(bytes: &[u8]) -> (usize, End) {
    let mut at = 0;
    loop {
        let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) else {
            return (at, End::Cut);
        };
        let Some(prefix) = rest.first_chunk::<8>() else { return (at, End::Cut) };
        if prefix[..4] != MARK {
            return (at, End::Damaged(at));
        }
        let size = u32::from_le_bytes([prefix[4], prefix[5], prefix[6], prefix[7]]) as usize;
        if size == 0 {
            return (at + 8, End::Whole);
        }
        let Some(metadata) = rest.get(8..8 + size) else { return (at, End::Cut) };
        let Ok(message) = root_as_message(metadata) else { return (at, End::Damaged(at)) };
        let Ok(body) = usize::try_from(message.bodyLength()) else {
            return (at, End::Damaged(at));
        };
        let Some(body) = rest[8 + size..].get(..body) else { return (at, End::Cut) };
        let fine = match message.header_type() {
            MessageHeader::Schema => at == 0,
            MessageHeader::RecordBatch => {
                at > 0 && message.header_as_record_batch().is_some_and(|batch| sane(&batch, body))
            }
            _ => false,
        };
        if !fine {
            return (at, End::Damaged(at));
        }
        at += 8 + size + body.len();
    }
}

/// Whether the buffers of a batch lie in its body and none unpacks to more than its rows need.
fn sane(batch: &RecordBatch<'_>, body: &[u8]) -> bool {
    let Some(rows) = u64::try_from(batch.length()).ok().filter(|&rows| rows <= ROWS_LIMIT) else {
        return false;
    };
    let (Some(nodes), Some(buffers)) = (batch.nodes(), batch.buffers()) else { return false };
    let counts = |n: i64| u64::try_from(n).is_ok_and(|n| n <= rows);
    if nodes.iter().any(|node| node.length() as u64 != rows || !counts(node.null_count())) {
        return false;
    }
    buffers.iter().all(|buffer| {
        let place =
            usize::try_from(buffer.offset()).ok().zip(usize::try_from(buffer.length()).ok());
        let place = place.and_then(|(offset, len)| body.get(offset..offset.checked_add(len)?));
        let Some(bytes) = place else { return false };
        if bytes.is_empty() || batch.compression().is_none() {
            return true;
        }
        let Some(prefix) = bytes.first_chunk::<8>() else { return false };
        // -1 means that the buffer is not compressed after all.
        let unpacked = i64::from_le_bytes(*prefix);
        unpacked == -1 || (0..=unpacked_limit(rows) as i64).contains(&unpacked)
    })
}

/// Texts are in one buffer of a batch, so the bound on any buffer is the bound on texts.
fn unpacked_limit(rows: u64) -> u64 {
    (rows.saturating_add(8) * WIDEST).max(TEXT_LIMIT)
}
