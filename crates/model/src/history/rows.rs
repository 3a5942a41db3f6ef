//! Rows in the memory that they need: about 5 bytes each, where a [`Row`] has 24.
//!
//! Rows are packed in chunks. In a chunk every row has the same number of bits: for what it is
//! (kind, flags, and the rest) as a number in the chunk's list of whats, its CPU, its two tasks as
//! numbers in another list, and the time since the row before. Each has as many bits as the largest
//! value in the chunk needs; only of times there are often few that are much longer than others,
//! so that these stand in a list of their own where that takes less.

use std::iter::{Chain, Copied, FlatMap};
use std::slice;

use super::event::Row;
use crate::Time;

/// Rows of a full chunk. Unpacked they take 48 KiB, which stays in a second-level cache.
const CHUNK: usize = 2048;

/// Rows in time order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    packed: Vec<Packed>,
    /// The last rows, fewer than a chunk.
    open: Vec<Row>,
    /// How many there are in `packed`.
    len: usize,
    /// Where they are packed.
    lists: Option<Lists>,
    /// Only their number is left.
    forgotten: bool,
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
        self.packed.push(Packed::of(&self.open, self.lists.get_or_insert_with(Lists::new)));
        self.len += self.open.len();
        self.open.clear();
    }

    /// No more will come.
    pub(crate) fn end(&mut self) {
        self.lists = None;
        self.packed.shrink_to_fit();
        self.open.shrink_to_fit();
    }

    /// How many there are, or were.
    pub(crate) fn len(&self) -> usize {
        self.len + self.open.len()
    }

    /// Frees them; their number stays.
    pub(crate) fn forget(&mut self) {
        *self = Rows { len: self.len(), forgotten: true, ..Rows::default() };
    }

    /// All, in order.
    pub(crate) fn iter(&self) -> Reader<'_> {
        debug_assert!(!self.forgotten, "its rows were freed");
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
                *chunk = Packed::of(&unpacked, &mut Lists::new());
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
    /// How many tasks, whats and long times its lists have.
    tasks: u32,
    whats: u32,
    longs: u32,
    widths: [u8; FIELDS],
    /// First the lists, then the bits of row after row, then what a read of the last one needs.
    bytes: Box<[u8]>,
}

/// What a row is packed as: its what, CPU, two tasks, and time; the lowest bits first.
const FIELDS: usize = 5;
/// Bytes of a task in its list.
const TASK: usize = size_of::<u32>();
/// Bytes of a what, or of a time, in its list.
const WHAT: usize = size_of::<u64>();

impl Packed {
    /// Packs rows in time order.
    fn of(rows: &[Row], Lists { tasks, whats }: &mut Lists) -> Packed {
        let first = rows.first().map_or(0, |row| row.time().0);
        tasks.clear();
        whats.clear();
        let (mut cpus, mut before) = (0, first);
        let mut lengths = Lengths::default();
        let mut numbers = Vec::with_capacity(rows.len());
        for row in rows {
            let [task, other] = row.tasks().map(|task| tasks.number(task.into()));
            let since = row.time().0.wrapping_sub(std::mem::replace(&mut before, row.time().0));
            numbers.push((since, [whats.number(row.what()), task, other]));
            cpus |= row.cpu().0;
            lengths.add(since);
        }
        let width = |largest: u64| (u64::BITS - largest.leading_zeros()) as u8;
        let [what, task] = [whats.largest(), tasks.largest()].map(width);
        let (time, longs) = lengths.shortest(rows.len());
        let widths = [what, width(cpus.into()), task, task, time as u8];
        let bits: usize = widths.iter().map(|&width| usize::from(width)).sum();
        let lists = tasks.values.len() * TASK + (whats.values.len() + longs) * WHAT;
        let mut bytes = Vec::with_capacity(lists + (bits * rows.len()).div_ceil(8) + WIDE);
        for &task in &tasks.values {
            bytes.extend_from_slice(&(task as u32).to_le_bytes());
        }
        for what in &whats.values {
            bytes.extend_from_slice(&what.to_le_bytes());
        }
        let long = long(time);
        for (since, _) in numbers.iter().filter(|(since, _)| *since >= long) {
            bytes.extend_from_slice(&since.to_le_bytes());
        }
        bytes.resize(bytes.capacity(), 0);
        let mut at = 0;
        for (row, (since, [what, task, other])) in rows.iter().zip(numbers) {
            let time = since.min(long);
            let fields = [what.into(), row.cpu().0.into(), task.into(), other.into(), time];
            let mut packed = 0;
            for (&value, &width) in fields.iter().zip(&widths).rev() {
                packed = packed << width | u128::from(value);
            }
            let to = &mut bytes[lists + at / 8..][..WIDE];
            let begun = u128::from(to[0]);
            to.copy_from_slice(&(packed << (at % 8) | begun).to_le_bytes());
            at += bits;
        }
        let [rows, tasks, whats, longs] =
            [rows.len(), tasks.values.len(), whats.values.len(), longs].map(|count| count as u32);
        Packed { first, rows, tasks, whats, longs, widths, bytes: bytes.into_boxed_slice() }
    }

    fn len(&self) -> usize {
        self.rows as usize
    }

    fn unpack(&self) -> Vec<Row> {
        let bits: u32 = self.widths.iter().map(|&width| u32::from(width)).sum();
        // With those of the row before in its first byte.
        if bits + 7 <= u64::BITS { self.unpack_as::<u64>() } else { self.unpack_as::<u128>() }
    }

    fn unpack_as<W: Word>(&self) -> Vec<Row> {
        let (tasks, bytes) = self.bytes.split_at(self.tasks as usize * TASK);
        let (whats, bytes) = bytes.split_at(self.whats as usize * WHAT);
        let (longs, rows) = bytes.split_at(self.longs as usize * WHAT);
        let ((tasks, _), (whats, _)) = (tasks.as_chunks::<TASK>(), whats.as_chunks::<WHAT>());
        let [what, cpu, task, other, time] = self.widths.map(u32::from);
        let bits = (what + cpu + task + other + time) as usize;
        let (mut now, mut longs) = (self.first, longs.as_chunks::<WHAT>().0.iter());
        let long = long(time);
        let unpack = |n: usize| {
            let at = n * bits;
            let mut row = W::read(&rows[at / 8..]);
            row.take((at % 8) as u32); // of the row before
            let what = u64::from_le_bytes(whats[row.take(what) as usize]);
            let cpu = row.take(cpu) as u16;
            let tasks = [task, other].map(|width| {
                let number = row.take(width) as usize;
                u32::from_le_bytes(tasks[number])
            });
            let mut since = row.take(time);
            if since == long {
                since = longs.next().map_or(0, |since| u64::from_le_bytes(*since));
            }
            now = now.wrapping_add(since);
            Row::from_parts(now, cpu, what, tasks)
        };
        (0..self.len()).map(unpack).collect()
    }
}

/// What stands in a time's place, of so many bits, if the time is not less.
fn long(bits: u32) -> u64 {
    u64::MAX >> (u64::BITS - bits)
}

/// How many times there are that need so many bits, if what stands for a long one is not theirs.
struct Lengths([u32; u64::BITS as usize + 1]);

impl Default for Lengths {
    fn default() -> Lengths {
        Lengths([0; u64::BITS as usize + 1])
    }
}

impl Lengths {
    #[inline(always)]
    fn add(&mut self, since: u64) {
        self.0[(u64::BITS - since.saturating_add(1).leading_zeros()) as usize] += 1;
    }

    /// With how many bits all times take the least room, and how many are long then.
    fn shortest(&self, rows: usize) -> (u32, usize) {
        let mut longs = rows;
        let with = (1..u64::BITS).map(|bits| {
            longs -= self.0[bits as usize] as usize;
            (rows * bits as usize + longs * 8 * WHAT, bits, longs)
        });
        with.min().map_or((1, 0), |(_, bits, longs)| (bits, longs))
    }
}

/// Bits of a row, the first of them lowest.
trait Word {
    /// From the beginning of `bytes`.
    fn read(bytes: &[u8]) -> Self;
    /// The next bits.
    fn take(&mut self, bits: u32) -> u64;
}

/// Bytes of the widest word.
const WIDE: usize = size_of::<u128>();

macro_rules! word {
    ($word:ty) => {
        impl Word for $word {
            #[inline(always)]
            fn read(bytes: &[u8]) -> $word {
                bytes.first_chunk().map_or(0, |it| <$word>::from_le_bytes(*it))
            }
            #[inline(always)]
            fn take(&mut self, bits: u32) -> u64 {
                let taken = *self & ((1 << bits) - 1);
                *self >>= bits;
                taken as u64
            }
        }
    };
}

// Rows of most recordings fit the narrow one, of which bits are taken with fewer instructions.
word!(u64);
word!(u128);

/// The lists of a chunk.
#[derive(Clone, Debug)]
struct Lists {
    tasks: List,
    whats: List,
}

impl Lists {
    fn new() -> Lists {
        Lists { tasks: List::new(), whats: List::new() }
    }
}

/// Numbers for values, in the order in which they come.
#[derive(Clone, Debug)]
struct List {
    values: Vec<u64>,
    /// A hash table of values, each with its number plus 1; a free place has 0.
    places: Box<[(u64, u16); PLACES]>,
    /// Which places are taken.
    taken: Vec<u16>,
}

/// More than the most values of a list, two for each row.
const PLACES: usize = 1 << PLACES_BITS;
const PLACES_BITS: u32 = 13;

impl List {
    fn new() -> List {
        List { values: Vec::new(), places: Box::new([(0, 0); PLACES]), taken: Vec::new() }
    }

    fn clear(&mut self) {
        self.values.clear();
        self.taken.drain(..).for_each(|place| self.places[usize::from(place) % PLACES] = (0, 0));
    }

    #[inline(always)]
    fn number(&mut self, value: u64) -> u16 {
        // Multiplying with the golden ratio spreads over the high bits (Knuth).
        let hash = value.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut place = (hash >> (u64::BITS - PLACES_BITS)) as usize;
        loop {
            match self.places[place] {
                (_, 0) => return self.add(place, value),
                (known, number) if known == value => return number - 1,
                _ => place = (place + 1) % PLACES,
            }
        }
    }

    #[cold]
    fn add(&mut self, place: usize, value: u64) -> u16 {
        self.values.push(value);
        self.places[place] = (value, self.values.len() as u16);
        self.taken.push(place as u16);
        self.values.len() as u16 - 1
    }

    /// The largest number.
    fn largest(&self) -> u64 {
        self.values.len().saturating_sub(1) as u64
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Mostly as in recordings, seldom as large as can be.
    fn row() -> impl Strategy<Value = (u64, u16, u64, [u32; 2])> {
        let task = || prop_oneof![9 => 8192u32..8232, 1 => any::<u32>()];
        let what = prop_oneof![9 => 0u64..12, 1 => 0u64..1 << 48];
        let wait = prop_oneof![9 => 0u64..5000, 1 => Just(1 << 50)];
        (wait, 0u16..8192, what, [task(), task()])
    }

    proptest! {
        #[test]
        fn rows_come_back_wherever_one_looks_and_whatever_was_put_between(
            parts in prop::collection::vec(row(), 0..7000),
            extra in prop::collection::vec(0usize..7000, 0..4),
        ) {
            let mut time = 0u64;
            let mut want: Vec<Row> = Vec::new();
            let mut rows = Rows::default();
            for (wait, cpu, what, tasks) in parts {
                time += wait;
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
