//! Walks the records of a perf.data: `{u32 type, u16 misc, u16 size}`, then the rest of `size`.

use super::bytes::Bytes;

/// Record types, from `perf_event.h` (below 64) and perf's `perf.data-file-format.txt`.
pub(super) mod kind {
    pub(in super::super) const LOST: u32 = 2;
    pub(in super::super) const COMM: u32 = 3;
    pub(in super::super) const EXIT: u32 = 4;
    pub(in super::super) const FORK: u32 = 7;
    pub(in super::super) const SAMPLE: u32 = 9;
    pub(in super::super) const LOST_SAMPLES: u32 = 13;
    pub(in super::super) const HEADER_ATTR: u32 = 64;
    pub(in super::super) const HEADER_TRACING_DATA: u32 = 66;
    pub(in super::super) const ID_INDEX: u32 = 69;
    pub(in super::super) const AUXTRACE: u32 = 71;
    pub(in super::super) const HEADER_FEATURE: u32 = 80;
    pub(in super::super) const COMPRESSED: u32 = 81;
    pub(in super::super) const COMPRESSED2: u32 = 83;
}

/// Size of a record's head.
pub(super) const HEAD: usize = 8;
/// The offset of the record's size in the head.
pub(super) const SIZE: usize = 6;

/// How far ahead a walk prefetches bytes: measured, and good from 1 to 16 KiB.
const AHEAD: usize = 4096;
/// A scheduling sample has fewer bytes than two cache lines.
pub(super) const LINE: usize = 64;

/// One record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record<'a> {
    /// Its offset.
    pub(super) at: usize,
    pub(super) kind: u32,
    pub(super) misc: u16,
    /// All of it including its head, so that offsets are those of `perf_event.h`.
    pub(super) bytes: Bytes<'a>,
    /// The bytes after it that are not a record: tracing data, AUX data.
    pub(super) trailing: &'a [u8],
}

/// Why no further record can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The last record ended at the end of the bytes.
    End,
    /// The bytes end within the record at this place.
    Cut(usize),
    /// The record at this place has an impossible size, so that the next cannot be found.
    Damaged(usize),
}

/// A walk over records.
#[derive(Clone, Copy, Debug)]
pub(super) struct Records<'a> {
    pub(super) bytes: Bytes<'a>,
    pub(super) at: usize,
    /// See [`Bytes::ahead`].
    pub(super) ahead: u8,
}

impl<'a> Records<'a> {
    pub(super) fn new(bytes: Bytes<'a>) -> Records<'a> {
        Records { bytes, at: 0, ahead: 0 }
    }

    /// The next record.
    #[inline(always)]
    pub(super) fn next(&mut self) -> Result<Record<'a>, Stop> {
        let at = self.at;
        self.ahead ^= self.bytes.ahead(at + AHEAD) ^ self.bytes.ahead(at + AHEAD + LINE);
        let head = self.bytes.part(at, HEAD);
        let head = head.and_then(|head| Some((head.u32(0)?, head.u16(4)?, head.u16(SIZE)?)));
        let Some((kind, misc, size)) = head else {
            return Err(if at == self.bytes.len() { Stop::End } else { Stop::Cut(at) });
        };
        let size = usize::from(size);
        if size < HEAD {
            return Err(Stop::Damaged(at));
        }
        let bytes = self.bytes.part(at, size).ok_or(Stop::Cut(at))?;
        let trailing = match kind {
            kind::HEADER_TRACING_DATA | kind::AUXTRACE => trailing(self.bytes, at, kind, bytes)?,
            _ => &[],
        };
        self.at = at + size + trailing.len();
        Ok(Record { at, kind, misc, bytes, trailing })
    }
}

/// Two kinds of records are followed by bytes that their size does not include.
#[cold]
fn trailing<'a>(all: Bytes<'a>, at: usize, kind: u32, record: Bytes<'a>) -> Result<&'a [u8], Stop> {
    let len = match kind {
        kind::HEADER_TRACING_DATA => record.u32(HEAD).map(u64::from),
        _ => record.u64(HEAD),
    };
    // Padded to 8 bytes.
    let len = len.and_then(|len| len.checked_next_multiple_of(8)).ok_or(Stop::Damaged(at))?;
    let part = all.section((at + record.len()) as u64, len).ok_or(Stop::Cut(at))?;
    Ok(part.data)
}
