//! The generator itself: cases that it never makes cannot be tested with it.

use std::collections::BTreeMap;

use wastenot_model::{
    Change, Contradiction, CpuMode, Entry, Event, History, How, Observer, Silent, State, replay,
};
use wastenot_tests::random::Plan;

#[derive(Default)]
struct Contradicted(u32);

impl Observer for Contradicted {
    fn contradiction(&mut self, _: &State, _: &Entry, _: Contradiction) {
        self.0 += 1;
    }
}

fn features(history: &History) -> Vec<&'static str> {
    let mut found: Vec<_> = history.entries().map(|entry| kind(&entry.event)).collect();
    let rows: Vec<Entry> = history.entries().collect();
    let equal = |pair: &[Entry]| pair[0].time == pair[1].time && pair[0].cpu != pair[1].cpu;
    if rows.windows(2).any(equal) {
        found.push("equal stamps");
    }
    let mut contradicted = Contradicted::default();
    let state = replay(history, Silent::Unknown, &mut contradicted);
    found.push(if contradicted.0 > 0 { "contradictory" } else { "consistent" });
    found.extend(state.cpus().any(|(_, cpu)| cpu.silent).then_some("silent CPU"));
    found.extend(state.cpus().any(|(_, cpu)| cpu.mode == CpuMode::Offline).then_some("offline"));
    found.extend(history.head.start.as_ref().map(|_| "snapshot"));
    found.extend((history.cpu_count() > 64).then_some("many CPUs"));
    let mut tids: Vec<i32> = history.tasks().map(|(_, task)| task.tid).collect();
    tids.sort_unstable();
    found.extend(tids.windows(2).any(|pair| pair[0] == pair[1]).then_some("tid reused"));
    found.sort_unstable();
    found.dedup();
    found
}

fn kind(event: &Event) -> &'static str {
    match event {
        Event::Switch { .. } => "switch",
        Event::Waking { .. } => "waking",
        Event::Queued { how: How::Wakeup, .. } => "wakeup",
        Event::Queued { how: How::New, .. } => "new",
        Event::Queued { how: How::NoSelection, .. } => "no selection",
        Event::Migrate { .. } => "migrate",
        Event::Fork { .. } => "fork",
        Event::Exec { .. } => "exec",
        Event::Exit { .. } => "exit",
        Event::Cpu { up: true, .. } => "cpu up",
        Event::Cpu { up: false, .. } => "cpu down",
        Event::Freq { .. } => "frequency",
        Event::Changed { what: Change::Affinity(_), .. } => "affinity",
        Event::Changed { what: Change::Throttled(_), .. } => "throttled",
        Event::Changed { what: Change::MigrationDisabled(_), .. } => "migration disabled",
        Event::Changed { .. } => "changed otherwise",
        Event::Lost { count: Some(_) } => "lost",
        Event::Lost { count: None } => "lost without count",
        Event::Decided { .. } => "decided",
    }
}

#[test]
fn everything_that_a_history_may_hold_is_made_often() {
    let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
    for seed in 0..4_000 {
        for feature in features(&Plan::small(seed).history()) {
            *seen.entry(feature).or_default() += 1;
        }
    }
    println!("{seen:?}");
    let wanted = [
        "affinity",
        "changed otherwise",
        "consistent",
        "contradictory",
        "cpu down",
        "cpu up",
        "equal stamps",
        "exec",
        "exit",
        "fork",
        "frequency",
        "lost",
        "lost without count",
        "many CPUs",
        "migrate",
        "migration disabled",
        "new",
        "no selection",
        "offline",
        "silent CPU",
        "snapshot",
        "switch",
        "throttled",
        "tid reused",
        "waking",
        "wakeup",
    ];
    for feature in wanted {
        let times = seen.get(feature).copied().unwrap_or(0);
        assert!(times >= 40, "{feature} is in {times} of 4000 histories");
    }
}

#[test]
fn a_longer_plan_begins_like_a_shorter_one() {
    for seed in 0..50 {
        let long = Plan::small(seed).history();
        let short = Plan { steps: 20, ..Plan::small(seed) }.history();
        let least = short.entries().map(|entry| entry.time).max();
        // A loss is reported with the record after it, which the shorter plan may lack.
        let begins =
            |entry: &Entry| Some(entry.time) < least && !matches!(entry.event, Event::Lost { .. });
        let also = short.entries().filter(begins);
        let begins = long.entries().filter(begins);
        assert!(begins.eq(also), "seed {seed}");
    }
}
