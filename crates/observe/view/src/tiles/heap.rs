//! Bytes that are written once, in order, and read in place: in memory, or in a file.

use std::fmt;
use std::io;
use std::ops::Deref;
use std::sync::Arc;

/// Bytes that can be read in place.
#[derive(Clone)]
pub struct Bytes(Arc<dyn Deref<Target = [u8]> + Send + Sync>);

impl Bytes {
    /// Those of `owner`.
    pub fn new(owner: impl Deref<Target = [u8]> + Send + Sync + 'static) -> Bytes {
        Bytes(Arc::new(owner))
    }
}

impl Deref for Bytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.len())
    }
}

/// Where tiles put what they need no more until they are complete: most of their bytes.
pub trait Spill: Send {
    /// Appends `bytes`.
    fn put(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// All that was put, in that order, to be read in place.
    fn read(&mut self) -> io::Result<Bytes>;
}

/// In memory.
impl Spill for Vec<u8> {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.extend_from_slice(bytes);
        Ok(())
    }
    fn read(&mut self) -> io::Result<Bytes> {
        self.shrink_to_fit();
        Ok(Bytes::new(std::mem::take(self)))
    }
}

/// A [`Spill`] that is being filled.
pub(crate) struct Heap<'s> {
    to: &'s mut dyn Spill,
    length: u64,
    /// Why no more is put.
    failed: Option<io::Error>,
}

impl<'s> Heap<'s> {
    pub(crate) fn new(to: &'s mut dyn Spill) -> Heap<'s> {
        Heap { to, length: 0, failed: None }
    }

    /// Appends `bytes`, and says where they begin.
    pub(crate) fn put(&mut self, bytes: &[u8]) -> u64 {
        let begin = self.length;
        if self.failed.is_none() {
            self.failed = self.to.put(bytes).err();
        }
        self.length += bytes.len() as u64;
        begin
    }

    pub(crate) fn read(self) -> io::Result<Bytes> {
        match self.failed {
            Some(error) => Err(error),
            None => self.to.read(),
        }
    }
}

impl fmt::Debug for Heap<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Heap").field("length", &self.length).field("failed", &self.failed).finish()
    }
}
