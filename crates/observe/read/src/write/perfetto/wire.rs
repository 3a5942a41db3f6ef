//! Writes protobuf messages: the counterpart of `crate::perfetto::wire`.

/// A message that grows field by field.
#[derive(Debug, Default)]
pub(crate) struct Message {
    bytes: Vec<u8>,
}

impl Message {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
    }
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// An integer. Negative ones are sent as 64 bits, as `int32` and `int64` are.
    pub(crate) fn int(&mut self, field: u32, value: impl Into<i64>) {
        self.uint(field, value.into() as u64);
    }
    pub(crate) fn uint(&mut self, field: u32, value: u64) {
        self.varint(u64::from(field) << 3);
        self.varint(value);
    }
    pub(crate) fn raw(&mut self, field: u32, bytes: &[u8]) {
        self.varint(u64::from(field) << 3 | 2);
        self.varint(bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
    }
    /// All fields of another message.
    pub(crate) fn append(&mut self, other: &Message) {
        self.bytes.extend_from_slice(&other.bytes);
    }
    pub(crate) fn text(&mut self, field: u32, text: &str) {
        self.raw(field, text.as_bytes());
    }

    /// A message within this one. Its length comes before it but is known after it: one byte is
    /// reserved for it, which is enough for almost all messages; longer ones are moved up.
    pub(crate) fn message(&mut self, field: u32, build: impl FnOnce(&mut Message)) {
        self.varint(u64::from(field) << 3 | 2);
        let at = self.bytes.len();
        self.bytes.push(0);
        build(self);
        let len = self.bytes.len() - at - 1;
        if len < 0x80 {
            self.bytes[at] = len as u8;
            return;
        }
        let inner = self.bytes.split_off(at + 1);
        self.bytes.pop();
        self.varint(len as u64);
        self.bytes.extend_from_slice(&inner);
    }

    pub(crate) fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }
}
