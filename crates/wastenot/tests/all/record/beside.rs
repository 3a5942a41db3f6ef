//! Recorded beside ftrace, in the same run and with the same clock, both saw the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use wastenot_check::check;
use wastenot_model::{By, Event, History, Time, Window};

use super::{machine, read};
use crate::shell::{Desk, said};

/// An instance of ftrace for this test alone, removed whatever happens.
struct Instance(&'static Path);

const EVENTS: [&str; 8] = [
    "sched_switch",
    "sched_waking",
    "sched_wakeup",
    "sched_wakeup_new",
    "sched_migrate_task",
    "sched_process_fork",
    "sched_process_exec",
    "sched_process_exit",
];

impl Instance {
    fn new() -> Option<Instance> {
        let instance = Instance(Path::new("/sys/kernel/tracing/instances/wastenot-test"));
        fs::create_dir(instance.0).ok()?;
        instance.set("trace_clock", "mono");
        instance.set("buffer_size_kb", "16384");
        for event in EVENTS {
            instance.set(&format!("events/sched/{event}/enable"), "1");
        }
        Some(instance)
    }
    fn set(&self, file: &str, value: &str) {
        fs::write(self.0.join(file), value).expect(file);
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        let _ = fs::write(self.0.join("tracing_on"), "0");
        let _ = fs::remove_dir(self.0);
    }
}

/// Threads of the first process. Guests of some hypervisors shield it: no BPF program runs in
/// their context, be it for an interrupt, and ftrace does not see them leave a CPU.
fn shielded() -> BTreeSet<i32> {
    let threads = fs::read_dir("/proc/1/task").into_iter().flatten().flatten();
    threads.filter_map(|thread| thread.file_name().to_str()?.parse().ok()).collect()
}

/// What happened to each task, by tid, within `window`: what, where, and when.
fn stories(history: &History, window: Window) -> BTreeMap<i32, Vec<(String, Time)>> {
    let mut stories: BTreeMap<i32, Vec<(String, Time)>> = BTreeMap::new();
    let shielded = shielded();
    let is_shielded = |by: By| {
        let task = by.task.and_then(|task| history.task(task));
        task.is_some_and(|task| shielded.contains(&task.tid))
    };
    for entry in history.entries() {
        if !window.holds(entry.time) || is_shielded(entry.by) {
            continue;
        }
        let mut tell = |task, what: String| {
            let tid = history.task(task).map_or(0, |task| task.tid);
            if tid > 0 {
                stories.entry(tid).or_default().push((what, entry.time));
            }
        };
        match entry.event {
            Event::Switch { cpu, prev, next, left, .. } => {
                tell(prev, format!("leaves {cpu} {}", left.letters()));
                tell(next, format!("runs on {cpu}"));
            }
            Event::Waking { task, prev, .. } => tell(task, format!("waking, was on {prev:?}")),
            Event::Queued { task, on, .. } => tell(task, format!("queued on {on:?}")),
            Event::Migrate { task, from, to } => tell(task, format!("moves {from:?} to {to}")),
            Event::Fork { child, .. } => tell(child, "is forked".to_owned()),
            Event::Exec { task } => tell(task, "executes".to_owned()),
            Event::Exit { task } => tell(task, "exits".to_owned()),
            _ => {}
        }
    }
    stories
}

/// Whether the two clocks may disagree on what side of the window's edge it was.
fn at_edge(window: Window, time: Time) -> bool {
    const EDGE: u64 = 50_000;
    time.0 < window.from.0 + EDGE || time.0 + EDGE >= window.to.0
}

type Story = [(String, Time)];

/// Leaves out what only one of them saw, at the edges of the window.
fn level<'a>(mut a: &'a Story, mut b: &'a Story, window: Window) -> (&'a Story, &'a Story) {
    while a.first().map(|it| &it.0) != b.first().map(|it| &it.0) {
        match (a, b) {
            ([x, rest @ ..], [y, ..]) if x.1 <= y.1 && at_edge(window, x.1) => a = rest,
            ([..], [y, rest @ ..]) if at_edge(window, y.1) => b = rest,
            _ => break,
        }
    }
    while a.len() != b.len() {
        match (a, b) {
            ([rest @ .., x], _) if a.len() > b.len() && at_edge(window, x.1) => a = rest,
            (_, [rest @ .., y]) if b.len() > a.len() && at_edge(window, y.1) => b = rest,
            _ => break,
        }
    }
    (a, b)
}

#[test]
fn ftrace_and_we_tell_the_same_story_of_every_task() {
    let Some(_machine) = machine("ftrace_and_we_tell_the_same_story_of_every_task") else { return };
    let Some(instance) = Instance::new() else {
        println!("SKIPPED ftrace_and_we_tell_the_same_story_of_every_task: no tracefs instance");
        return;
    };
    let desk = Desk::new();
    let line = "wastenot record -o a.wn -- sh -c \
        'for i in 1 2 3 4 5; do ls -R /etc | sort | wc >out.txt; sleep 0.05; done'";
    let (text, code) = said(&desk.bash(line));
    assert_eq!(code, 0, "{text}");
    instance.set("tracing_on", "0");
    let stats = |cpu: &str| fs::read_to_string(instance.0.join("per_cpu").join(cpu).join("stats"));
    for cpu in fs::read_dir(instance.0.join("per_cpu")).expect("CPUs").flatten() {
        let stats = stats(&cpu.file_name().to_string_lossy()).expect("stats");
        assert!(stats.contains("overrun: 0\n"), "ftrace lost events: {stats}");
    }
    desk.put("b.txt", fs::read(instance.0.join("trace")).expect("a trace"));
    let (ours, theirs) = (read(&desk.path().join("a.wn")), read(&desk.path().join("b.txt")));
    assert_eq!(ours.lost_events().0, 0);

    // Text has microseconds; and at the edges one saw what the other did not.
    let edge = 1_000_000;
    let window =
        Window { from: Time(ours.window().from.0 + edge), to: Time(ours.window().to.0 - edge) };
    let (mine, other) = (stories(&ours, window), stories(&theirs, window));
    let (mut told, mut skews) = (0, Vec::new());
    for (tid, story) in &mine {
        let Some(others) = other.get(tid) else {
            assert!(story.iter().all(|(_, time)| at_edge(window, *time)), "ftrace misses {tid}");
            continue;
        };
        let (story, others) = level(story, others, window);
        // The first that differs says enough.
        let differs = story.iter().zip(others).find(|(a, b)| a.0 != b.0);
        assert_eq!(differs, None, "task {tid}, ours and ftrace's, within {window:?}");
        assert_eq!(story.len(), others.len(), "task {tid}");
        told += story.len();
        skews.extend(story.iter().zip(others).map(|(a, b)| a.1.0.abs_diff(b.1.0)));
    }
    assert!(told > 1000, "{told}");
    skews.sort_unstable();
    let skew = skews[skews.len() * 999 / 1000];
    assert!(skew <= 20_000, "{skew} ns at p99.9");

    let options = wastenot_check::Options { window, ..Default::default() };
    let waste = |history| check(history, &options).waste.cpu_ns;
    let (a, b) = (waste(&ours), waste(&theirs));
    let switches = told as u64 / 2;
    let allowed = (a.max(b) / 100).max(skew * switches);
    assert!(a.abs_diff(b) <= allowed, "{a} and {b} ns of waste, {allowed} apart is allowed");
    println!("{told} events, p99.9 of skew {skew} ns, waste {a} and {b} ns");
}
