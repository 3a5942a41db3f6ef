//! The order of rows that every reader produces: each CPU's own, merged.

use std::collections::{BTreeMap, VecDeque};

use wastenot_model::{CpuId, Entry, Event};

/// Merges the records of all CPUs, in time order; at equal time across CPUs wakeups and migrations
/// come before switches, then the lower CPU first. Rows of one CPU keep their order.
pub fn in_order(entries: Vec<Entry>) -> Vec<Entry> {
    let mut lanes: BTreeMap<CpuId, VecDeque<Entry>> = BTreeMap::new();
    for entry in entries {
        lanes.entry(entry.cpu).or_default().push_back(entry);
    }
    let key = |entry: &Entry| {
        let switch = matches!(entry.event, Event::Switch { .. });
        (entry.time, switch, entry.cpu)
    };
    let mut out = Vec::new();
    while let Some(cpu) = lanes.values().filter_map(|lane| lane.front()).min_by_key(|e| key(e)) {
        let cpu = cpu.cpu;
        out.extend(lanes.get_mut(&cpu).and_then(VecDeque::pop_front));
    }
    out
}
