//! Unpacks the compressed parts of a version 7 file, never to more than its size can justify.

use crate::Error;

/// How the sections of a file are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Codec {
    None,
    Zlib,
    Zstd,
}

impl Codec {
    /// By the name in the head of the file.
    pub(super) fn by_name(name: &str, offset: usize) -> Result<Codec, Error> {
        match name {
            "none" | "" => Ok(Codec::None),
            "zlib" => Ok(Codec::Zlib),
            "zstd" => Ok(Codec::Zstd),
            other => {
                let what = format!("the compression method {other:?} is unknown");
                Err(Error::Damaged { format: super::NAME, what, offset })
            }
        }
    }

    /// Unpacks `packed` into `out`, which then has `size` bytes. `None` if the data is damaged or
    /// does not have that size.
    pub(super) fn unpack(self, packed: &[u8], size: usize, out: &mut Vec<u8>) -> Option<()> {
        out.resize(size, 0);
        let done = match self {
            Codec::None => None,
            Codec::Zlib => libdeflater::Decompressor::new().zlib_decompress(packed, out).ok(),
            Codec::Zstd => zstd::bulk::decompress_to_buffer(packed, out.as_mut_slice()).ok(),
        };
        (done? == size).then_some(())
    }
}

/// The most that `packed` bytes may claim to unpack to, before memory is allocated for them. Almost
/// empty pages compress a thousandfold, so small parts may claim `floor`.
pub(super) fn believable(size: usize, packed: usize, floor: usize) -> bool {
    size <= floor.max(packed.saturating_mul(1024))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_size_or_wrong_bytes_are_refused() {
        let packed = zstd::bulk::compress(&[7; 5000], 3).expect("compresses");
        let mut out = Vec::new();
        assert_eq!(Codec::Zstd.unpack(&packed, 5000, &mut out), Some(()));
        assert_eq!(out, [7; 5000]);
        assert_eq!(Codec::Zstd.unpack(&packed, 4999, &mut out), None);
        assert_eq!(Codec::Zstd.unpack(&packed, 5001, &mut out), None);
        assert_eq!(Codec::Zlib.unpack(&packed, 5000, &mut out), None);
        assert!(!believable(usize::MAX, 1 << 20, 1 << 16));
    }
}
