//! Interrupts and softirqs that CPUs served, and the idle states in which they were: meanwhile they
//! ran nothing, although an idle CPU looks free.

use std::collections::HashMap;

use wastenot_model::{Annex, Column, CpuId, Span, Table, Time, Unit, Value};

use crate::thin::{Stretch, thin};
use crate::wire::{Occupied, Wire};

/// Above this number of rows, older ones are merged.
const ROWS: usize = 1 << 18;

/// By number (include/linux/interrupt.h).
const SOFTIRQS: [&str; 10] =
    ["HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"];

/// What was served.
#[derive(Debug, Default)]
pub(crate) struct Interrupts {
    begun: Time,
    rows: Vec<Row>,
    /// How often each source was seen on each CPU.
    sources: HashMap<Source, u64>,
}

/// An interrupt, a softirq or an idle state of a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Source {
    cpu: CpuId,
    by: Occupied,
    number: u16,
}

/// A stretch in which one source was served: once, or several times with gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Row {
    until: Time,
    source: Source,
    span: Span,
    /// Without what was served in between.
    served: Span,
    count: u64,
}

impl Interrupts {
    /// Of a recording that begins now.
    pub(crate) fn since(begun: Time) -> Interrupts {
        Interrupts { begun, ..Interrupts::default() }
    }

    /// Takes a record of what was served.
    pub(crate) fn push(&mut self, wire: &Wire) {
        let source = Source { cpu: wire.cpu, by: wire.occupied(), number: wire.on };
        let (span, served) = (Span(wire.task.into()), Span(wire.other.into()));
        // One that began before the programs were attached has a wrong length.
        if wire.time.0.saturating_sub(span.0) < self.begun.0 {
            return;
        }
        *self.sources.entry(source).or_default() += 1;
        self.rows.push(Row { until: wire.time, source, span, served, count: 1 });
        // Of each source some can be merged.
        if self.rows.len() > ROWS.max(4 * self.sources.len()) {
            thin(&mut self.rows);
        }
    }

    /// What CPUs served, and the idle states in which they were.
    pub(crate) fn finish(&mut self) -> [Annex; 2] {
        let (at, name) = (Column::new("time_ns", "interval end", Unit::At), "name");
        let cpu = Column::new("cpu", "CPU", Unit::None);
        let within = Column::new("span_ns", "interval", Unit::Ns);
        let count = Column::new("count", "times", Unit::None);
        let kind = [Column::new("kind", "kind", Unit::None), Column::new(name, name, Unit::None)];
        let state = Column::new("state", "state", Unit::None);
        let columns = |source: &[Column], own: Column| {
            let before = [at.clone(), cpu.clone()].into_iter().chain(source.iter().cloned());
            before.chain([within.clone(), own, count.clone()]).collect::<Vec<_>>()
        };
        let served = columns(&kind, Column::new("served_ns", "CPU time", Unit::Ns));
        let idle = columns(&[state], Column::new("idle_ns", "idle time", Unit::Ns));
        let mut served = Table::new("interrupts", "Interrupts and softirqs", served);
        let mut idle = Table::new("idle_states", "Idle states", idle);
        let mut names: HashMap<(Occupied, u16), String> = HashMap::new();
        for row in self.rows.drain(..) {
            let Source { cpu, by, number } = row.source;
            let name = names.entry((by, number)).or_insert_with(|| name_of(by, number));
            let kind = match by {
                Occupied::Hardirq => Some("hardirq"),
                Occupied::Softirq => Some("softirq"),
                Occupied::IdleState => None,
            };
            let mut cells: Vec<Value> = vec![row.until.into(), cpu.into()];
            cells.extend(kind.map(Value::from));
            cells.extend([name.as_str().into(), row.span.into(), row.served.into()]);
            cells.push(row.count.into());
            if kind.is_some() { served.push(cells) } else { idle.push(cells) }
        }
        [served, idle].map(|table| Annex { table })
    }
}

fn name_of(by: Occupied, number: u16) -> String {
    let known = match by {
        Occupied::Hardirq => wastenot_host::read(&format!("/sys/kernel/irq/{number}/actions")),
        Occupied::Softirq => SOFTIRQS.get(usize::from(number)).map(|it| (*it).to_owned()),
        Occupied::IdleState => {
            let state = format!("/sys/devices/system/cpu/cpu0/cpuidle/state{number}/name");
            wastenot_host::read(&state)
        }
    };
    known.filter(|it| !it.is_empty()).unwrap_or_else(|| number.to_string())
}

impl Stretch for Row {
    type Source = Source;

    fn source(&self) -> Source {
        self.source
    }
    fn until(&self) -> Time {
        self.until
    }
    fn absorb(&mut self, next: Row) {
        self.span = next.until - Time(self.until.0 - self.span.0);
        self.until = next.until;
        self.served = Span(self.served.0 + next.served.0);
        self.count += next.count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Kind, wire};

    fn served(until: u64, cpu: u16, softirq: bool, number: u16, ns: u32) -> Wire {
        let wire = Wire { on: number, ..wire(until, cpu, Kind::Served, ns, ns) };
        if softirq { wire.of_softirq() } else { wire.in_hardirq() }
    }

    #[test]
    fn weeks_need_no_more_rows_than_a_day_and_lose_nothing() {
        let mut interrupts = Interrupts::since(Time(1_000));
        for n in 1..400_000u64 {
            interrupts.push(&served(1_000 + 10 * n, (n % 3) as u16, n % 2 == 0, 3, n as u32 % 9));
        }
        let rows = &interrupts.rows;
        assert!(rows.len() <= ROWS, "{}", rows.len());
        let served: u64 = rows.iter().map(|row| row.served.0).sum();
        assert_eq!(served, (1..400_000u64).map(|n| n % 9).sum::<u64>());
        assert_eq!(rows.iter().map(|row| row.count).sum::<u64>(), 399_999);
        assert!(rows.is_sorted_by_key(|row| row.until));
        assert!(rows.iter().all(|row| row.served <= row.span));
        // Those of one source do not overlap, and the newest are as they were.
        let of_one = rows.iter().filter(|row| row.source == rows[0].source);
        assert!(of_one.is_sorted_by(|a, b| a.until.0 <= b.until.0 - b.span.0));
        assert!(rows.iter().rev().take(10_000).all(|row| row.count == 1));
    }

    #[test]
    fn more_sources_than_rows_are_kept_apart() {
        let mut interrupts = Interrupts::default();
        let sources = ROWS as u64 + 1;
        for n in 0..5 * sources {
            let source = n % sources;
            let (cpu, number) = ((source >> 10) as u16, (source & 1023) as u16);
            interrupts.push(&served(n + 9, cpu, false, number, 1));
        }
        assert!(interrupts.rows.len() as u64 <= 4 * sources);
        assert_eq!(interrupts.rows.iter().map(|row| row.served.0).sum::<u64>(), 5 * sources);
    }

    #[test]
    fn one_that_began_before_the_recording_is_left_out() {
        let mut interrupts = Interrupts::since(Time(100));
        interrupts.push(&served(150, 0, true, 3, 60));
        interrupts.push(&served(170, 1, true, 3, 60));
        let idle = wire(180, 1, Kind::Served, 9, 4);
        interrupts.push(&Wire { on: 7, ..idle }.of_idle_state());
        let [served, idle] = interrupts.finish().map(|annex| annex.table);
        let row: Vec<Value> =
            vec![170u64.into(), 1u64.into(), "softirq".into(), "NET_RX".into(), 60u64.into()];
        assert_eq!(served.rows.iter().map(|row| row[..5].to_vec()).collect::<Vec<_>>(), [row]);
        let row: Vec<Value> =
            vec![180u64.into(), 1u64.into(), "7".into(), 9u64.into(), 4u64.into(), 1u64.into()];
        assert_eq!(idle.rows, [row]);
    }
}
