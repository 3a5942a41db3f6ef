//! What happened on each CPU, at every zoom.
//!
//! A [`Builder`] observes a replay and makes [`Tiles`]: per CPU an exact strip of what it did
//! (`strip`), and above it cells of widths that each are four times the one before (`lane`). A view
//! or a picture asks for [`Cell`]s of any width that is a power of four in ns: those that are
//! narrower than the narrowest kept are made from the strip, exactly, and the others are there. So
//! the work of an answer is that of its cells and of the few changes in the narrowest of them,
//! however long the recording is.
//!
//! # What is kept at every width
//! A cell has shares of its time. None that is above zero becomes zero: whatever was wasted or
//! unknown for one nanosecond shows in the cell that holds it, and in each wider cell.
//!
//! # What is exact
//! What a CPU did at a moment and who waited on it ([`Tiles::at`]), and where a task ran and waited
//! ([`Tiles::way`]).
//!
//! # How large it is
//! At most 6 bytes an event, a quarter of a row that is not packed: a change of a CPU takes 3 to 6
//! bytes, and the narrowest cells are dropped as soon as cells take more than
//! [`CELL_BYTES`] for each event.

pub(crate) mod bytes;
mod cell;
mod clock;
mod codes;
mod heap;
mod kept;
mod lane;
mod leb128;
mod strip;
mod totals;
mod way;

use std::collections::BTreeMap;
use std::io;

use wastenot_model::{
    Activity, Beside, CpuId, CpuState, Entry, History, Observer, Phase, State, TaskId, TaskState,
    Time, Wanted, Window,
};

pub use self::cell::{Cell, Sum};
use self::clock::Clock;
use self::heap::Heap;
pub use self::heap::{Bytes, Spill};
use self::lane::{Lane, Next};
use self::strip::Change;
pub use self::strip::{Doing, Waiter};
pub use self::totals::Total;
use self::totals::Totals;
pub use self::way::{Stretch, Was};

/// How much wider the cells of a level are than those of the level before.
const FACTOR: u64 = 4;
/// Cells of a tile that the page asks for, of each lane.
pub(crate) const TILE_CELLS: usize = 256;
/// Lanes of a tile.
pub(crate) const TILE_LANES: usize = 16;
/// Levels of cells that a view may ask for: the widest are 4^31 ns, a century.
pub const LEVELS: u32 = 32;

/// The width of a level's cells in ns.
///
/// # Panics
/// If there is no such level.
pub(crate) const fn width_ns(level: u32) -> u64 {
    FACTOR.pow(level)
}
/// The width of the narrowest cells that there are.
const NARROWEST_NS: u64 = 1 << 10;
/// Bytes of cells that each event pays for.
pub const CELL_BYTES: usize = 1;
/// Bytes of cells that any recording may have.
const CELL_BYTES_FREE: usize = 1 << 18;

/// Makes [`Tiles`] while a History is replayed.
#[derive(Debug)]
pub struct Builder<'s> {
    heap: Heap<'s>,
    lanes: Vec<Lane>,
    clock: Clock,
    totals: Totals,
    window: Window,
    /// Of the narrowest cells that are kept.
    width_ns: u64,
    events: usize,
    /// The CPUs of which something changed at this instant.
    touched: Vec<CpuId>,
}

impl<'s> Builder<'s> {
    /// For all CPUs of `history`. Strips go to `spill` block by block, so that only the cells are
    /// in memory.
    pub fn new(history: &History, spill: &'s mut dyn Spill) -> Builder<'s> {
        let window = history.window();
        let lanes: Vec<Lane> = history.cpus().map(|cpu| Lane::new(cpu, window.from)).collect();
        let clock = Clock::new(lanes.len(), window.from);
        Builder {
            heap: Heap::new(spill),
            lanes,
            clock,
            totals: Totals::new(),
            window,
            width_ns: NARROWEST_NS,
            events: 0,
            touched: Vec::new(),
        }
    }

    /// Time came to `now`: drops cells until those up to then are few enough.
    fn come_to(&mut self, now: Time) {
        // Wider cells take a third of what the narrowest take.
        let most = (CELL_BYTES_FREE + self.events * CELL_BYTES) / 4 * 3;
        let column = size_of::<Cell>() * self.lanes.len() + size_of::<Total>();
        let most = (most / column).max(1) as u64;
        while (now - self.window.from).0 / self.width_ns > most {
            self.width_ns *= FACTOR;
            self.clock.coarsen(self.width_ns);
            self.lanes.iter_mut().for_each(Lane::coarsen);
            self.totals.coarsen();
        }
        self.clock.advance(now, self.width_ns);
    }

    fn touch(&mut self, cpu: CpuId, change: impl FnOnce(&mut Next)) {
        let Some(Lane { next, .. }) = self.lanes.get_mut(cpu.index()) else { return };
        if !std::mem::replace(&mut next.any, true) {
            self.touched.push(cpu);
        }
        change(next);
    }

    /// All that happens at `now` has happened.
    fn settle(&mut self, state: &State, now: Time) {
        if self.touched.is_empty() {
            return;
        }
        self.come_to(now);
        for cpu in std::mem::take(&mut self.touched).drain(..) {
            let queue = state.waiting(cpu).map(|task| Waiter::of(task, &state.task(task)));
            let lane = &mut self.lanes[cpu.index()];
            let (totals, heap) = (&mut self.totals, &mut self.heap);
            lane.settle(now, queue, &self.clock, totals, self.width_ns, heap);
        }
    }

    /// The tiles, once the replay has ended. In `in_vain` are the windows in which tasks waited on
    /// a CPU while another that they may use was idle, each with a number above 0 that says why;
    /// where windows overlap the lowest number counts.
    ///
    /// # Errors
    /// That of the first [`Spill::put`] that failed, or of [`Spill::read`].
    pub fn finish(
        self,
        in_vain: impl IntoIterator<Item = (CpuId, Window, u8)>,
    ) -> io::Result<Tiles> {
        let Builder { mut heap, mut lanes, clock, mut totals, window, width_ns, .. } = self;
        lanes.iter_mut().for_each(|lane| lane.strip.end_block(&mut heap));
        let mut all: Vec<(CpuId, Window, u8)> = in_vain.into_iter().collect();
        all.sort_unstable_by_key(|(cpu, ..)| *cpu);
        for of_cpu in all.chunk_by(|a, b| a.0 == b.0) {
            let Some(lane) = lanes.get_mut(of_cpu[0].0.index()) else { continue };
            // When which number begins and ends to hold.
            let mut changes: Vec<(Time, u8, bool)> = Vec::new();
            for (_, it, why) in of_cpu {
                if let Some((from, to)) = window.clip(it.from, it.to) {
                    changes.extend([(from, *why, true), (to, *why, false)]);
                }
            }
            changes.sort_unstable();
            let mut hold: BTreeMap<u8, i64> = BTreeMap::new();
            for at_once in changes.chunk_by(|a, b| a.0 == b.0) {
                for (_, why, begins) in at_once {
                    *hold.entry(*why).or_default() += if *begins { 1 } else { -1 };
                }
                hold.retain(|_, count| *count != 0);
                lane.in_vain.set(at_once[0].0, hold.keys().next().copied().unwrap_or(0));
            }
            lane.fill_in_vain(window, &mut totals, width_ns);
        }
        totals.finish();
        Ok(Tiles { heap: heap.read()?, lanes, clock, totals, window, width_ns })
    }
}

impl Observer for Builder<'_> {
    #[inline]
    fn held(&mut self, state: &State, from: Time, _: Time) {
        self.settle(state, from);
    }

    #[inline]
    fn task(&mut self, _: &State, task: TaskId, was: &TaskState, now: &TaskState) {
        let place = |it: &TaskState| it.cpu.filter(|_| it.phase == Phase::Waiting);
        let (left, joined) = (place(was), place(now));
        if (left, was.since, was.origin) == (joined, now.since, now.origin) {
            return;
        }
        if let Some(cpu) = left {
            self.touch(cpu, |next| next.change(Change::Leaves(task)));
        }
        if let Some(cpu) = joined {
            self.touch(cpu, |next| next.change(Change::Joins(Waiter::of(task, now))));
        }
    }

    #[inline]
    fn cpu(&mut self, _: &State, cpu: CpuId, _: &CpuState, now: &CpuState) {
        self.touch(cpu, |next| next.is = Doing::of(now));
    }

    #[inline]
    fn event(&mut self, _: &State, _: &Entry) {
        self.events += 1;
    }

    fn end(&mut self, state: &State) {
        let now = state.now();
        self.settle(state, now);
        self.come_to(now);
        for lane in &mut self.lanes {
            lane.end(now, &self.clock, &mut self.totals, self.width_ns);
        }
    }
}

impl Beside for Builder<'_> {
    fn wanted(&mut self, now: Time, wanted: &Wanted) {
        self.come_to(now);
        self.clock.set(now, wanted);
    }
}

/// What happened on each CPU.
#[derive(Clone, Debug)]
pub struct Tiles {
    heap: Bytes,
    lanes: Vec<Lane>,
    clock: Clock,
    totals: Totals,
    window: Window,
    width_ns: u64,
}

impl Tiles {
    /// The time of the recording.
    pub fn window(&self) -> Window {
        self.window
    }

    /// Number of CPUs.
    pub fn cpus(&self) -> usize {
        self.lanes.len()
    }

    /// Bytes of all that is kept, those that were spilled too.
    pub fn size(&self) -> usize {
        let lanes: usize = self.lanes.iter().map(Lane::size).sum();
        self.heap.len() + lanes + self.clock.size() + self.totals.size()
    }

    /// Cells `first` to `first + count` of `cpu`, each `width_ns` wide; fewer where the recording
    /// ends. Cell 0 begins with the recording.
    ///
    /// # Panics
    /// `width_ns` is no power of four.
    pub fn cells(&self, cpu: CpuId, width_ns: u64, first: u64, count: usize) -> Vec<Cell> {
        let level = self.level(width_ns);
        let Some(lane) = self.lanes.get(cpu.index()) else { return Vec::new() };
        let Some(level) = level else {
            return self.sums(cpu, width_ns, first, count).iter().map(Cell::from).collect();
        };
        let Some(level) = lane.levels.get(level).or(lane.levels.last()) else {
            return Vec::new();
        };
        level.cells.iter().skip(first as usize).take(count).copied().collect()
    }

    /// What all CPUs did together, in the same cells.
    ///
    /// # Panics
    /// As [`Tiles::cells`].
    pub fn totals(&self, width_ns: u64, first: u64, count: usize) -> Vec<Total> {
        if let Some(level) = self.level(width_ns) {
            let levels = &self.totals.levels;
            let Some(cells) = levels.get(level).or(levels.last()) else { return Vec::new() };
            return cells.iter().skip(first as usize).take(count).copied().collect();
        }
        let mut totals: Vec<Total> = Vec::new();
        for n in 0..self.lanes.len() {
            let sums = self.sums(CpuId(n as u16), width_ns, first, count);
            totals.resize(sums.len(), Total::default());
            for (total, sum) in totals.iter_mut().zip(&sums) {
                *total += Total::from(sum);
            }
        }
        totals
    }

    /// The level of cells of this width, from the narrowest that are kept on; `None` below.
    fn level(&self, width_ns: u64) -> Option<usize> {
        assert!(
            width_ns.is_power_of_two() && width_ns.trailing_zeros().is_multiple_of(2),
            "a power of 4"
        );
        let above = width_ns.trailing_zeros().checked_sub(self.width_ns.trailing_zeros())?;
        Some(above as usize / 2)
    }

    /// The same from the strip, as sums. It takes time for each change in that window.
    pub fn sums(&self, cpu: CpuId, width_ns: u64, first: u64, count: usize) -> Vec<Sum> {
        let Some(lane) = self.lanes.get(cpu.index()) else { return Vec::new() };
        let at = |cell: u64| {
            Time(self.window.from.0.saturating_add(cell.saturating_mul(width_ns)))
                .min(self.window.to)
        };
        let window = Window { from: at(first), to: at(first.saturating_add(count as u64)) };
        let cells = window.span().0.div_ceil(width_ns) as usize;
        let mut sums = vec![Sum::default(); cells];
        let mut add = |is: Doing, part: Window, adds: &dyn Fn(&mut Sum, Doing, u64)| {
            let mut from = part.from;
            while from < part.to {
                let cell = (from - window.from).0 / width_ns;
                let to = at(first + cell + 1).min(part.to);
                adds(&mut sums[cell as usize], is, (to - from).0);
                from = to;
            }
        };
        let mut reader = lane.strip.read(&self.heap, window.from, ());
        loop {
            let (from, is) = reader.now;
            let goes_on = from < window.to && reader.step();
            let to = if goes_on { reader.now.0 } else { window.to };
            if let Some((from, to)) = window.clip(from, to) {
                let part = Window { from, to };
                add(is, part, &|sum, is, ns| sum.add(is, ns, 0));
                if is.activity == Activity::Idle {
                    self.clock.during(cpu, part, |part| {
                        add(is, part, &|sum, _, ns| sum.wanted_ns += ns);
                    });
                }
            }
            if !goes_on {
                break;
            }
        }
        for (part, why) in lane.in_vain.during(window) {
            add(Doing::UNKNOWN, part, &|sum, _, ns| sum.add_in_vain(why, ns));
        }
        sums
    }
}
