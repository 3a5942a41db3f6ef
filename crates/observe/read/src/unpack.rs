//! Traces that were compressed as a whole, as users often do before they send them.

use std::io::{ErrorKind, Read};

use flate2::read::GzDecoder;
use libdeflater::{DecompressionError, Decompressor};

use crate::Error;

/// The most bytes that `len` compressed ones may unpack to. A small file may unpack to much, a
/// large one to sixteen times its size, which is more than traces do.
pub(crate) fn limit(len: usize) -> usize {
    len.saturating_mul(16).saturating_add(16 << 20)
}

/// The contents of an archive.
#[derive(Debug)]
pub(crate) struct Unpacked {
    pub(crate) bytes: Vec<u8>,
    /// Whether the archive ends in the middle: then this is the part before.
    pub(crate) cut: bool,
}

/// The contents of a gzip or zstd archive; `None` if `bytes` are neither.
pub(crate) fn whole(bytes: &[u8]) -> Option<Result<Unpacked, Error>> {
    match bytes {
        [0x1f, 0x8b, 8, ..] => Some(gzip(bytes)),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(zstd(bytes)),
        _ => None,
    }
}

/// gzip states the size of its contents at its end, modulo 2^32: only a first guess.
fn gzip(bytes: &[u8]) -> Result<Unpacked, Error> {
    let room = limit(bytes.len());
    let stated = bytes.last_chunk::<4>().map_or(0, |size| u32::from_le_bytes(*size) as usize);
    let mut size = stated.clamp(4096, room);
    loop {
        let mut out = vec![0; size];
        match Decompressor::new().gzip_decompress(bytes, &mut out) {
            Ok(len) => {
                out.truncate(len);
                return Ok(Unpacked { bytes: out, cut: false });
            }
            Err(DecompressionError::InsufficientSpace) if size < room => {
                size = size.saturating_mul(4).min(room);
            }
            Err(DecompressionError::InsufficientSpace) => return Err(too_much("gzip", room)),
            Err(DecompressionError::BadData) => return cut_gzip(bytes, room),
        }
    }
}

/// The fast library call handles only whole archives; this one returns the part before a cut.
fn cut_gzip(bytes: &[u8], room: usize) -> Result<Unpacked, Error> {
    let mut out = Vec::new();
    let read = GzDecoder::new(bytes).take(room as u64 + 1).read_to_end(&mut out);
    match read {
        _ if out.len() > room => Err(too_much("gzip", room)),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof && !out.is_empty() => {
            Ok(Unpacked { bytes: out, cut: true })
        }
        _ => Err(damaged("gzip", "the compressed data is damaged".into())),
    }
}

fn zstd(bytes: &[u8]) -> Result<Unpacked, Error> {
    let room = limit(bytes.len());
    let mut out = Vec::new();
    let decoder = zstd::stream::read::Decoder::with_buffer(bytes).map_err(Error::Io)?;
    let read = decoder.take(room as u64 + 1).read_to_end(&mut out);
    match read {
        _ if out.len() > room => Err(too_much("zstd", room)),
        Err(error) if out.is_empty() => Err(damaged("zstd", error.to_string())),
        read => Ok(Unpacked { bytes: out, cut: read.is_err() }),
    }
}

fn too_much(format: &'static str, room: usize) -> Error {
    damaged(format, format!("the compressed data unpacks to more than {} MiB", room >> 20))
}

fn damaged(format: &'static str, what: String) -> Error {
    Error::Damaged { format, what, offset: 0 }
}
