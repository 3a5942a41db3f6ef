//! Tiles as bytes, so that they can be kept in a file, and what else is kept beside them.
//!
//! Numbers have eight bytes, the lowest first; what comes in any number stands behind its length.

use wastenot_model::{CpuId, Time, Window};

use crate::tiles::cell::Cell;
use crate::tiles::clock::Clock;
use crate::tiles::codes::Codes;
use crate::tiles::lane::{Lane, Level};
use crate::tiles::strip::Strip;
use crate::tiles::totals::{Total, Totals};
use crate::tiles::{Bytes, FACTOR, NARROWEST_NS, Tiles};

/// Bytes that grow.
#[derive(Debug, Default)]
pub struct Writer(Vec<u8>);

impl Writer {
    /// All that was put.
    pub fn done(self) -> Vec<u8> {
        self.0
    }
    /// Puts a number.
    pub fn number(&mut self, number: u64) {
        self.0.extend(number.to_le_bytes());
    }
    /// Puts bytes behind their number.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend(bytes);
    }
    /// Puts each behind their number.
    pub fn all<T>(&mut self, all: &[T], mut put: impl FnMut(&mut Writer, &T)) {
        self.number(all.len() as u64);
        all.iter().for_each(|it| put(self, it));
    }
    pub(crate) fn window(&mut self, window: Window) {
        self.number(window.from.0);
        self.number(window.to.0);
    }
}

/// Bytes that are left; every answer is `None` where they end too early.
#[derive(Debug)]
pub struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    /// Of all these.
    pub fn new(bytes: &'b [u8]) -> Reader<'b> {
        Reader(bytes)
    }
    /// What is left.
    pub fn rest(&self) -> &'b [u8] {
        self.0
    }
    fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }
    /// A number.
    pub fn number(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }
    /// Bytes behind their number.
    pub fn bytes(&mut self) -> Option<&'b [u8]> {
        let count = self.number()?;
        self.take(usize::try_from(count).ok()?)
    }
    /// All behind their number, read one by one: a number that is wrong takes no memory.
    pub fn all<T>(&mut self, mut get: impl FnMut(&mut Reader<'b>) -> Option<T>) -> Option<Vec<T>> {
        let count = self.number()?;
        let mut all = Vec::new();
        for _ in 0..count {
            all.push(get(self)?);
        }
        Some(all)
    }
    pub(crate) fn window(&mut self) -> Option<Window> {
        let (from, to) = (Time(self.number()?), Time(self.number()?));
        (from <= to).then_some(Window { from, to })
    }
}

impl Tiles {
    /// What was spilled; in a file it stands first.
    pub fn spilled(&self) -> &Bytes {
        &self.heap
    }

    /// All the rest.
    pub fn tail(&self) -> Vec<u8> {
        let mut to = Writer::default();
        to.number(self.heap.len() as u64);
        to.window(self.window);
        to.number(self.width_ns);
        to.all(&self.lanes, |to, lane| {
            lane.strip.write(to);
            lane.in_vain.write(to);
            to.all(&lane.levels, |to, level| {
                let cells: Vec<u8> = level.cells.iter().flat_map(Cell::bytes).collect();
                to.bytes(&cells);
            });
        });
        self.clock.write(&mut to);
        to.all(&self.totals.levels, |to, level| {
            to.all(level, |to, total| total.numbers().into_iter().for_each(|it| to.number(it)));
        });
        to.done()
    }

    /// Of what [`Tiles::tail`] gave, and of bytes that begin with what was spilled; these are read
    /// in place. `None` where it is not that.
    pub fn from_parts(heap: Bytes, tail: &[u8]) -> Option<Tiles> {
        let mut from = Reader::new(tail);
        let spilled = from.number().filter(|length| *length <= heap.len() as u64)?;
        let window = from.window()?;
        let width_ns = from.number()?;
        let is_width = width_ns.is_power_of_two() && width_ns.trailing_zeros().is_multiple_of(2);
        if width_ns < NARROWEST_NS || !is_width || width_ns > u64::MAX / FACTOR {
            return None;
        }
        let mut cpu = 0..CpuId::LIMIT;
        let lanes = from.all(|from| {
            let strip = Strip::read_from(from, spilled)?;
            let in_vain = Codes::read_from(from)?;
            let levels = from.all(|from| {
                let (cells, []) = from.bytes()?.as_chunks() else { return None };
                Some(Level::of(cells.iter().map(|bytes| Cell::from_bytes(*bytes)).collect()))
            })?;
            let cpu = CpuId(cpu.next()? as u16);
            Some(Lane::kept(cpu, window.from, strip, in_vain, levels))
        })?;
        let clock = Clock::read_from(&mut from, window.from)?;
        let levels = from.all(|from| {
            from.all(|from| {
                let mut numbers = [0; Total::NUMBERS];
                for number in &mut numbers {
                    *number = from.number()?;
                }
                Some(Total::of_numbers(numbers))
            })
        })?;
        let totals = Totals { levels };
        (from.rest().is_empty() && clock.cpus() == lanes.len()).then_some(Tiles {
            heap,
            lanes,
            clock,
            totals,
            window,
            width_ns,
        })
    }
}
