//! Rows in the memory that they need: about 7 bytes each, where a [`Row`] has 24.
//!
//! Rows are packed in chunks. In a chunk every row has the same number of bits: for its time since
//! the chunk's first row, its CPU, its two tasks, and its number in the chunk's list of whats
//! (kind, flags, and the rest). Each has as many bits as the largest value in the chunk needs.

use std::iter::{Chain, Copied, FlatMap};
use std::slice;

use super::event::Row;
use crate::Time;

/// Rows of a full chunk. Unpacked they fit in a first-level cache.
const CHUNK: usize = 1024;

/// Rows in time order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    packed: Vec<Packed>,
    /// The last rows, fewer than a chunk.
    open: Vec<Row>,
    /// How many there are in `packed`.
    len: usize,
}

/// Goes through rows; those of a chunk are unpacked together.
pub(crate) type Reader<'h> = Chain<
    FlatMap<slice::Iter<'h, Packed>, Vec<Row>, fn(&Packed) -> Vec<Row>>,
    Copied<slice::Iter<'h, Row>>,
>;

impl Rows {
    /// Adds a row that is not earlier than the last.
    #[inline(always)]
    pub(crate) fn push(&mut self, row: Row) {
        self.open.push(row);
        if self.open.len() == CHUNK {
            self.close();
        }
    }

    #[inline(never)]
    fn close(&mut self) {
        self.packed.push(Packed::of(&self.open));
        self.len += self.open.len();
        self.open.clear();
    }

    /// No more will come.
    pub(crate) fn end(&mut self) {
        self.packed.shrink_to_fit();
        self.open.shrink_to_fit();
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.len + self.open.len()
    }

    /// All, in order.
    pub(crate) fn iter(&self) -> Reader<'_> {
        let unpack: fn(&Packed) -> Vec<Row> = Packed::unpack;
        self.packed.iter().flat_map(unpack).chain(self.open.iter().copied())
    }

    /// All, from the last to the first.
    pub(crate) fn backwards(&self) -> impl Iterator<Item = Row> {
        let packed = self.packed.iter().rev().flat_map(|chunk| chunk.unpack().into_iter().rev());
        self.open.iter().rev().copied().chain(packed)
    }

    /// How many there are up to `time`, those at that time included.
    pub(crate) fn until(&self, time: Time) -> usize {
        let upto = |rows: &[Row]| rows.partition_point(|row| row.time() <= time);
        // Rows up to that time can end in the last chunk that begins by then.
        let begun = self.packed.partition_point(|chunk| chunk.first <= time.0);
        let Some(last) = begun.checked_sub(1) else { return upto(&self.open) };
        let before: usize = self.packed[..last].iter().map(Packed::len).sum();
        before + upto(&self.packed[last].unpack()) + upto(&self.open)
    }

    /// Puts a row behind so many.
    pub(crate) fn insert(&mut self, mut rows: usize, row: Row) {
        for chunk in &mut self.packed {
            if rows <= chunk.len() {
                let mut unpacked = chunk.unpack();
                unpacked.insert(rows, row);
                *chunk = Packed::of(&unpacked);
                self.len += 1;
                return;
            }
            rows -= chunk.len();
        }
        self.open.insert(rows.min(self.open.len()), row);
    }
}

/// A chunk of rows.
#[derive(Clone, Debug)]
pub(crate) struct Packed {
    /// The time of its first row, ns.
    first: u64,
    rows: u32,
    /// How many different whats there are.
    whats: u32,
    widths: [u8; FIELDS],
    /// First the whats, then the fields of row after row, then what a read of the last one needs.
    bytes: Box<[u8]>,
}

/// What a row is packed as: time, CPU, what, two tasks.
const FIELDS: usize = 5;
/// Bytes of a what.
const WHAT: usize = 6;
/// A field is read with this many bytes, from the one on where it begins.
const READ: usize = 16;

impl Packed {
    /// Packs rows in time order, at least one.
    fn of(rows: &[Row]) -> Packed {
        let first = rows.first().map_or(0, |row| row.time().0);
        let mut whats = Whats::new(rows.len());
        let mut largest = [0; FIELDS];
        let mut fields = Vec::with_capacity(rows.len());
        for row in rows {
            let [task, other] = row.tasks();
            let what = whats.number(row.what());
            let these =
                [row.time().0.wrapping_sub(first), u64::from(row.cpu().0), what, task, other];
            (0..FIELDS).for_each(|field| largest[field] |= these[field]);
            fields.push(these);
        }
        let widths = largest.map(|value| (u64::BITS - value.leading_zeros()) as u8);
        let bits: usize = widths.iter().map(|&width| usize::from(width)).sum();
        let room = whats.all.len() * WHAT + (bits * rows.len()).div_ceil(8) + READ;
        let mut bytes = Vec::with_capacity(room + 8);
        for what in &whats.all {
            bytes.extend_from_slice(&what.to_le_bytes()[..WHAT]);
        }
        let (mut pending, mut count) = (0u128, 0);
        for these in &fields {
            for (&value, &width) in these.iter().zip(&widths) {
                pending |= u128::from(value) << count;
                count += u32::from(width);
                if count >= u64::BITS {
                    bytes.extend_from_slice(&(pending as u64).to_le_bytes());
                    pending >>= u64::BITS;
                    count -= u64::BITS;
                }
            }
        }
        bytes.extend_from_slice(&pending.to_le_bytes());
        bytes.resize(room, 0);
        let (rows, whats) = (rows.len() as u32, whats.all.len() as u32);
        Packed { first, rows, whats, widths, bytes: bytes.into_boxed_slice() }
    }

    fn len(&self) -> usize {
        self.rows as usize
    }

    fn unpack(&self) -> Vec<Row> {
        let (whats, bits) = self.bytes.split_at(self.whats as usize * WHAT);
        let (whats, _) = whats.as_chunks::<WHAT>();
        let widths = self.widths.map(usize::from);
        let masks = widths.map(|width| (1u128 << width).wrapping_sub(1) as u64);
        let mut at = 0;
        let row = |_| {
            let mut field = |field: usize| {
                let (byte, shift) = (at / 8, at % 8);
                at += widths[field];
                let read: [u8; READ] = bits[byte..byte + READ].try_into().unwrap_or_default();
                (u128::from_le_bytes(read) >> shift) as u64 & masks[field]
            };
            let (time, cpu, what) =
                (self.first.wrapping_add(field(0)), field(1) as u16, field(2) as usize);
            let [a, b, c, d, e, f] = whats[what];
            let what = u64::from_le_bytes([a, b, c, d, e, f, 0, 0]);
            Row::from_parts(time, cpu, what, [field(3), field(4)])
        };
        (0..self.rows).map(row).collect()
    }
}

/// Numbers for whats, in the order in which they come.
struct Whats {
    all: Vec<u64>,
    /// A hash table of numbers in `all`, each one more than it is; 0 where there is none.
    places: Vec<u16>,
}

impl Whats {
    /// For at most so many.
    fn new(most: usize) -> Whats {
        let places = (2 * most).next_power_of_two().max(2);
        Whats { all: Vec::new(), places: vec![0; places] }
    }

    fn number(&mut self, what: u64) -> u64 {
        // Multiplying with the golden ratio spreads over the high bits (Knuth).
        let hash = what.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut place = (hash >> (u64::BITS - self.places.len().trailing_zeros())) as usize;
        loop {
            match self.places[place] {
                0 => break,
                known if self.all[usize::from(known) - 1] == what => return u64::from(known) - 1,
                _ => place = (place + 1) % self.places.len(),
            }
        }
        self.all.push(what);
        self.places[place] = self.all.len() as u16;
        self.all.len() as u64 - 1
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Mostly as in recordings, seldom as large as can be.
    fn row() -> impl Strategy<Value = (u64, u16, u64, [u64; 2])> {
        let task = prop_oneof![
            9 => 0u64..40,
            1 => 0..=u64::from(u32::MAX) - 8192 + 1,
            1 => 1u64 << 32..(1 << 32) + 8192,
        ];
        let what = prop_oneof![9 => 0u64..12, 1 => 0u64..1 << 48];
        let wait = prop_oneof![9 => 0u64..5000, 1 => Just(1 << 50)];
        (wait, 0u16..8192, what, [task.clone(), task])
    }

    proptest! {
        #[test]
        fn rows_come_back_wherever_one_looks_and_whatever_was_put_between(
            parts in prop::collection::vec(row(), 0..4000),
            extra in prop::collection::vec(0usize..4000, 0..4),
        ) {
            let mut time = 0u64;
            let mut want: Vec<Row> = Vec::new();
            let mut rows = Rows::default();
            for (wait, cpu, what, tasks) in parts {
                time += wait;
                // The idle task of its own CPU has a code of its own.
                let tasks = tasks.map(|task| match task >> 32 {
                    1 if task == (1 << 32) + u64::from(cpu) => 1,
                    _ => task,
                });
                let row = Row::from_parts(time, cpu, what, tasks);
                prop_assert_eq!((row.what(), row.tasks()), (what, tasks));
                want.push(row);
                rows.push(row);
            }
            for at in extra.into_iter().take(4 * want.len()) {
                let at = at % want.len();
                let row = want[at];
                want.insert(at + 1, row);
                rows.insert(at + 1, row);
            }
            rows.end();
            prop_assert_eq!(rows.len(), want.len());
            prop_assert!(rows.iter().map(|row| row.words()).eq(want.iter().map(Row::words)));
            let back = rows.backwards().map(|row| row.words());
            prop_assert!(back.eq(want.iter().rev().map(Row::words)));
            for row in want.iter().step_by(97) {
                for time in [row.time().0.saturating_sub(1), row.time().0, row.time().0 + 1] {
                    let upto = want.partition_point(|row| row.time().0 <= time);
                    prop_assert_eq!(rows.until(Time(time)), upto);
                }
            }
        }
    }
}
