//! Interrupts and softirqs that CPUs handled, and the idle states of CPUs. The annex `interrupts`
//! of Wastenot's own traces contains them. A CPU cannot start a task during this time.

use std::collections::BTreeMap;

use wastenot_model::{CpuId, History, Time, Window};

use crate::Scope;

/// The time of a CPU for one interrupt or softirq, or in one idle state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Served {
    /// The CPU.
    pub cpu: CpuId,
    /// `hardirq` or `softirq`; for an idle state its name.
    pub kind: String,
    /// The name, such as `NET_RX` or `C6`.
    pub name: String,
    /// The time in ns, at least, without nested interrupts.
    pub ns: u64,
}

/// A row of the annex: in `window` a source was served for `ns`, in one piece or several.
#[derive(Clone, Copy, Debug)]
struct Row {
    window: Window,
    ns: u64,
}

impl Row {
    /// How much of it lies in `window`, wherever its pieces are.
    fn least(&self, window: Window) -> u64 {
        let common = self.window.clip(window.from, window.to).map_or(0, |(from, to)| to.0 - from.0);
        common.saturating_sub(self.window.span().0.saturating_sub(self.ns))
    }
}

/// What CPUs spent on sources of some kind.
#[derive(Debug, Default)]
pub(crate) struct Occupied<'a> {
    /// By CPU and source; each in order and without overlaps.
    cpus: BTreeMap<CpuId, BTreeMap<(&'a str, &'a str), Vec<Row>>>,
}

impl<'a> Occupied<'a> {
    /// The interrupts and softirqs of `history`; `None` if it does not contain them.
    pub(crate) fn by_interrupts(history: &'a History) -> Option<Occupied<'a>> {
        let columns = ["time_ns", "cpu", "kind", "name", "span_ns", "served_ns"];
        Occupied::read(history, "interrupts", columns)
    }

    /// The idle states, without the time for interrupts; `None` if `history` does not contain them.
    pub(crate) fn by_idle_states(history: &'a History) -> Option<Occupied<'a>> {
        let columns = ["time_ns", "cpu", "state", "state", "span_ns", "idle_ns"];
        Occupied::read(history, "idle_states", columns)
    }

    fn read(
        history: &'a History,
        annex: &'static str,
        columns: [&'static str; 6],
    ) -> Option<Occupied<'a>> {
        let told = history.annexes.iter().any(|it| it.table.name == annex);
        let mut this = told.then(Occupied::default)?;
        for [until, cpu, kind, name, span, ns] in history.annex_cells(annex, columns) {
            let row = || {
                let until = Time(until.int()?);
                let from = Time(until.0.saturating_sub(span.int()?));
                let cpu = CpuId(cpu.int()?);
                let stretch = Row { window: Window { from, to: until }, ns: ns.int()? };
                Some((cpu, (kind.text()?, name.text()?), stretch))
            };
            let Some((cpu, source, stretch)) = row() else { continue };
            let all = this.cpus.entry(cpu).or_default().entry(source).or_default();
            // A damaged file may have rows that overlap: these are left out.
            if all.last().is_none_or(|last| last.window.to <= stretch.window.from) {
                all.push(stretch);
            }
        }
        Some(this)
    }

    /// How much of `window` the CPU surely spent on all of them.
    pub(crate) fn within(&self, cpu: CpuId, window: Window) -> u64 {
        let sources = self.cpus.get(&cpu).into_iter().flat_map(BTreeMap::values);
        let sum = sources.fold(0u64, |sum, all| sum.saturating_add(least(all, window)));
        sum.min(window.span().0)
    }

    /// The time of each counted CPU for each source, the longest first.
    pub(crate) fn counted(&self, scope: &Scope) -> Vec<Served> {
        let mut served: Vec<Served> = Vec::new();
        for (&cpu, sources) in self.cpus.iter().filter(|(cpu, _)| scope.has_cpu(**cpu)) {
            for ((kind, name), all) in sources {
                let ns = least(all, scope.window);
                let (kind, name) = ((*kind).to_owned(), (*name).to_owned());
                served.extend((ns > 0).then_some(Served { cpu, kind, name, ns }));
            }
        }
        served.sort_by_key(|it| std::cmp::Reverse(it.ns));
        served
    }
}

/// How much of `window` is surely in `all`.
fn least(all: &[Row], window: Window) -> u64 {
    reaching(all, window).fold(0, |sum, it| sum.saturating_add(it.least(window)))
}

/// Those of `all` that reach into `window`.
fn reaching(all: &[Row], window: Window) -> impl Iterator<Item = &Row> {
    let first = all.partition_point(|it| it.window.to <= window.from);
    all[first..].iter().take_while(move |it| it.window.from < window.to)
}
