//! Numbers in the order of this machine's bytes, as the program in `c/` has them.

/// Numbers, one after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Writer(pub(crate) Vec<u8>);

impl Writer {
    pub(crate) fn u32(&mut self, number: u32) -> &mut Writer {
        self.0.extend(number.to_ne_bytes());
        self
    }
    pub(crate) fn u64(&mut self, number: u64) -> &mut Writer {
        self.0.extend(number.to_ne_bytes());
        self
    }
    /// A text in a field of `size` bytes, which ends with a zero.
    pub(crate) fn text(&mut self, text: &str, size: usize) -> &mut Writer {
        let end = self.0.len() + size;
        self.0.extend(text.bytes().take(size - 1));
        self.0.resize(end, 0);
        self
    }
    pub(crate) fn zeros(&mut self, count: usize) -> &mut Writer {
        self.0.resize(self.0.len() + count, 0);
        self
    }
}

/// Reads numbers at places. What is outside is 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'b>(pub(crate) &'b [u8]);

impl Reader<'_> {
    pub(crate) fn u32(self, at: usize) -> u32 {
        let bytes = self.0.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, u32::from_ne_bytes)
    }
    pub(crate) fn u64(self, at: usize) -> u64 {
        let bytes = self.0.get(at..at + 8).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, u64::from_ne_bytes)
    }
}
