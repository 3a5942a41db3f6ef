//! The place of a value in a record, resolved once so that reading it is one load and two shifts.

use super::{Endian, Order};
use crate::raw::Comm;

/// An integer of 1, 2, 4 or 8 bytes at a fixed place.
///
/// Every tracepoint record begins with 8 bytes of common fields, so the 8 bytes that end where
/// the field ends are always there, and loading them never reads past the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    load: u16,
    shift: u8,
}

impl Field {
    /// `None` for sizes that no integer has, and for fields that end within the first 8 bytes.
    pub(crate) fn new(offset: usize, size: usize) -> Option<Field> {
        if !matches!(size, 1 | 2 | 4 | 8) || offset > 0x8000 {
            return None;
        }
        let load = (offset + size).checked_sub(8)?;
        Some(Field { load: load as u16, shift: (8 - size) as u8 * 8 })
    }

    /// The value, sign-extended; take the bits that you need. `None` past the end of the record.
    #[inline(always)]
    pub(crate) fn get<O: Order>(self, record: &[u8]) -> Option<i64> {
        let load = usize::from(self.load);
        let word = O::u64(record.get(load..load + 8)?.try_into().ok()?);
        // Little-endian numbers end in the high bytes of the word, big-endian ones in the low.
        let high = match O::ENDIAN {
            Endian::Little => word,
            Endian::Big => word << self.shift,
        };
        Some(high as i64 >> self.shift)
    }
}

/// A command name: in the record itself, or at an offset that the record contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommField {
    Absent,
    Fixed {
        offset: u16,
        len: u16,
    },
    /// `__data_loc`: a u32 whose low half is an offset from the start of the record.
    DataLoc(Field),
    /// `__rel_loc`: the same, counted from the end of that u32.
    RelLoc(Field, u16),
}

impl CommField {
    #[inline(always)]
    pub(crate) fn get<O: Order>(self, record: &[u8]) -> Comm {
        if let CommField::Fixed { offset, len: 16 } = self {
            let offset = usize::from(offset);
            let bytes = record.get(offset..offset + 16).and_then(|bytes| bytes.try_into().ok());
            return bytes.map_or(Comm::default(), Comm);
        }
        self.find::<O>(record).map_or(Comm::default(), Comm::new)
    }

    #[cold]
    fn find<O: Order>(self, record: &[u8]) -> Option<&[u8]> {
        let (offset, len) = match self {
            CommField::Absent => return None,
            CommField::Fixed { offset, len } => (usize::from(offset), usize::from(len)),
            CommField::DataLoc(field) => {
                let word = field.get::<O>(record)? as u32;
                ((word & 0xffff) as usize, (word >> 16) as usize)
            }
            CommField::RelLoc(field, base) => {
                let word = field.get::<O>(record)? as u32;
                (usize::from(base) + (word & 0xffff) as usize, (word >> 16) as usize)
            }
        };
        record.get(offset..offset + len)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Big, Little};
    use super::*;

    #[test]
    fn a_field_reads_the_same_in_both_orders_wherever_it_lies() {
        let values: [i64; 4] = [-2, 77, i64::from(i32::MIN) >> 20, 1];
        for size in [1usize, 2, 4, 8] {
            for offset in 8 - size..=24 - size {
                for value in values {
                    let low = value << (64 - 8 * size) >> (64 - 8 * size);
                    let mut little = [0xa5u8; 24];
                    let mut big = [0xa5u8; 24];
                    little[offset..offset + size].copy_from_slice(&low.to_le_bytes()[..size]);
                    big[offset..offset + size].copy_from_slice(&low.to_be_bytes()[8 - size..]);
                    let field = Field::new(offset, size).expect("a size");
                    assert_eq!(field.get::<Little>(&little), Some(low));
                    assert_eq!(field.get::<Big>(&big), Some(low));
                }
            }
        }
        let last = Field::new(20, 4).expect("a size");
        assert_eq!(last.get::<Little>(&[0; 23]), None);
        assert_eq!(Field::new(8, 3), None);
    }
}
