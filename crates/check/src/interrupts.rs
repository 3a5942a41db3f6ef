//! Interrupts and softirqs that CPUs served, as a recording of this project tells them in its annex
//! `interrupts`: meanwhile a CPU that seems idle can start nothing.

use std::collections::BTreeMap;

use wastenot_model::{CpuId, History, Time, Value, Window};

use crate::Scope;

/// What a CPU spent on one interrupt or softirq.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Served {
    /// The CPU.
    pub cpu: CpuId,
    /// `hardirq` or `softirq`.
    pub kind: String,
    /// As `NET_RX`.
    pub name: String,
    /// How long, at least, without what interrupted it.
    pub ns: u64,
}

/// A row of the annex: in `window` a source was served for `ns`, in one piece or several.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    window: Window,
    ns: u64,
}

impl Stretch {
    /// How much of it lies in `window`, wherever its pieces are.
    fn least(&self, window: Window) -> u64 {
        let common = self.window.clip(window.from, window.to).map_or(0, |(from, to)| to.0 - from.0);
        common.saturating_sub(self.window.span().0.saturating_sub(self.ns))
    }
}

/// What each source of interrupts took, by CPU.
#[derive(Debug, Default)]
pub(crate) struct Interrupts<'a> {
    /// By CPU and source; each in order and without overlaps.
    cpus: BTreeMap<CpuId, BTreeMap<(&'a str, &'a str), Vec<Stretch>>>,
}

impl<'a> Interrupts<'a> {
    /// Those of `history`; `None` where nothing tells them.
    pub(crate) fn of(history: &'a History) -> Option<Interrupts<'a>> {
        let told = history.annexes.iter().any(|annex| annex.table.name == "interrupts");
        let columns = ["time_ns", "cpu", "kind", "name", "span_ns", "served_ns"];
        let mut this = told.then(Interrupts::default)?;
        for [until, cpu, kind, name, span, ns] in history.annex_cells("interrupts", columns) {
            let row = || {
                let until = Time(whole(until)?);
                let from = Time(until.0.saturating_sub(whole(span)?));
                let cpu = CpuId(u16::try_from(whole(cpu)?).ok()?);
                let stretch = Stretch { window: Window { from, to: until }, ns: whole(ns)? };
                Some((cpu, (text(kind)?, text(name)?), stretch))
            };
            let Some((cpu, source, stretch)) = row() else { continue };
            let all = this.cpus.entry(cpu).or_default().entry(source).or_default();
            // Of what a damaged file may hold.
            if all.last().is_none_or(|last| last.window.to <= stretch.window.from) {
                all.push(stretch);
            }
        }
        Some(this)
    }

    /// How much of `window` the CPU surely spent on interrupts and softirqs.
    pub(crate) fn within(&self, cpu: CpuId, window: Window) -> u64 {
        let sources = self.cpus.get(&cpu).into_iter().flat_map(BTreeMap::values);
        let sum = sources.fold(0u64, |sum, all| sum.saturating_add(least(all, window)));
        sum.min(window.span().0)
    }

    /// The longest stretch in `window` in which the CPU served some.
    pub(crate) fn longest(&self, cpu: CpuId, window: Window) -> Option<Window> {
        let sources = self.cpus.get(&cpu).into_iter().flat_map(BTreeMap::values);
        let stretches = sources.flat_map(|all| reaching(all, window));
        let clipped = stretches.filter_map(|it| it.window.clip(window.from, window.to));
        clipped.map(|(from, to)| Window { from, to }).max_by_key(|it| it.span())
    }

    /// What each counted CPU spent on what, longest first.
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
fn least(all: &[Stretch], window: Window) -> u64 {
    reaching(all, window).fold(0, |sum, it| sum.saturating_add(it.least(window)))
}

/// Those of `all` that reach into `window`.
fn reaching(all: &[Stretch], window: Window) -> impl Iterator<Item = &Stretch> {
    let first = all.partition_point(|it| it.window.to <= window.from);
    all[first..].iter().take_while(move |it| it.window.from < window.to)
}

fn whole(cell: Option<&Value>) -> Option<u64> {
    match cell {
        Some(Value::Int(n)) => u64::try_from(*n).ok(),
        _ => None,
    }
}

fn text(cell: Option<&Value>) -> Option<&str> {
    match cell {
        Some(Value::Text(text)) => Some(text),
        _ => None,
    }
}
