//! Byte order, as a type in hot loops and as a value elsewhere.

/// Byte order of a file, known once its head is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Endian {
    Little,
    Big,
}

impl Endian {
    pub(crate) fn u16(self, bytes: [u8; 2]) -> u16 {
        match self {
            Endian::Little => u16::from_le_bytes(bytes),
            Endian::Big => u16::from_be_bytes(bytes),
        }
    }
    pub(crate) fn u32(self, bytes: [u8; 4]) -> u32 {
        match self {
            Endian::Little => u32::from_le_bytes(bytes),
            Endian::Big => u32::from_be_bytes(bytes),
        }
    }
    pub(crate) fn u64(self, bytes: [u8; 8]) -> u64 {
        match self {
            Endian::Little => u64::from_le_bytes(bytes),
            Endian::Big => u64::from_be_bytes(bytes),
        }
    }
}

/// Byte order as a type, so that decoding a record has no branch on it.
pub(crate) trait Order: Copy + Send + Sync + 'static {
    const ENDIAN: Endian;
    #[inline(always)]
    fn u32(bytes: [u8; 4]) -> u32 {
        Self::ENDIAN.u32(bytes)
    }
    #[inline(always)]
    fn u64(bytes: [u8; 8]) -> u64 {
        Self::ENDIAN.u64(bytes)
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Little;
#[derive(Clone, Copy, Debug)]
pub(crate) struct Big;

impl Order for Little {
    const ENDIAN: Endian = Endian::Little;
}
impl Order for Big {
    const ENDIAN: Endian = Endian::Big;
}

/// The order of this machine.
#[cfg(target_endian = "little")]
pub(crate) type Native = Little;
/// The order of this machine.
#[cfg(target_endian = "big")]
pub(crate) type Native = Big;
