//! The frequencies of CPUs, if the trace contains them.

use crate::tiles::bytes::{Reader, Writer};
use crate::tiles::{TILE_CELLS, width_ns};
use serde_json::{Value, json};
use wastenot_model::{CpuId, Entry, Event, Observer, State, Time, Window};

use crate::folds::Lane;

/// The frequencies of CPUs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Frequencies {
    /// Of each CPU when its frequency changed, by time; it is unknown before.
    cpus: Vec<Vec<Change>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Change {
    time: Time,
    khz: u32,
    /// What each nanosecond had in kHz, summed from the first change to this one: so the work for
    /// a mean does not depend on the changes in it.
    sum: u128,
}

/// What is known of the time before a moment: frequencies of its nanoseconds, and their number.
type Known = (u128, u64);

impl Frequencies {
    fn add(&mut self, cpu: CpuId, time: Time, khz: u32) {
        if self.cpus.len() <= cpu.index() {
            self.cpus.resize_with(cpu.index() + 1, Vec::new);
        }
        let changes = &mut self.cpus[cpu.index()];
        let Some(last) = changes.last() else {
            return changes.push(Change { time, khz, sum: 0 });
        };
        let sum = last.sum + u128::from(last.khz) * u128::from(time.since(last.time).0);
        if last.khz != khz {
            changes.push(Change { time: time.max(last.time), khz, sum });
        }
    }

    /// The lowest and the highest frequency in kHz; null if none is told.
    pub(crate) fn range(&self) -> Value {
        let all = || self.cpus.iter().flatten().map(|it| it.khz);
        all().min().zip(all().max()).map_or(Value::Null, |(min, max)| json!([min, max]))
    }

    fn before(&self, cpu: CpuId, time: Time) -> Known {
        let changes = self.cpus.get(cpu.index()).map_or(&[][..], Vec::as_slice);
        let count = changes.partition_point(|it| it.time <= time);
        let Some((first, last)) = changes[..count].first().zip(changes[..count].last()) else {
            return (0, 0);
        };
        let since = u128::from(time.since(last.time).0);
        (last.sum + u128::from(last.khz) * since, time.since(first.time).0)
    }

    /// The mean frequency of CPUs in a window, in kHz, where it is known for a part of it.
    fn mean(&self, cpus: &[CpuId], window: Window) -> Option<f64> {
        let (mut sum, mut ns) = (0, 0);
        for cpu in cpus {
            let [from, to] = [window.from, window.to].map(|time| self.before(*cpu, time));
            (sum, ns) = (sum + to.0.saturating_sub(from.0), ns + to.1.saturating_sub(from.1));
        }
        (ns > 0).then(|| sum as f64 / ns as f64)
    }

    /// Cells `n * TILE_CELLS` on of lanes, `4^level` ns wide, of a recording of that time: lane
    /// after lane a byte for each. 0 is unknown; from 1 on it is the lowest frequency, to 255 the
    /// highest.
    pub(crate) fn tile(&self, lanes: &[Lane], level: u32, n: u64, all: Window) -> Vec<u8> {
        let range = self.range();
        let [min, max] = [0, 1].map(|n| range[n].as_f64().unwrap_or(0.0));
        let step = |khz: f64| match max > min {
            true => 1 + ((khz - min) / (max - min) * 254.0).round() as u8,
            false => 255,
        };
        let (width, first) = (width_ns(level), n.saturating_mul(TILE_CELLS as u64));
        let at =
            |cell: u64| Time(all.from.0.saturating_add(cell.saturating_mul(width))).min(all.to);
        let cells = lanes.iter().flat_map(|lane| {
            (0..TILE_CELLS as u64).map(move |cell| {
                let cell = first.saturating_add(cell);
                (lane, Window { from: at(cell), to: at(cell.saturating_add(1)) })
            })
        });
        cells.map(|(lane, window)| self.mean(&lane.cpus, window).map_or(0, step)).collect()
    }

    /// All of it: of each CPU its changes, the time and kHz of each.
    pub(crate) fn write(&self, to: &mut Writer) {
        to.all(&self.cpus, |to, changes| {
            to.all(changes, |to, it| {
                to.number(it.time.0);
                to.number(it.khz.into());
            });
        });
    }

    /// `None` if it is not what [`Frequencies::write`] put.
    pub(crate) fn read_from(from: &mut Reader<'_>) -> Option<Frequencies> {
        let mut all = Frequencies::default();
        let mut cpu = 0..CpuId::LIMIT as u16;
        from.all(|from| {
            let cpu = CpuId(cpu.next()?);
            all.cpus.push(Vec::new());
            from.all(|from| {
                let (time, khz) = (Time(from.number()?), u32::try_from(from.number()?).ok()?);
                all.add(cpu, time, khz);
                Some(())
            })
        })?;
        Some(all)
    }
}

impl Observer for Frequencies {
    #[inline]
    fn event(&mut self, _: &State, entry: &Entry) {
        if let Event::Freq { cpu, khz } = entry.event {
            self.add(cpu, entry.time, khz);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CPU 0 changes at 10, 20 and 40 ns, CPU 2 at 16 ns; nothing is told of CPU 1.
    fn frequencies() -> Frequencies {
        let mut all = Frequencies::default();
        for (cpu, time, khz) in
            [(0, 10, 1_000_000), (0, 20, 3_000_000), (2, 16, 2_000_000), (0, 40, 2_000_000)]
        {
            all.add(CpuId(cpu), Time(time), khz);
        }
        all
    }

    #[test]
    fn a_mean_is_of_the_time_of_which_it_is_known() {
        let all = frequencies();
        let mean = |cpus: &[u16], from: u64, to: u64| {
            let cpus: Vec<CpuId> = cpus.iter().copied().map(CpuId).collect();
            let mean = all.mean(&cpus, Window { from: Time(from), to: Time(to) });
            mean.map(|khz| khz as u32 / 1000)
        };
        assert_eq!(mean(&[0], 0, 10), None);
        assert_eq!(mean(&[0], 0, 20), Some(1000), "of the last 10 ns");
        assert_eq!(mean(&[0], 15, 25), Some(2000));
        assert_eq!(mean(&[0], 30, 50), Some(2500));
        assert_eq!(mean(&[1], 0, 50), None);
        assert_eq!(mean(&[0, 1, 2], 30, 40), Some(2500), "of the CPUs of which it is known");
        assert_eq!(mean(&[7], 0, 50), None);
    }

    #[test]
    fn a_tile_has_a_byte_for_each_cell_from_the_lowest_to_the_highest() {
        let all = frequencies();
        let lane = |cpus: &[u16]| Lane {
            label: String::new(),
            cpus: cpus.iter().copied().map(CpuId).collect(),
        };
        let window = Window { from: Time(4), to: Time(40) };
        let tile = all.tile(&[lane(&[1]), lane(&[0])], 1, 0, window);
        assert_eq!(tile.len(), 2 * TILE_CELLS);
        assert!(tile[..TILE_CELLS].iter().all(|it| *it == 0));
        // Cells of 4 ns from 4 ns on.
        let expected = [0, 1, 1, 1, 255, 255, 255, 255, 255, 0];
        assert_eq!(tile[TILE_CELLS..][..10], expected);
        assert!(all.tile(&[lane(&[0])], 31, u64::MAX, window).iter().all(|it| *it == 0));
        assert_eq!(
            (all.range(), Frequencies::default().range()),
            (json!([1_000_000, 3_000_000]), Value::Null)
        );
    }

    #[test]
    fn what_is_kept_is_the_same_and_what_is_cut_is_not_taken() {
        let all = frequencies();
        let mut to = Writer::default();
        all.write(&mut to);
        let bytes = to.done();
        let read = |bytes: &[u8]| Frequencies::read_from(&mut Reader::new(bytes));
        assert_eq!(read(&bytes), Some(all));
        for length in 0..bytes.len() {
            assert_eq!(read(&bytes[..length]), None, "{length} bytes");
        }
    }
}
