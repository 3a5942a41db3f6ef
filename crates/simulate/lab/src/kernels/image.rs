//! Images of x86 kernels: the ELF file that a bzImage holds compressed.
//!
//! QEMU boots the ELF file at once; a bzImage unpacks itself first, which takes seconds where every
//! instruction is emulated. Source: Documentation/arch/x86/boot.rst of the kernel.

use std::io::{self, Read};

use flate2::read::GzDecoder;
use lz4_flex::frame::FrameDecoder;
use lzma_rust2::XzReader;

/// No kernel comes near: those of Debian take 60 MB.
pub(super) const BYTES_MAX: u64 = 512 << 20;
/// What a decompressor may take for its window, which is as long as a number in the file says.
const WINDOW_KIB_MAX: u32 = 256 << 10;

/// The header's fields, as offsets into the file.
const SETUP_SECTORS: usize = 0x1f1;
const BOOT_FLAG: usize = 0x1fe;
const MAGIC: usize = 0x202;
const PROTOCOL: usize = 0x206;
const PAYLOAD_OFFSET: usize = 0x248;
const PAYLOAD_LENGTH: usize = 0x24c;

const SECTOR_BYTES: usize = 512;
/// The first protocol whose header says where the payload is.
const PROTOCOL_MIN: u16 = 0x208;
/// The kernel's build ends the payload with its unpacked length.
const LENGTH_BYTES: usize = 4;

/// Why an image stays as it is.
#[derive(Debug, thiserror::Error)]
pub(super) enum Packed {
    /// Another architecture's, or no kernel at all.
    #[error("the image is not a bzImage")]
    Foreign,
    /// Of a kernel before 2.6.26.
    #[error("the boot protocol of the image is too old")]
    Old,
    /// The payload is not in the file.
    #[error("the image is incomplete")]
    Cut,
    /// No decompressor for it is here.
    #[error("the compression of the image is unknown ({})", magic.escape_ascii())]
    Unknown {
        /// How the payload begins.
        magic: Vec<u8>,
    },
    /// It says to be larger than any kernel is.
    #[error("the image is larger than {} MiB", BYTES_MAX >> 20)]
    Large,
    /// The decompressor refuses it.
    #[error("the image is damaged: {0}")]
    Damaged(io::Error),
    /// What came out is not what went in.
    #[error("the image is damaged: the {bytes} unpacked bytes are not a complete ELF file")]
    NotElf {
        /// How many came out.
        bytes: usize,
    },
}

/// The ELF file in a bzImage.
pub(super) fn unpack(image: &[u8]) -> Result<Vec<u8>, Packed> {
    let payload = payload(image)?;
    let (body, length) = payload.split_last_chunk::<LENGTH_BYTES>().ok_or(Packed::Cut)?;
    let length = u32::from_le_bytes(*length);
    if u64::from(length) > BYTES_MAX {
        return Err(Packed::Large);
    }
    let reader: Box<dyn Read> = match payload {
        // Its own last field is the length.
        [0x1f, 0x8b, ..] => Box::new(GzDecoder::new(payload)),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => {
            Box::new(XzReader::new_mem_limit(body, false, WINDOW_KIB_MAX))
        }
        // Its window is 128 MiB at most.
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            Box::new(zstd::Decoder::with_buffer(body).map_err(Packed::Damaged)?.single_frame())
        }
        [0x02, 0x21, 0x4c, 0x18, ..] => Box::new(FrameDecoder::new(body)),
        other => {
            let magic = other.iter().copied().take(LENGTH_BYTES).collect();
            return Err(Packed::Unknown { magic });
        }
    };
    let mut elf = Vec::new();
    // One more than it should be, so that too many are seen.
    let most = u64::from(length) + 1;
    reader.take(most).read_to_end(&mut elf).map_err(Packed::Damaged)?;
    let whole = elf.starts_with(b"\x7fELF") && elf.len() as u64 == u64::from(length);
    if whole { Ok(elf) } else { Err(Packed::NotElf { bytes: elf.len() }) }
}

/// The compressed kernel, with its length behind it.
fn payload(image: &[u8]) -> Result<&[u8], Packed> {
    let is_linux = field(image, BOOT_FLAG) == Some([0x55, 0xaa]);
    if !is_linux || field(image, MAGIC) != Some(*b"HdrS") {
        return Err(Packed::Foreign);
    }
    if field(image, PROTOCOL).is_none_or(|bytes| u16::from_le_bytes(bytes) < PROTOCOL_MIN) {
        return Err(Packed::Old);
    }
    let number = |at| Some(u32::from_le_bytes(field(image, at)?) as usize);
    let found = || {
        // 0 stands for 4, as it always did.
        let sectors = match usize::from(*image.get(SETUP_SECTORS)?) {
            0 => 4,
            sectors => sectors,
        };
        let start = ((sectors + 1) * SECTOR_BYTES).checked_add(number(PAYLOAD_OFFSET)?)?;
        image.get(start..start.checked_add(number(PAYLOAD_LENGTH)?)?)
    };
    found().ok_or(Packed::Cut)
}

fn field<const N: usize>(image: &[u8], at: usize) -> Option<[u8; N]> {
    image.get(at..)?.first_chunk().copied()
}

#[cfg(test)]
pub(super) mod tests {
    use std::io::Write;

    use flate2::write::GzEncoder;
    use lzma_rust2::{FilterType, XzOptions, XzWriter};
    use proptest::prelude::*;

    use super::*;

    const SECTORS: u8 = 2;
    const OFFSET: usize = 100;
    const START: usize = (SECTORS as usize + 1) * SECTOR_BYTES + OFFSET;

    /// Enough for several blocks of a decompressor, and not all alike.
    fn elf() -> Vec<u8> {
        let body = (0..300_000_u32).flat_map(|n| n.wrapping_mul(n).to_le_bytes());
        b"\x7fELF".iter().copied().chain(body).collect()
    }

    /// An image that holds an ELF file of this many bytes.
    pub(in crate::kernels) fn image_of(bytes: usize) -> Vec<u8> {
        image(&gzip(&elf()[..bytes]))
    }

    fn image(payload: &[u8]) -> Vec<u8> {
        let mut image = vec![0; START];
        image[SETUP_SECTORS] = SECTORS;
        image[BOOT_FLAG..][..2].copy_from_slice(&[0x55, 0xaa]);
        image[MAGIC..][..4].copy_from_slice(b"HdrS");
        image[PROTOCOL..][..2].copy_from_slice(&0x20f_u16.to_le_bytes());
        image[PAYLOAD_OFFSET..][..4].copy_from_slice(&(OFFSET as u32).to_le_bytes());
        image[PAYLOAD_LENGTH..][..4].copy_from_slice(&(payload.len() as u32).to_le_bytes());
        image.extend(payload);
        image.extend([0xcc; 1000]);
        image
    }

    fn with_length(mut packed: Vec<u8>, elf: &[u8]) -> Vec<u8> {
        packed.extend((elf.len() as u32).to_le_bytes());
        packed
    }

    fn gzip(elf: &[u8]) -> Vec<u8> {
        let mut to = GzEncoder::new(Vec::new(), flate2::Compression::fast());
        to.write_all(elf).expect("memory");
        to.finish().expect("memory")
    }

    fn zstd(elf: &[u8]) -> Vec<u8> {
        with_length(zstd::encode_all(elf, 1).expect("memory"), elf)
    }

    /// As the kernel's build does: code is changed first so that it packs better.
    fn xz(elf: &[u8]) -> Vec<u8> {
        let mut options = XzOptions::with_preset(1);
        options.prepend_pre_filter(FilterType::BcjX86, 0);
        let mut to = XzWriter::new(Vec::new(), options).expect("options");
        to.write_all(elf).expect("memory");
        with_length(to.finish().expect("memory"), elf)
    }

    /// The format of before frames: blocks of 8 MiB, each after its packed length.
    fn lz4(elf: &[u8]) -> Vec<u8> {
        let block = lz4_flex::block::compress(elf);
        let mut packed = vec![0x02, 0x21, 0x4c, 0x18];
        packed.extend((block.len() as u32).to_le_bytes());
        packed.extend(block);
        with_length(packed, elf)
    }

    /// Every way to pack one.
    fn all(elf: &[u8]) -> [Vec<u8>; 4] {
        [gzip(elf), zstd(elf), xz(elf), lz4(elf)]
    }

    #[test]
    fn every_compression_of_the_kernel_is_unpacked() {
        let elf = elf();
        for payload in all(&elf) {
            let unpacked = unpack(&image(&payload)).expect("an image");
            assert!(unpacked == elf, "{}", payload[..4].escape_ascii());
        }
    }

    #[test]
    fn what_is_no_image_is_refused() {
        let good = image(&gzip(&elf()));
        let with = |at: usize, bytes: &[u8]| {
            let mut image = good.clone();
            image[at..][..bytes.len()].copy_from_slice(bytes);
            unpack(&image).expect_err("refused")
        };
        assert!(matches!(with(MAGIC, b"HdrT"), Packed::Foreign));
        assert!(matches!(with(BOOT_FLAG, &[0, 0]), Packed::Foreign));
        assert!(matches!(with(PROTOCOL, &[7, 2]), Packed::Old));
        assert!(matches!(with(PAYLOAD_OFFSET, &[0xff; 4]), Packed::Cut));
        assert!(matches!(with(PAYLOAD_LENGTH, &[0xff; 4]), Packed::Cut));
        assert!(matches!(with(PAYLOAD_LENGTH, &[3, 0, 0, 0]), Packed::Cut));
        let unknown = with(START, b"BZh9");
        assert_eq!(unknown.to_string(), "the compression of the image is unknown (BZh9)");
        assert!(matches!(unpack(b"MZ"), Err(Packed::Foreign)));
        assert!(matches!(unpack(&good[..0x204]), Err(Packed::Foreign)));
        assert!(matches!(unpack(&good[..0x207]), Err(Packed::Old)));
        assert!(matches!(unpack(&good[..0x24a]), Err(Packed::Cut)));
    }

    #[test]
    fn an_image_is_as_large_as_it_says_or_refused() {
        let elf = elf();
        for mut payload in all(&elf) {
            let magic = payload[..4].escape_ascii().to_string();
            let end = payload.len() - LENGTH_BYTES;
            payload[end..].copy_from_slice(&(elf.len() as u32 - 1).to_le_bytes());
            let more = unpack(&image(&payload)).expect_err(&magic);
            assert!(matches!(more, Packed::NotElf { .. } | Packed::Damaged(_)), "{magic}: {more}");
            payload[end..].copy_from_slice(&u32::MAX.to_le_bytes());
            assert!(matches!(unpack(&image(&payload)), Err(Packed::Large)), "{magic}");
        }
        let other = unpack(&image(&zstd(b"no ELF file"))).expect_err("refused");
        assert!(matches!(other, Packed::NotElf { bytes: 11 }), "{other}");
    }

    #[test]
    fn an_image_cut_anywhere_is_refused() {
        let elf = elf();
        for payload in all(&elf[..5000]) {
            for end in 0..payload.len() {
                assert!(unpack(&image(&payload[..end])).is_err(), "{end} of {}", payload.len());
            }
        }
    }

    proptest! {
        #[test]
        fn damage_never_panics(which in 0_usize..4, at in 0_usize..6000, byte: u8) {
            let mut image = image(&all(&elf()[..5000])[which]);
            let at = at % image.len();
            image[at] = byte;
            let _ = unpack(&image);
        }
    }
}
