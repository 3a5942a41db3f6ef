//! What the hypervisor took from each CPU, second by second: a CPU that was taken away ran nothing,
//! although the kernel saw its task run.

use wastenot_model::{Annex, Span, Table, Time, Unit, Value};

use crate::{clock, host};

/// How often to look.
const EVERY: Span = Span::s(1);

/// Follows steal time.
#[derive(Debug)]
pub(crate) struct Steal {
    /// Length of a tick of /proc/stat.
    tick_ns: u64,
    looked: Time,
    /// By line of /proc/stat: the CPU and the ticks stolen from it.
    ticks: Vec<(u16, u64)>,
    table: Table,
}

impl Steal {
    pub(crate) fn begin() -> Steal {
        let columns = [
            ("time_ns", "until", Unit::At),
            ("cpu", "CPU", Unit::None),
            ("steal_ns", "stolen", Unit::Ns),
        ];
        Steal {
            tick_ns: 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1),
            looked: clock::now(),
            ticks: ticks(&host::read("/proc/stat").unwrap_or_default()),
            table: Table::new("steal", "Time stolen by the hypervisor", &columns),
        }
    }

    /// Looks, if a second went by since it did.
    pub(crate) fn turn(&mut self) {
        if clock::now() - self.looked >= EVERY {
            self.look();
        }
    }

    /// What was stolen while it looked.
    pub(crate) fn finish(&mut self) -> Annex {
        self.look();
        Annex { table: self.table.clone() }
    }

    fn look(&mut self) {
        let ticks = ticks(&host::read("/proc/stat").unwrap_or_default());
        self.looked = clock::now();
        for (cpu, now) in &ticks {
            let was =
                self.ticks.iter().find(|(other, _)| other == cpu).map_or(*now, |(_, was)| *was);
            if *now > was {
                let stolen = (now - was).saturating_mul(self.tick_ns);
                self.table.push(vec![
                    Value::from(self.looked.0),
                    Value::from(*cpu),
                    Value::from(stolen),
                ]);
            }
        }
        self.ticks = ticks;
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
    #[test]
    fn the_sum_of_all_cpus_is_none_of_them() {
        let stat = "cpu  9 9 9 9 9 9 9 900 0 0\ncpu0 1 2 3 4 5 6 7 300 9 10\n\
            cpu11 1 2 3 4 5 6 7 600 9 10\nintr 1 2\n";
        assert_eq!(super::ticks(stat), [(0, 300), (11, 600)]);
    }
}
