//! When an idle CPU was wanted: a task that could have run there waited elsewhere.
//!
//! Most tasks may run anywhere. While one of these waits every idle CPU is wanted; a clock that
//! runs in this time says for how long that was so between any two moments of interest, without a
//! look at each idle CPU at each change. For tasks that may run on few CPUs each of these CPUs has
//! windows of its own, in which it is wanted by them alone.

use wastenot_model::{CpuId, CpuSet, Time, Wanted, Window};

use crate::tiles::FACTOR;
use crate::tiles::bytes::{Reader, Writer};
use crate::tiles::codes::Codes;

/// For how long every idle CPU has been wanted, and each CPU by some tasks alone.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    /// Since when every idle CPU is wanted, if it is so.
    since: Option<Time>,
    /// For how long that was so before.
    ns: u64,
    /// When that was so: 1.
    changes: Codes,
    /// What the clock showed at the edges of the narrowest cells.
    edges: Vec<u64>,
    next_edge: Time,
    begin: Time,
    /// Per CPU the windows in which it is wanted by tasks that may not run anywhere, while none
    /// waits that may; the last may be open.
    only: Vec<Vec<Window>>,
    /// The CPUs whose last window is open.
    now_only: CpuSet,
}

impl Clock {
    pub(crate) fn new(cpus: usize, begin: Time) -> Clock {
        Clock {
            since: None,
            ns: 0,
            changes: Codes::new(begin),
            edges: Vec::new(),
            next_edge: begin,
            begin,
            only: vec![Vec::new(); cpus],
            now_only: CpuSet::new(),
        }
    }

    /// Notes what the clock shows at all edges up to `now`.
    pub(crate) fn advance(&mut self, now: Time, width_ns: u64) {
        while self.next_edge <= now {
            self.edges.push(self.at(self.next_edge));
            let next = self.next_edge.0.checked_add(width_ns);
            let Some(next) = next else { break };
            self.next_edge = Time(next);
        }
    }

    /// From `now` on these CPUs are wanted.
    pub(crate) fn set(&mut self, now: Time, wanted: &Wanted) {
        let everything = *wanted == Wanted::Everything;
        if everything != self.since.is_some() {
            self.ns = self.at(now);
            self.since = everything.then_some(now);
            self.changes.set(now, everything.into());
        }
        let none = CpuSet::new();
        let by = if let Wanted::Only(cpus) = wanted { cpus } else { &none };
        if *by == self.now_only {
            return;
        }
        for cpu in self.now_only.iter().filter(|cpu| !by.contains(*cpu)) {
            if let Some(last) = self.only.get_mut(cpu.index()).and_then(|all| all.last_mut()) {
                last.to = now;
            }
        }
        for cpu in by.iter().filter(|cpu| !self.now_only.contains(*cpu)) {
            if let Some(all) = self.only.get_mut(cpu.index()) {
                all.push(Window { from: now, to: Time::MAX });
            }
        }
        self.now_only = by.clone();
    }

    /// For how long every idle CPU was wanted up to `now`, which is not before the last change.
    #[inline]
    pub(crate) fn at(&self, now: Time) -> u64 {
        self.ns + self.since.map_or(0, |since| (now - since).0)
    }

    /// The same up to the begin of the narrowest cell `cell`.
    #[inline]
    pub(crate) fn at_edge(&self, cell: u64) -> u64 {
        self.edges[cell as usize]
    }

    /// For how long `cpu` was wanted by tasks alone that may not run anywhere.
    pub(crate) fn only(&self, cpu: CpuId, from: Time, to: Time) -> u64 {
        self.only_in(cpu, Window { from, to }).map(|part| part.span().0).sum()
    }

    fn only_in(&self, cpu: CpuId, within: Window) -> impl Iterator<Item = Window> + '_ {
        let all = self.only.get(cpu.index()).map_or(&[][..], Vec::as_slice);
        let first = all.partition_point(|window| window.to <= within.from);
        let parts = all[first..].iter().map_while(move |it| within.clip(it.from, it.to));
        parts.map(|(from, to)| Window { from, to })
    }

    /// Keeps the edges of cells that are `FACTOR` times as wide, `width_ns`.
    pub(crate) fn coarsen(&mut self, width_ns: u64) {
        let mut n = 0;
        self.edges.retain(|_| {
            n += 1;
            (n - 1) % FACTOR == 0
        });
        let edges = self.edges.len() as u64;
        self.next_edge = Time(self.begin.0.saturating_add(edges.saturating_mul(width_ns)));
    }

    /// Calls `each` with the windows within `window` in which `cpu` is wanted while it is idle.
    pub(crate) fn during(&self, cpu: CpuId, window: Window, mut each: impl FnMut(Window)) {
        for (part, _) in self.changes.during(window) {
            each(part);
        }
        for part in self.only_in(cpu, window) {
            each(part);
        }
    }

    /// Number of CPUs.
    pub(crate) fn cpus(&self) -> usize {
        self.only.len()
    }

    pub(crate) fn write(&self, to: &mut Writer) {
        self.changes.write(to);
        to.all(&self.only, |to, windows| to.all(windows, |to, window| to.window(*window)));
    }

    /// To be read, not to be continued.
    pub(crate) fn read_from(from: &mut Reader<'_>, begin: Time) -> Option<Clock> {
        let changes = Codes::read_from(from)?;
        let only = from.all(|from| from.all(Reader::window))?;
        Some(Clock { changes, only, ..Clock::new(0, begin) })
    }

    pub(crate) fn size(&self) -> usize {
        let only: usize = self.only.iter().map(Vec::len).sum();
        self.changes.size() + only * size_of::<Window>()
    }
}
