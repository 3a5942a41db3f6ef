//! Tiles as bytes, so that they can be kept in a file.

use wastenot_model::CpuId;

use crate::tiles::bytes::{Reader, Writer};
use crate::tiles::cell::Cell;
use crate::tiles::clock::Clock;
use crate::tiles::codes::Codes;
use crate::tiles::lane::{Lane, Level};
use crate::tiles::strip::Strip;
use crate::tiles::totals::{Total, Totals};
use crate::tiles::{Bytes, FACTOR, NARROWEST_NS, Tiles};

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
