//! Integers of a perf.data, in the byte order of the machine that recorded it.

use crate::ftrace::{Cursor, Endian};

/// Bytes whose integers all have one byte order. Reads outside return `None`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bytes<'a> {
    pub(super) data: &'a [u8],
    pub(super) endian: Endian,
}

impl<'a> Bytes<'a> {
    #[inline(always)]
    fn array<const N: usize>(self, at: usize) -> Option<[u8; N]> {
        self.data.get(at..at.checked_add(N)?)?.try_into().ok()
    }
    #[inline(always)]
    pub(super) fn u16(self, at: usize) -> Option<u16> {
        self.array(at).map(|bytes| self.endian.u16(bytes))
    }
    #[inline(always)]
    pub(super) fn u32(self, at: usize) -> Option<u32> {
        self.array(at).map(|bytes| self.endian.u32(bytes))
    }
    #[inline(always)]
    pub(super) fn u64(self, at: usize) -> Option<u64> {
        self.array(at).map(|bytes| self.endian.u64(bytes))
    }
    /// A part of them; `None` if it reaches outside.
    #[inline(always)]
    pub(super) fn part(self, at: usize, len: usize) -> Option<Bytes<'a>> {
        let data = self.data.get(at..at.checked_add(len)?)?;
        Some(Bytes { data, endian: self.endian })
    }
    /// The part that a file gives by 64-bit numbers.
    pub(super) fn section(self, at: u64, len: u64) -> Option<Bytes<'a>> {
        self.part(usize::try_from(at).ok()?, usize::try_from(len).ok()?)
    }
    pub(super) fn len(self) -> usize {
        self.data.len()
    }
    /// A byte far ahead. A caller that loads it, and finally passes it to [`std::hint::black_box`],
    /// has the bytes around it in cache when it gets there. A walk over records needs each size to
    /// find the next record, so without this memory is requested one line at a time, which takes
    /// twice as long.
    #[inline(always)]
    pub(super) fn ahead(self, at: usize) -> u8 {
        self.data.get(at).copied().unwrap_or(0)
    }
    pub(super) fn cursor(self) -> Cursor<'a> {
        Cursor::new(self.data, 0, self.endian)
    }
}
