//! Maps a file into memory: the one `unsafe` of the command line.

use std::fs::File;
use std::io;
use std::ops::Deref;

use memmap2::Mmap;

/// The bytes of an input.
pub(crate) enum Bytes {
    /// A regular file, mapped.
    Mapped(Mmap),
    /// Any other input (a pipe, a terminal, an empty file), read to its end.
    Owned(Vec<u8>),
}

impl Bytes {
    /// Maps a regular file that is not empty.
    #[expect(unsafe_code, reason = "another process can change a mapped file")]
    pub(crate) fn map(file: &File) -> io::Result<Bytes> {
        // SAFETY: the map is private and only read. No program can prevent another process from
        // truncating or rewriting the file meanwhile. Then the kernel ends this process with
        // SIGBUS, or the readers see changed bytes and treat them as any other bad input. Reading
        // the file would cost a copy of traces that can have tens of gigabytes.
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
