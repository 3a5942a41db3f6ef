//! One CPU at every zoom: exactly, and in cells of widths that each are four times the one before.

use wastenot_model::{Activity, CpuId, Time, Window};

use crate::tiles::clock::Clock;
use crate::tiles::codes::Codes;
use crate::tiles::heap::Heap;
use crate::tiles::strip::{Change, Strip, Waiter};
use crate::tiles::totals::Totals;
use crate::tiles::{Cell, Doing, FACTOR, Sum};

/// One CPU.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    pub(crate) strip: Strip,
    /// Why tasks waited here in vain; 0 where none did so.
    pub(crate) in_vain: Codes,
    /// From the narrowest cells that are kept to one cell for all.
    pub(crate) levels: Vec<Level>,
    pub(crate) next: Next,
    cpu: CpuId,
    begin: Time,
    /// Up to when cells are filled, and for how long any idle CPU had been wanted by then.
    filled: (Time, u64),
}

/// What happened at this instant.
#[derive(Clone, Debug)]
pub(crate) struct Next {
    /// Whether it did.
    pub(crate) any: bool,
    pub(crate) is: Doing,
    changes: Vec<Change>,
}

impl Next {
    /// The queue changes: what a task did and undid in this instant did not happen.
    pub(crate) fn change(&mut self, change: Change) {
        if let Change::Leaves(task) = change
            && let Some(at) = self
                .changes
                .iter()
                .position(|it| matches!(it, Change::Joins(it) if it.task == task))
        {
            self.changes.remove(at);
            return;
        }
        self.changes.push(change);
    }
}

/// Cells of one width. Cell `n` begins `n` widths after the begin of the recording.
#[derive(Clone, Debug, Default)]
pub(crate) struct Level {
    pub(crate) cells: Vec<Cell>,
    /// The cell that is being filled.
    sum: Sum,
}

impl Level {
    /// Cells that are all there.
    pub(crate) fn of(cells: Vec<Cell>) -> Level {
        Level { cells, sum: Sum::default() }
    }
}

impl Lane {
    /// To be read, not to be continued.
    pub(crate) fn kept(
        cpu: CpuId,
        begin: Time,
        strip: Strip,
        in_vain: Codes,
        levels: Vec<Level>,
    ) -> Lane {
        Lane { strip, in_vain, levels, ..Lane::new(cpu, begin) }
    }

    pub(crate) fn new(cpu: CpuId, begin: Time) -> Lane {
        Lane {
            strip: Strip::new(begin),
            in_vain: Codes::new(begin),
            levels: vec![Level::default()],
            next: Next { any: false, is: Doing::UNKNOWN, changes: Vec::new() },
            cpu,
            begin,
            filled: (begin, 0),
        }
    }

    /// From `now` on the next holds; `queue` waits then. `width_ns` is that of the narrowest cells.
    pub(crate) fn settle(
        &mut self,
        now: Time,
        queue: impl Iterator<Item = Waiter>,
        wanted: &Clock,
        totals: &mut Totals,
        width_ns: u64,
        heap: &mut Heap<'_>,
    ) {
        if self.next.is != self.strip.now() {
            self.fill(now, wanted, totals, width_ns);
        }
        self.strip.push(now, self.next.is, &self.next.changes, queue, heap);
        self.next.any = false;
        self.next.changes.clear();
    }

    /// Puts what held until `now` into cells.
    fn fill(&mut self, now: Time, wanted: &Clock, totals: &mut Totals, width_ns: u64) {
        let (clock_now, is) = (wanted.at(now), self.strip.now());
        let (mut from, mut clock) = self.filled;
        while from < now {
            let cell = (from - self.begin).0 / width_ns;
            let end = Time(self.begin.0.saturating_add((cell + 1).saturating_mul(width_ns)));
            let to = end.min(now);
            let wanted_ns = match is.activity {
                Activity::Idle => {
                    let until = if to == end { wanted.at_edge(cell + 1) } else { clock_now };
                    let anywhere = until - std::mem::replace(&mut clock, until);
                    anywhere + wanted.only(self.cpu, from, to)
                }
                _ => 0,
            };
            self.levels[0].sum.add(is, (to - from).0, wanted_ns);
            totals.add(cell, is, (to - from).0, wanted_ns);
            if to == end {
                self.end_cell(0);
            }
            from = to;
        }
        self.filled = (now, clock_now);
    }

    /// The cell that is filled at `level` is full: it is a part of one of the next level.
    fn end_cell(&mut self, level: usize) {
        let Level { cells, sum } = &mut self.levels[level];
        let sum = std::mem::take(sum);
        // Cells are most of what tiles have in memory: half of it would be room for more of them.
        if cells.len() == cells.capacity() {
            cells.reserve_exact(cells.len() / 8 + 4);
        }
        cells.push(Cell::from(&sum));
        let is_last = (cells.len() as u64).is_multiple_of(FACTOR);
        if level + 1 == self.levels.len() {
            self.levels.push(Level::default());
        }
        self.levels[level + 1].sum += sum;
        if is_last {
            self.end_cell(level + 1);
        }
    }

    /// Drops the narrowest cells.
    pub(crate) fn coarsen(&mut self) {
        let Level { sum, .. } = self.levels.remove(0);
        match self.levels.first_mut() {
            Some(next) => next.sum += sum,
            None => self.levels.push(Level { cells: Vec::new(), sum }),
        }
    }

    /// The recording ends.
    pub(crate) fn end(&mut self, now: Time, wanted: &Clock, totals: &mut Totals, width_ns: u64) {
        self.fill(now, wanted, totals, width_ns);
        // The last cell of each level may be shorter than the others.
        let mut rest = Sum::default();
        for level in &mut self.levels {
            rest += std::mem::take(&mut level.sum);
            if rest.ns() > 0 {
                level.cells.push(Cell::from(&rest));
            }
        }
        let whole = self.levels.iter().position(|level| level.cells.len() <= 1);
        self.levels.truncate(whole.map_or(usize::MAX, |first| first + 1));
    }

    /// Puts into cells when tasks waited in vain.
    pub(crate) fn fill_in_vain(&mut self, window: Window, totals: &mut Totals, narrowest_ns: u64) {
        let mut width_ns = narrowest_ns;
        for Level { cells, .. } in &mut self.levels {
            let at = |cell: u64| Time(self.begin.0.saturating_add(cell.saturating_mul(width_ns)));
            let mut open: (u64, Sum) = (0, Sum::default());
            let mut put = |cell: u64, sum: &Sum| {
                let ns = (at(cell + 1).min(window.to) - at(cell)).0;
                if let Some(cell) = cells.get_mut(cell as usize).filter(|_| sum.in_vain_ns > 0) {
                    cell.set_in_vain(sum, ns);
                }
            };
            for (part, why) in self.in_vain.during(window) {
                let mut from = part.from;
                while from < part.to {
                    let cell = (from - self.begin).0 / width_ns;
                    let to = at(cell + 1).min(part.to);
                    if cell != open.0 {
                        put(open.0, &open.1);
                        open = (cell, Sum::default());
                    }
                    open.1.add_in_vain(why, (to - from).0);
                    if width_ns == narrowest_ns {
                        totals.add_in_vain(cell, (to - from).0);
                    }
                    from = to;
                }
            }
            put(open.0, &open.1);
            width_ns = width_ns.saturating_mul(FACTOR);
        }
    }

    pub(crate) fn size(&self) -> usize {
        let cells: usize = self.levels.iter().map(|level| level.cells.len()).sum();
        self.strip.size() + self.in_vain.size() + cells * size_of::<Cell>()
    }
}
