//! One CPU at every zoom: exactly, and in cells of widths that each are four times the one before.

use wastenot_model::{Activity, CpuId, Time};

use crate::clock::Clock;
use crate::strip::Strip;
use crate::{Cell, Doing, FACTOR, Sum};

/// One CPU.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    pub(crate) strip: Strip,
    /// From the narrowest cells that are kept to one cell for all.
    pub(crate) levels: Vec<Level>,
    cpu: CpuId,
    begin: Time,
    /// What holds, since when, and for how long any idle CPU had been wanted by then.
    open: (Time, Doing, u64),
}

/// Cells of one width. Cell `n` begins `n` widths after the begin of the recording.
#[derive(Clone, Debug, Default)]
pub(crate) struct Level {
    pub(crate) cells: Vec<Cell>,
    /// The cell that is being filled.
    sum: Sum,
}

impl Lane {
    pub(crate) fn new(cpu: CpuId, begin: Time) -> Lane {
        Lane {
            strip: Strip::new(begin),
            levels: vec![Level::default()],
            cpu,
            begin,
            open: (begin, Doing::UNKNOWN, 0),
        }
    }

    /// From `now` on it is so. `width_ns` is that of the narrowest cells.
    pub(crate) fn set(&mut self, now: Time, is: Doing, wanted: &Clock, width_ns: u64) {
        if self.open.1 == is {
            return;
        }
        self.close(now, wanted, width_ns);
        self.open.1 = is;
        self.strip.push(now, is);
    }

    /// Puts what held until `now` into cells.
    fn close(&mut self, now: Time, wanted: &Clock, width_ns: u64) {
        let clock_now = wanted.at(now);
        let (mut from, is, mut clock) = self.open;
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
            if to == end {
                self.end_cell(0);
            }
            from = to;
        }
        self.open = (now, is, clock_now);
    }

    /// The cell that is filled at `level` is full: it is a part of one of the next level.
    fn end_cell(&mut self, level: usize) {
        let Level { cells, sum } = &mut self.levels[level];
        let sum = std::mem::take(sum);
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
    pub(crate) fn end(&mut self, now: Time, wanted: &Clock, width_ns: u64) {
        self.close(now, wanted, width_ns);
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

    pub(crate) fn size(&self) -> usize {
        let cells: usize = self.levels.iter().map(|level| level.cells.len()).sum();
        self.strip.size() + cells * size_of::<Cell>()
    }
}
