//! The time that the hypervisor took from each CPU. The annex `steal` of Wastenot's own traces
//! contains it, for each second, or in coarser steps if it is old. A task that seems to run may
//! have been stopped in such a second.

use std::collections::BTreeMap;

use wastenot_model::{CpuId, History, Time, Window};

use crate::Scope;

/// What a row covers that does not tell it.
const SECOND: u64 = 1_000_000_000;

/// What was taken from each counted CPU in the seconds that reach into the counted time; `None`
/// where nothing tells it.
pub(crate) fn by_cpu(history: &History, scope: &Scope) -> Option<BTreeMap<CpuId, u64>> {
    let told = history.annexes.iter().any(|annex| annex.table.name == "steal");
    told.then(|| {
        let mut all = BTreeMap::new();
        for (cpu, ns) in during(history, scope.window).filter(|(cpu, _)| scope.has_cpu(*cpu)) {
            let sum: &mut u64 = all.entry(cpu).or_default();
            *sum = sum.saturating_add(ns);
        }
        all
    })
}

/// What was taken from which CPU in seconds that reach into `window`.
pub(crate) fn during(history: &History, window: Window) -> impl Iterator<Item = (CpuId, u64)> {
    seconds(history, window).map(|(cpu, _, ns)| (cpu, ns))
}

/// The same with each second.
pub(crate) fn seconds(
    history: &History,
    window: Window,
) -> impl Iterator<Item = (CpuId, Window, u64)> {
    let rows = history.annex_cells("steal", ["time_ns", "cpu", "span_ns", "steal_ns"]);
    rows.filter_map(move |[until, cpu, span, ns]| {
        let (until, span) = (Time(until.int()?), span.int().unwrap_or(SECOND));
        let from = Time(until.0.saturating_sub(span));
        let cpu = CpuId(cpu.int()?);
        let reaches = until > window.from && from < window.to;
        Some((cpu, Window { from, to: until }, span.min(ns.int()?))).filter(|_| reaches)
    })
}
