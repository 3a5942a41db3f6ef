//! Reads integers and texts one after the other; past the end a read returns `None` and never
//! panics.

use super::Endian;

/// A place in bytes. Nothing is consumed by a read that fails.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    endian: Endian,
}

impl<'a> Cursor<'a> {
    /// At `at` in `bytes`; offsets it reports count from the start of `bytes`.
    pub(crate) fn new(bytes: &'a [u8], at: usize, endian: Endian) -> Cursor<'a> {
        Cursor { bytes, at: at.min(bytes.len()), endian }
    }
    /// Where the next read begins.
    pub(crate) fn at(&self) -> usize {
        self.at
    }
    pub(crate) fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// The same with only `len` bytes left.
    pub(crate) fn cut(self, len: usize) -> Option<Cursor<'a>> {
        let bytes = self.bytes.get(..self.at.checked_add(len)?)?;
        Some(Cursor { bytes, ..self })
    }

    pub(crate) fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(len)?)?;
        self.at += len;
        Some(taken)
    }
    /// As `take`, with a length as files state it.
    pub(crate) fn take_u64(&mut self, len: u64) -> Option<&'a [u8]> {
        self.take(usize::try_from(len).ok()?)
    }
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }
    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }
    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.array().map(|bytes| self.endian.u16(bytes))
    }
    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(|bytes| self.endian.u32(bytes))
    }
    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(|bytes| self.endian.u64(bytes))
    }
    /// A text that ends at a NUL, without it.
    pub(crate) fn text(&mut self) -> Option<String> {
        let end = self.rest().iter().position(|&byte| byte == 0)?;
        let text = String::from_utf8_lossy(self.take(end)?).into_owned();
        self.u8();
        Some(text)
    }
    /// Whether `what` comes next; consumed if so.
    pub(crate) fn starts_with(&mut self, what: &[u8]) -> bool {
        let found = self.rest().starts_with(what);
        self.at += if found { what.len() } else { 0 };
        found
    }
}
