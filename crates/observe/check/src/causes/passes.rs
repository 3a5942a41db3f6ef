//! Scheduling domains and balancing passes, if the source records decisions.

use std::collections::BTreeMap;

use wastenot_model::{CpuId, CpuSet, Decision, Event, History, Time};

/// Whether balancing of one CPU can see another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sight {
    /// No domain has it.
    None,
    /// It is in the local group of the narrowest domain that has it, so it is compared with
    /// nothing.
    InLocalGroup,
    /// It is compared as a part of a group that has the balancing CPU as well. Groups that are
    /// built as each CPU sees the nodes never do: a CPU that is not within one hop fewer of
    /// another one is not in its group either.
    InGroupOfBoth,
    /// The domain that compares it has this level.
    At(usize),
}

/// A pass over one scheduling domain.
#[derive(Clone, Debug)]
pub(super) struct Pass {
    pub(super) time: Time,
    /// The CPU that would have got a task.
    pub(super) cpu: CpuId,
    /// The pass was due after a tick.
    pub(super) periodic: bool,
    /// It was this CPU's turn, and nothing was taken.
    pub(super) left: bool,
    /// The group that was found busiest, if one was.
    pub(super) busiest: CpuSet,
    /// From when on the domains of the CPU hold, and which of them it was.
    since: Time,
    level: usize,
}

/// A scheduling domain of a CPU.
#[derive(Clone, Debug)]
struct Level {
    span: CpuSet,
    local: CpuSet,
}

/// More domains than a CPU can have: a damaged file may tell any number.
const LEVELS: usize = 64;

/// The scheduling domains of a CPU.
#[derive(Clone, Debug, Default)]
struct Chain {
    levels: Vec<Level>,
    /// The source tells all of them, not only those that were balanced.
    complete: bool,
}

/// Those of a History.
#[derive(Debug)]
pub(super) struct Passes {
    /// In time order.
    all: Vec<Pass>,
    next: usize,
    now: Time,
    /// By CPU, and the time from which they hold.
    chains: BTreeMap<(CpuId, Time), Chain>,
}

impl Passes {
    /// Those of `history`, if it tells any.
    pub(super) fn of(history: &History) -> Option<Passes> {
        let known = |it: &Decision| {
            it.cpu.index() < history.cpu_count() && (it.is_pass() || it.what == Decision::DOMAIN)
        };
        let mut rows: Vec<Decision> = history.decisions()?.filter(known).collect();
        rows.sort_by_key(|it| it.time);
        let is_hotplug = |event: &Event| matches!(event, Event::Cpu { .. });
        let hotplugs = history.entries().filter(|it| is_hotplug(&it.event)).map(|it| it.time);
        let hotplugs: Vec<Time> = hotplugs.collect();
        let mut passes = Passes { all: Vec::new(), next: 0, now: Time(0), chains: BTreeMap::new() };
        for row in rows {
            passes.advance(row.time);
            let before = hotplugs.partition_point(|time| *time <= row.time);
            passes.add(row, hotplugs[..before].last().copied().unwrap_or(Time(0)));
        }
        passes.now = Time(0);
        Some(passes)
    }

    /// Adds a row, before which the last CPU came or went at `hotplug`.
    fn add(&mut self, row: Decision, hotplug: Time) {
        let (is_domain, left) = (row.what == Decision::DOMAIN, row.left_all());
        // Passes alone do not show which domains a hotplug left as they were.
        let holds = |since: &Time| *since >= hotplug || self.chains[&(row.cpu, *since)].complete;
        let since = match is_domain {
            true => row.time,
            false => self.since(row.cpu).filter(holds).unwrap_or(hotplug),
        };
        let chain = self.chains.entry((row.cpu, since)).or_default();
        chain.complete |= is_domain;
        let level = match chain.levels.iter().position(|level| level.span == row.considered) {
            Some(known) => known,
            None if chain.levels.len() == LEVELS => return,
            None => {
                chain.levels.push(Level { span: row.considered, local: row.local });
                chain.levels.len() - 1
            }
        };
        if !is_domain {
            let (periodic, busiest) = (row.what == Decision::PERIODIC, row.busiest);
            let (time, cpu) = (row.time, row.cpu);
            self.all.push(Pass { time, cpu, periodic, left, busiest, since, level });
        }
    }

    /// Time has come to `now`.
    pub(super) fn advance(&mut self, now: Time) {
        self.now = self.now.max(now);
    }

    /// The next pass before `to`.
    pub(super) fn before(&mut self, to: Time) -> Option<Pass> {
        let pass = self.all.get(self.next).filter(|pass| pass.time < to)?.clone();
        self.next += 1;
        self.advance(pass.time);
        Some(pass)
    }

    /// The time from which the present domains of `cpu` hold.
    fn since(&self, cpu: CpuId) -> Option<Time> {
        let known = self.chains.range((cpu, Time(0))..=(cpu, self.now));
        known.map(|((_, since), _)| *since).next_back()
    }

    /// Whether all domains of `cpu` are known.
    pub(super) fn tells(&self, cpu: CpuId) -> bool {
        self.since(cpu).is_some_and(|since| self.chains[&(cpu, since)].complete)
    }

    /// Whether balancing of `cpu` can see `other`; `None` where that is not known.
    pub(super) fn sight(&self, cpu: CpuId, other: CpuId) -> Option<Sight> {
        self.sight_since(cpu, self.since(cpu)?, other)
    }

    /// The same with the domains that hold since then.
    fn sight_since(&self, cpu: CpuId, since: Time, other: CpuId) -> Option<Sight> {
        let chain = &self.chains[&(cpu, since)];
        let with = chain.levels.iter().enumerate().filter(|(_, it)| it.span.contains(other));
        match with.min_by_key(|(_, level)| level.span.len()) {
            Some((_, level)) if level.local.contains(other) => Some(Sight::InLocalGroup),
            Some((_, level))
                if self.group(other, &level.span).is_some_and(|it| it.contains(cpu)) =>
            {
                Some(Sight::InGroupOfBoth)
            }
            Some((level, _)) => Some(Sight::At(level)),
            None => chain.complete.then_some(Sight::None),
        }
    }

    /// The local group of `cpu` in its domain of this span, where that is known.
    fn group(&self, cpu: CpuId, span: &CpuSet) -> Option<&CpuSet> {
        let chain = &self.chains[&(cpu, self.since(cpu)?)];
        chain.levels.iter().find(|level| level.span == *span).map(|level| &level.local)
    }

    /// Whether `pass` compared `of` with the CPU for which it was made, and took nothing.
    pub(super) fn left(&self, pass: &Pass, of: CpuId) -> bool {
        let sight = || self.sight_since(pass.cpu, pass.since, of);
        pass.left && sight() == Some(Sight::At(pass.level))
    }

    /// The local group of `pass`.
    pub(super) fn local(&self, pass: &Pass) -> &CpuSet {
        &self.chains[&(pass.cpu, pass.since)].levels[pass.level].local
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wastenot_model::{Annex, Builder, By, Entry, Head, Machine, Sink, decisions};

    fn row(time: u64, cpu: u16, what: &'static str, span: &str, local: &str) -> Decision<'static> {
        let set = |list| CpuSet::parse(list).expect("a list");
        Decision {
            time: Time(time),
            cpu: CpuId(cpu),
            what,
            task: None,
            considered: set(span),
            local: set(local),
            busiest: CpuSet::new(),
            outcome: Decision::BALANCED,
        }
    }

    /// Of a machine whose CPU 3 goes off at 50.
    fn passes(rows: Vec<Decision<'static>>) -> Passes {
        let mut sink = Builder::new(Head::new(Machine::flat(4)));
        let event = Event::Cpu { cpu: CpuId(3), up: false };
        sink.push(Entry { time: Time(50), cpu: CpuId(3), by: By::UNKNOWN, event });
        sink.annex(Annex { table: decisions::table(rows) });
        Passes::of(&sink.finish()).expect("decisions")
    }

    #[test]
    fn the_narrowest_domain_that_has_a_cpu_decides_what_balancing_sees() {
        let domain = |time, span, local| row(time, 0, Decision::DOMAIN, span, local);
        let rows = vec![
            domain(0, "0-1", "0"),
            domain(0, "0-3", "0-2"),
            row(10, 0, Decision::PERIODIC, "0-3", "0-2"),
            domain(50, "0-1", "0"),
            domain(60, "0", "0"),
        ];
        let mut passes = passes(rows);
        let sight = |passes: &Passes| [1, 2, 3].map(|cpu| passes.sight(CpuId(0), CpuId(cpu)));
        let before = [Some(Sight::At(0)), Some(Sight::InLocalGroup), Some(Sight::At(1))];
        assert_eq!(sight(&passes), before);
        assert!(passes.before(Time(10)).is_none());
        let pass = passes.before(Time(11)).expect("a pass");
        assert!(passes.left(&pass, CpuId(3)));
        assert!(!passes.left(&pass, CpuId(1)) && !passes.left(&pass, CpuId(2)));
        passes.advance(Time(50));
        assert_eq!(sight(&passes), [Some(Sight::At(0)), Some(Sight::None), Some(Sight::None)]);
        passes.advance(Time(60));
        assert_eq!(sight(&passes), [Some(Sight::None); 3], "replaced without a hotplug");
    }

    #[test]
    fn after_a_hotplug_passes_alone_begin_anew() {
        let pass = |time, span| row(time, 0, Decision::PERIODIC, span, "0");
        let mut passes = passes(vec![pass(10, "0-3"), pass(60, "0-2")]);
        let first = passes.before(Time(20)).expect("a pass");
        assert!(passes.left(&first, CpuId(1)) && passes.left(&first, CpuId(3)));
        let second = passes.before(Time(70)).expect("another one");
        assert!(passes.left(&second, CpuId(1)) && !passes.left(&second, CpuId(3)));
    }

    #[test]
    fn without_rows_of_domains_no_cpu_is_known_to_be_out_of_sight() {
        let passes = passes(vec![row(10, 0, Decision::NEWIDLE, "0-1", "0")]);
        assert_eq!(passes.sight(CpuId(0), CpuId(1)), Some(Sight::At(0)));
        assert_eq!(passes.sight(CpuId(0), CpuId(2)), None);
        assert!(!passes.tells(CpuId(0)));
    }
}
