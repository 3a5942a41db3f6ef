//! Bytes that are put and read one after the other.
//!
//! Numbers have eight bytes, the lowest first; what comes in any number stands behind its length.

use wastenot_model::{Time, Window};

/// Bytes that grow.
#[derive(Debug, Default)]
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    /// All that was put.
    pub(crate) fn done(self) -> Vec<u8> {
        self.0
    }
    /// Puts a number.
    pub(crate) fn number(&mut self, number: u64) {
        self.0.extend(number.to_le_bytes());
    }
    /// Puts bytes behind their number.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend(bytes);
    }
    /// Puts each behind their number.
    pub(crate) fn all<T>(&mut self, all: &[T], mut put: impl FnMut(&mut Writer, &T)) {
        self.number(all.len() as u64);
        all.iter().for_each(|it| put(self, it));
    }
    pub(crate) fn window(&mut self, window: Window) {
        self.number(window.from.0);
        self.number(window.to.0);
    }
}

/// Bytes that are left; every answer is `None` where they end too early.
#[derive(Debug)]
pub(crate) struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    /// Of all these.
    pub(crate) fn new(bytes: &'b [u8]) -> Reader<'b> {
        Reader(bytes)
    }
    /// What is left.
    pub(crate) fn rest(&self) -> &'b [u8] {
        self.0
    }
    fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }
    /// A number.
    pub(crate) fn number(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }
    /// Bytes behind their number.
    pub(crate) fn bytes(&mut self) -> Option<&'b [u8]> {
        let count = self.number()?;
        self.take(usize::try_from(count).ok()?)
    }
    /// All behind their number, read one by one: a number that is wrong takes no memory.
    pub(crate) fn all<T>(
        &mut self,
        mut get: impl FnMut(&mut Reader<'b>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let count = self.number()?;
        let mut all = Vec::new();
        for _ in 0..count {
            all.push(get(self)?);
        }
        Some(all)
    }
    pub(crate) fn window(&mut self) -> Option<Window> {
        let (from, to) = (Time(self.number()?), Time(self.number()?));
        (from <= to).then_some(Window { from, to })
    }
}
