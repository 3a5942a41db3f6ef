//! The bytes of a file without a copy of them: the one `unsafe` of the command line.

use std::fs::File;
use std::io;
use std::ops::Deref;

use memmap2::Mmap;

/// A whole input.
pub(crate) enum Bytes {
    /// A regular file, mapped.
    Mapped(Mmap),
    /// Anything else (a pipe, a terminal, an empty file), read to its end.
    Owned(Vec<u8>),
}

impl Bytes {
    /// Maps a regular file that is not empty.
    #[expect(unsafe_code, reason = "a mapping is unsafe by nature, see below")]
    pub(crate) fn map(file: &File) -> io::Result<Bytes> {
        // SAFETY: the map is private and only read. What no program can rule out is another
        // process that cuts or rewrites the file meanwhile; then the kernel ends us with SIGBUS or
        // we read changed bytes, which the readers take for what they always expect: bad input.
        // Reading instead would cost a copy of recordings that reach tens of gigabytes.
        unsafe { Mmap::map(file) }.map(Bytes::Mapped)
    }
}

impl Deref for Bytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Mapped(map) => map,
            Bytes::Owned(bytes) => bytes,
        }
    }
}
