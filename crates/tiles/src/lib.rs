//! What happened on each CPU, at every zoom.
//!
//! A [`Builder`] observes a replay and makes [`Tiles`]: per CPU an exact strip of what it did
//! (`strip`), and above it cells of widths that each are four times the one before (`lane`). A view
//! or a picture asks for [`Cell`]s of any width that is one of [`Tiles::width`]: those that are
//! narrower than the narrowest kept are made from the strip, exactly, and the others are there. So
//! the work of an answer is that of its cells and of the few changes in the narrowest of them,
//! however long the recording is.
//!
//! # What is kept at every width
//! A cell has shares of its time. None that is above zero becomes zero: whatever was wasted or
//! unknown for one nanosecond shows in the cell that holds it, and in each wider cell.
//!
//! # How large it is
//! At most a quarter of the rows that it was made from (24 bytes an event): a change of a CPU takes
//! 3 to 5 bytes, and the narrowest cells are dropped as soon as cells take more than
//! [`CELL_BYTES`] for each event.

mod cell;
mod clock;
mod lane;
mod leb128;
mod strip;
mod times;

use wastenot_model::{
    Activity, Beside, CpuId, CpuState, Entry, History, Observer, State, Time, Wanted, Window,
};

pub use self::cell::{Cell, Sum};
use self::clock::Clock;
use self::lane::Lane;
pub use self::strip::Doing;

/// How much wider the cells of a level are than those of the level before.
const FACTOR: u64 = 4;
/// The width of the narrowest cells that there are.
const NARROWEST_NS: u64 = 1 << 10;
/// Bytes of cells that each event pays for, those of wider cells not counted.
pub const CELL_BYTES: usize = 1;
/// Bytes of cells that any recording may have.
const CELL_BYTES_FREE: usize = 1 << 18;

/// Makes [`Tiles`] while a History is replayed.
#[derive(Clone, Debug)]
pub struct Builder {
    lanes: Vec<Lane>,
    clock: Clock,
    window: Window,
    /// Of the narrowest cells that are kept.
    width_ns: u64,
    events: usize,
}

impl Builder {
    /// For all CPUs of `history`.
    pub fn new(history: &History) -> Builder {
        let window = history.window();
        let lanes: Vec<Lane> = history.cpus().map(|cpu| Lane::new(cpu, window.from)).collect();
        let clock = Clock::new(lanes.len(), window.from);
        Builder { lanes, clock, window, width_ns: NARROWEST_NS, events: 0 }
    }

    /// Time came to `now`: drops cells until those up to then are few enough.
    fn come_to(&mut self, now: Time) {
        let most = CELL_BYTES_FREE + self.events * CELL_BYTES;
        let most = (most / size_of::<Cell>() / self.lanes.len().max(1)).max(1) as u64;
        while (now - self.window.from).0 / self.width_ns > most {
            self.width_ns *= FACTOR;
            self.clock.coarsen(self.width_ns);
            self.lanes.iter_mut().for_each(Lane::coarsen);
        }
        self.clock.advance(now, self.width_ns);
    }

    /// The tiles, once the replay has ended.
    pub fn finish(self) -> Tiles {
        let Builder { lanes, clock, window, width_ns, .. } = self;
        Tiles { lanes, clock, window, width_ns }
    }
}

impl Observer for Builder {
    #[inline]
    fn cpu(&mut self, state: &State, cpu: CpuId, _: &CpuState, now: &CpuState) {
        self.come_to(state.now());
        if let Some(lane) = self.lanes.get_mut(cpu.index()) {
            lane.set(state.now(), Doing::of(now), &self.clock, self.width_ns);
        }
    }

    #[inline]
    fn event(&mut self, _: &State, _: &Entry) {
        self.events += 1;
    }

    fn end(&mut self, state: &State) {
        self.come_to(state.now());
        for lane in &mut self.lanes {
            lane.end(state.now(), &self.clock, self.width_ns);
        }
    }
}

impl Beside for Builder {
    fn wanted(&mut self, now: Time, wanted: &Wanted) {
        self.come_to(now);
        self.clock.set(now, wanted);
    }
}

/// What happened on each CPU.
#[derive(Clone, Debug)]
pub struct Tiles {
    lanes: Vec<Lane>,
    clock: Clock,
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

    /// Bytes in memory.
    pub fn size(&self) -> usize {
        self.lanes.iter().map(Lane::size).sum::<usize>() + self.clock.size()
    }

    /// The widest width of cells at which `span_ns` has at least `cells` of them.
    pub fn width(&self, span_ns: u64, cells: u64) -> u64 {
        let mut width = 1;
        while span_ns / (width * FACTOR) >= cells.max(1) {
            width *= FACTOR;
        }
        width
    }

    /// Cells `first` to `first + count` of `cpu`, each `width_ns` wide; fewer where the recording
    /// ends. Cell 0 begins with the recording.
    ///
    /// # Panics
    /// `width_ns` is no power of four.
    pub fn cells(&self, cpu: CpuId, width_ns: u64, first: u64, count: usize) -> Vec<Cell> {
        assert!(
            width_ns.is_power_of_two() && width_ns.trailing_zeros().is_multiple_of(2),
            "a power of 4"
        );
        let Some(lane) = self.lanes.get(cpu.index()) else { return Vec::new() };
        if width_ns < self.width_ns {
            return self.sums(cpu, width_ns, first, count).iter().map(Cell::from).collect();
        }
        let level = (width_ns.trailing_zeros() - self.width_ns.trailing_zeros()) / 2;
        let Some(level) = lane.levels.get(level as usize).or(lane.levels.last()) else {
            return Vec::new();
        };
        level.cells.iter().skip(first as usize).take(count).copied().collect()
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
        let mut reader = lane.strip.from(window.from);
        let (mut from, mut is) = reader.now;
        while from < window.to {
            let next = reader.step();
            let to = next.map_or(window.to, |(time, _)| time);
            if let Some((from, to)) = window.clip(from, to) {
                let part = Window { from, to };
                add(is, part, &|sum, is, ns| sum.add(is, ns, 0));
                if is.activity == Activity::Idle {
                    self.clock.during(cpu, part, |part| {
                        add(is, part, &|sum, _, ns| sum.wanted_ns += ns);
                    });
                }
            }
            let Some((time, then)) = next else { break };
            (from, is) = (time, then);
        }
        sums
    }
}
