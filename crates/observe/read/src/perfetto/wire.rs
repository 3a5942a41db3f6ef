//! The protobuf wire format: fields one after the other. This module copies nothing.

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wire<'a> {
    /// An integer of any kind.
    Int(u64),
    /// A text, a message, or an array of integers.
    Bytes(&'a [u8]),
}

impl<'a> Wire<'a> {
    pub(crate) fn int(self) -> Option<u64> {
        match self {
            Wire::Int(value) => Some(value),
            Wire::Bytes(_) => None,
        }
    }
    pub(crate) fn bytes(self) -> &'a [u8] {
        match self {
            Wire::Int(_) => &[],
            Wire::Bytes(bytes) => bytes,
        }
    }
    pub(crate) fn text(self) -> String {
        String::from_utf8_lossy(self.bytes()).into_owned()
    }
    pub(crate) fn int_or(self, default: u64) -> u64 {
        self.int().unwrap_or(default)
    }
    /// `int32` values are sent as 64 bits with their sign.
    pub(crate) fn int32(self) -> i32 {
        self.int_or(0) as i32
    }
}

/// The fields of a message in the order in which they were written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
    /// Why iteration stopped before the end of the bytes.
    pub(crate) stop: Option<Stop>,
}

/// Why a message ends early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// A field is longer than what is left.
    Cut,
    /// A wire type that does not exist, or a number over 64 bits.
    Damaged,
}

impl<'a> Fields<'a> {
    pub(crate) fn of(message: &'a [u8]) -> Fields<'a> {
        Fields { rest: message, stop: None }
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = (u32, Wire<'a>);

    #[inline]
    fn next(&mut self) -> Option<(u32, Wire<'a>)> {
        if self.rest.is_empty() || self.stop.is_some() {
            return None;
        }
        match field(&mut self.rest) {
            Ok(field) => Some(field),
            Err(stop) => {
                self.stop = Some(stop);
                None
            }
        }
    }
}

#[inline]
fn field<'a>(rest: &mut &'a [u8]) -> Result<(u32, Wire<'a>), Stop> {
    let tag = varint(rest)?;
    let number = u32::try_from(tag >> 3).map_err(|_| Stop::Damaged)?;
    let wire = match tag & 7 {
        0 => Wire::Int(varint(rest)?),
        1 => Wire::Int(u64::from_le_bytes(*take_array(rest)?)),
        2 => {
            let len = varint(rest)?;
            let len = usize::try_from(len).map_err(|_| Stop::Cut)?;
            let (bytes, after) = rest.split_at_checked(len).ok_or(Stop::Cut)?;
            *rest = after;
            Wire::Bytes(bytes)
        }
        5 => Wire::Int(u64::from(u32::from_le_bytes(*take_array(rest)?))),
        _ => return Err(Stop::Damaged),
    };
    match number {
        0 => Err(Stop::Damaged),
        _ => Ok((number, wire)),
    }
}

fn take_array<'a, const N: usize>(rest: &mut &'a [u8]) -> Result<&'a [u8; N], Stop> {
    let (array, after) = rest.split_first_chunk::<N>().ok_or(Stop::Cut)?;
    *rest = after;
    Ok(array)
}

/// Seven bits a byte, lowest first; the last byte has its top bit clear.
#[inline]
fn varint(rest: &mut &[u8]) -> Result<u64, Stop> {
    match rest.split_first() {
        Some((&byte, after)) if byte < 0x80 => {
            *rest = after;
            Ok(u64::from(byte))
        }
        _ => long_varint(rest),
    }
}

fn long_varint(rest: &mut &[u8]) -> Result<u64, Stop> {
    let mut value = 0u64;
    for (index, &byte) in rest.iter().enumerate().take(10) {
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte < 0x80 {
            *rest = &rest[index + 1..];
            return Ok(value);
        }
    }
    Err(if rest.len() < 10 { Stop::Cut } else { Stop::Damaged })
}

/// A packed array of integers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Packed<'a> {
    rest: &'a [u8],
}

impl<'a> Packed<'a> {
    pub(crate) fn of(bytes: &'a [u8]) -> Packed<'a> {
        Packed { rest: bytes }
    }
}

impl Iterator for Packed<'_> {
    type Item = u64;
    #[inline]
    fn next(&mut self) -> Option<u64> {
        varint(&mut self.rest).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_every_wire_type_are_read_and_unknown_ones_passed() {
        let bytes =
            [0x08, 0x96, 0x01, 0x12, 2, b'h', b'i', 0x1d, 1, 0, 0, 0, 0x21, 2, 0, 0, 0, 0, 0, 0, 0];
        let fields: Vec<_> = Fields::of(&bytes).collect();
        let want =
            [(1, Wire::Int(150)), (2, Wire::Bytes(b"hi")), (3, Wire::Int(1)), (4, Wire::Int(2))];
        assert_eq!(fields, want);
    }

    #[test]
    fn a_message_stops_where_it_is_cut_or_damaged() {
        let stop = |bytes: &[u8]| {
            let mut fields = Fields::of(bytes);
            fields.by_ref().for_each(drop);
            fields.stop
        };
        assert_eq!(stop(&[0x12, 5, b'h']), Some(Stop::Cut));
        assert_eq!(
            stop(&[0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]),
            Some(Stop::Cut)
        );
        assert_eq!(stop(&[0x08]), Some(Stop::Cut));
        assert_eq!(stop(&[0x0b, 0]), Some(Stop::Damaged), "groups are not in use");
        assert_eq!(stop(&[0xff; 11]), Some(Stop::Damaged));
        assert_eq!(stop(&[0x00, 0]), Some(Stop::Damaged), "field 0 does not exist");
        assert_eq!(stop(&[0x08, 1]), None);
    }
}
