//! Bytes in either byte order.

/// Bytes that are being written.
#[derive(Clone, Debug, Default)]
pub struct Bytes {
    /// What is written so far.
    pub data: Vec<u8>,
    /// Whether the most significant byte comes first.
    pub big: bool,
}

impl Bytes {
    /// Nothing yet.
    pub fn new(big: bool) -> Bytes {
        Bytes { data: Vec::new(), big }
    }
    /// Number of bytes so far.
    pub fn len(&self) -> usize {
        self.data.len()
    }
    /// Whether nothing is written.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }
    /// The lowest `size` bytes of a number.
    pub fn int(&mut self, value: u64, size: usize) {
        match self.big {
            false => self.data.extend(&value.to_le_bytes()[..size]),
            true => self.data.extend(&value.to_be_bytes()[8 - size..]),
        }
    }
    /// One byte.
    pub fn u8(&mut self, value: u8) {
        self.data.push(value);
    }
    /// Two bytes.
    pub fn u16(&mut self, value: usize) {
        self.int(value as u64, 2);
    }
    /// Four bytes.
    pub fn u32(&mut self, value: usize) {
        self.int(value as u64, 4);
    }
    /// Eight bytes.
    pub fn u64(&mut self, value: u64) {
        self.int(value, 8);
    }
    /// Bytes as they are.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.data.extend(bytes);
    }
    /// A text and a NUL.
    pub fn text(&mut self, text: &str) {
        self.raw(text.as_bytes());
        self.u8(0);
    }
    /// A text in a field of this many bytes, zero padded.
    pub fn padded(&mut self, text: &str, size: usize) {
        let mut field = text.as_bytes().to_vec();
        field.truncate(size);
        field.resize(size, 0);
        self.raw(&field);
    }
    /// Zeros up to a multiple of `unit`.
    pub fn align(&mut self, unit: usize) {
        self.data.resize(self.len().next_multiple_of(unit), 0);
    }
    /// Overwrites a number that was written before it was known.
    pub fn set(&mut self, at: usize, value: u64, size: usize) {
        let mut number = Bytes::new(self.big);
        number.int(value, size);
        self.data[at..at + size].copy_from_slice(&number.data);
    }
}
