//! Steal time of each CPU, second by second: while the hypervisor ran another guest, a CPU ran
//! nothing although the kernel saw its task run.

use wastenot_model::{Annex, Column, Span, Table, Time, Unit};

use crate::clock;
use crate::thin::{Stretch, thin};

/// The interval between two reads.
const EVERY: Span = Span::s(1);
/// Above this number of rows, older ones are merged.
const ROWS: usize = 1 << 16;

/// Follows steal time.
#[derive(Debug)]
pub(crate) struct Steal {
    /// The length of a tick of /proc/stat.
    tick_ns: u64,
    looked: Time,
    /// By line of /proc/stat: the CPU and the ticks stolen from it.
    ticks: Vec<(u16, u64)>,
    rows: Vec<Row>,
}

/// The time stolen from one CPU since the last read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Row {
    until: Time,
    /// How long before that the read before was.
    span: Span,
    cpu: u16,
    ns: u64,
}

impl Steal {
    pub(crate) fn begin() -> Steal {
        Steal {
            tick_ns: 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1),
            looked: clock::now(),
            ticks: ticks(&wastenot_host::read("/proc/stat").unwrap_or_default()),
            rows: Vec::new(),
        }
    }

    /// Reads, if a second has passed since the last read.
    pub(crate) fn turn(&mut self) {
        if clock::now() - self.looked >= EVERY {
            self.look();
        }
    }

    /// The time stolen during the recording.
    pub(crate) fn finish(&mut self) -> Annex {
        self.look();
        let columns = [
            Column::new("time_ns", "interval end", Unit::At),
            Column::new("cpu", "CPU", Unit::None),
            Column::new("span_ns", "interval", Unit::Ns),
            Column::new("steal_ns", "steal time", Unit::Ns),
        ];
        let mut table = Table::new("steal", "Time stolen by the hypervisor", columns);
        for row in self.rows.drain(..) {
            table.push(vec![row.until.into(), row.cpu.into(), row.span.into(), row.ns.into()]);
        }
        Annex { table }
    }

    fn look(&mut self) {
        let ticks = ticks(&wastenot_host::read("/proc/stat").unwrap_or_default());
        let until = clock::now();
        let span = until - std::mem::replace(&mut self.looked, until);
        for (cpu, now) in &ticks {
            let was =
                self.ticks.iter().find(|(other, _)| other == cpu).map_or(*now, |(_, was)| *was);
            if *now > was {
                let ns = (now - was).saturating_mul(self.tick_ns);
                self.rows.push(Row { until, span, cpu: *cpu, ns });
            }
        }
        self.ticks = ticks;
        if self.rows.len() > ROWS {
            thin(&mut self.rows);
        }
    }
}

impl Stretch for Row {
    type Source = u16;

    fn source(&self) -> u16 {
        self.cpu
    }
    fn until(&self) -> Time {
        self.until
    }
    fn absorb(&mut self, next: Row) {
        self.span = next.until - Time(self.until.0.saturating_sub(self.span.0));
        self.until = next.until;
        self.ns += next.ns;
    }
}

/// The eighth column of each CPU's line (proc(5)).
fn ticks(stat: &str) -> Vec<(u16, u64)> {
    let cpu = |line: &str| {
        let mut words = line.strip_prefix("cpu")?.split(' ');
        let cpu = words.next()?.parse().ok()?;
        Some((cpu, words.nth(7)?.parse().ok()?))
    };
    stat.lines().filter_map(cpu).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_of_all_cpus_is_none_of_them() {
        let stat = "cpu  9 9 9 9 9 9 9 900 0 0\ncpu0 1 2 3 4 5 6 7 300 9 10\n\
            cpu11 1 2 3 4 5 6 7 600 9 10\nintr 1 2\n";
        assert_eq!(ticks(stat), [(0, 300), (11, 600)]);
    }

    #[test]
    fn weeks_need_no_more_rows_than_a_day_and_lose_nothing() {
        // Sometimes all CPUs, sometimes a single one.
        let (mut rows, mut stolen) = (Vec::new(), 0);
        for second in 0..200_000 {
            let cpus =
                if second % 3 == 0 { 0..4 } else { second as u16 % 4..second as u16 % 4 + 1 };
            for cpu in cpus {
                rows.push(Row { until: Time(second), span: Span(1), cpu, ns: second });
                stolen += second;
            }
            if rows.len() > ROWS {
                thin(&mut rows);
            }
        }
        assert!(rows.len() <= ROWS, "{}", rows.len());
        assert_eq!(rows.iter().map(|row| row.ns).sum::<u64>(), stolen);
        assert!(rows.is_sorted_by_key(|row| row.until));
        // A row covers what it was made of, and nothing of the rows of its CPU before it.
        for cpu in 0..4 {
            let of_cpu: Vec<&Row> = rows.iter().filter(|row| row.cpu == cpu).collect();
            let apart = |two: &[&Row]| two[0].until.0 + two[1].span.0 <= two[1].until.0;
            assert!(of_cpu.windows(2).all(apart));
            assert!(of_cpu.iter().all(|row| row.ns <= row.span.0 * row.until.0));
        }
        // The last hours are unchanged.
        let last: Vec<u64> = rows.iter().rev().map(|row| row.until.0).take(10_000).collect();
        assert!(last.windows(2).all(|two| two[0] - two[1] <= 1), "{:?}", &last[9_990..]);
    }
}
