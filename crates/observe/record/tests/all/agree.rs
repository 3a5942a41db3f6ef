//! One run recorded twice, with BPF and with tracefs: both recordings agree.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::mem::{Discriminant, discriminant};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use wastenot_model::{Builder, Entry, Event, Help, History, Span, Time, Window};
use wastenot_record::{Options, Way, begin};

/// What happened to one task, in order.
type Story = Vec<(Time, String)>;

/// A kind of event in the context of a task: its tid, or for an idle task the CPU as a negative
/// number.
type Sort = (Discriminant<Event>, i32);

fn sort(history: &History, entry: &Entry) -> Option<Sort> {
    let task = entry.by.task?;
    let context = match history.task(task) {
        Some(task) => task.tid,
        None => -1 - task.0 as i32,
    };
    Some((discriminant(&entry.event), context))
}

/// What a kernel hides from one of the two: guests of some hypervisors shield their first process
/// (no BPF program runs in its context, not even for an interrupt, and ftrace does not see it leave
/// a CPU) and an idle task (ftrace does not see that it is left). This holds for a whole run, so
/// what one way never saw of those is left out of the other.
fn shielded(a: &History, b: &History) -> BTreeSet<i32> {
    let threads = fs::read_dir("/proc/1/task").into_iter().flatten().flatten();
    let threads = threads.filter_map(|thread| thread.file_name().to_str()?.parse().ok());
    let idle = a.cpus().chain(b.cpus()).map(|cpu| -1 - i32::from(cpu.0));
    threads.chain(idle).collect()
}

fn never_seen(by: &History, shielded: &BTreeSet<i32>, other: &History) -> HashSet<Sort> {
    let sorts = |of: &History| of.entries().filter_map(|e| sort(of, &e)).collect::<HashSet<_>>();
    let seen = sorts(by);
    sorts(other).into_iter().filter(|it| shielded.contains(&it.1) && !seen.contains(it)).collect()
}

/// The stories of all tasks by tid, without the sorts of events that are left out.
fn stories(history: &History, window: Window, out: &HashSet<Sort>) -> BTreeMap<i32, Story> {
    let mut stories: BTreeMap<i32, Story> = BTreeMap::new();
    for entry in history.entries() {
        if !window.holds(entry.time) || sort(history, &entry).is_some_and(|it| out.contains(&it)) {
            continue;
        }
        let mut tell = |id, what: String| {
            if let Some(task) = history.task(id) {
                stories.entry(task.tid).or_default().push((entry.time, what));
            }
        };
        match entry.event {
            Event::Switch { cpu, prev, next, left, .. } => {
                tell(prev, format!("left CPU {cpu}: {}", left.letters()));
                tell(next, format!("runs on CPU {cpu}"));
            }
            Event::Waking { task, prev, .. } => tell(task, format!("waking, was on {prev:?}")),
            Event::Queued { task, on, .. } => tell(task, format!("queued on {on:?}")),
            Event::Migrate { task, from, to } => tell(task, format!("moves {from:?} to {to}")),
            Event::Fork { parent, child } => {
                let child = history.task(child).map_or(0, |task| task.tid);
                tell(parent, format!("creates {child}"));
            }
            Event::Exec { task } => tell(task, "executes a program".into()),
            Event::Exit { task } => tell(task, "exits".into()),
            _ => {}
        }
    }
    stories
}

/// Threads that wake each other, processes that come and go.
fn work() {
    let pairs: Vec<_> = (0..4)
        .map(|_| {
            let (there, received) = channel::<u32>();
            let (back, returned) = channel::<u32>();
            let other = std::thread::spawn(move || {
                received.into_iter().for_each(|number| back.send(number).unwrap_or_default());
            });
            let one = std::thread::spawn(move || {
                for number in 0..3000 {
                    let _ = there.send(number);
                    let _ = returned.recv();
                }
            });
            [one, other]
        })
        .collect();
    let script = "for i in $(seq 100); do echo $i | cat; done";
    let shell = Command::new("/bin/sh").args(["-c", script]).stdout(Stdio::null()).status();
    assert!(shell.is_ok_and(|status| status.success()));
    pairs.into_iter().flatten().for_each(|thread| thread.join().expect("it ends"));
}

/// How far the stamps of equal stories differ, or the first difference. At its ends a story may
/// have one more event, which the other way stamped outside the window.
fn compare(a: &Story, b: &Story) -> Result<Vec<u64>, String> {
    let differ = |a: &[(Time, String)], b: &[(Time, String)]| {
        let mut at = 0;
        while at < a.len().min(b.len()) {
            // Events of two CPUs within one stamp's error may come in either order.
            let swapped = at + 1 < a.len().min(b.len())
                && (&a[at].1, &a[at + 1].1) == (&b[at + 1].1, &b[at].1)
                && a[at + 1].0 - a[at].0 < Span::us(20);
            match a[at].1 == b[at].1 {
                true => at += 1,
                false if swapped => at += 2,
                false => return Some(at),
            }
        }
        None
    };
    for (skip_a, skip_b) in [(0, 0), (1, 0), (0, 1)] {
        let (a, b) = (a.get(skip_a..).unwrap_or_default(), b.get(skip_b..).unwrap_or_default());
        if a.len().abs_diff(b.len()) <= 1 && differ(a, b).is_none() {
            return Ok(a.iter().zip(b).map(|(a, b)| a.0.0.abs_diff(b.0.0)).collect());
        }
    }
    let at = differ(a, b).unwrap_or(a.len().min(b.len()));
    let around = |story: &Story| {
        let slice = story.get(at.saturating_sub(2)..(at + 3).min(story.len()));
        slice.map(<[_]>::to_vec)
    };
    Err(format!("{} and {} events, at {at}: {:?}\n{:?}", a.len(), b.len(), around(a), around(b)))
}

/// A kernel that shields a task does so independently in each run, rarely from some moment on.
const ROUNDS: usize = 3;

#[test]
fn both_ways_tell_the_same_of_each_task() {
    let _alone = super::tracefs::alone();
    let mut wrong = Vec::new();
    for _ in 0..ROUNDS {
        match round() {
            Round::Equal => return,
            Round::Wrong(stories) => wrong.push(stories),
            Round::Skipped(why, how) => {
                return wastenot_needs::skipped("both_ways_tell_the_same_of_each_task", &why, &how);
            }
        }
    }
    panic!("stories differ in each round: {wrong:#?}");
}

enum Round {
    Equal,
    Wrong(Vec<String>),
    Skipped(String, String),
}

/// Records one run with both and compares the recordings.
fn round() -> Round {
    let start = |way| begin(&Options { way, ..Options::default() });
    let (mut bpf, mut tracefs) = match (start(Way::Bpf), start(Way::Tracefs)) {
        (Ok(bpf), Ok(tracefs)) => (bpf, tracefs),
        (Err(error), _) | (_, Err(error)) => {
            return Round::Skipped(error.to_string(), error.help().into());
        }
    };
    let (mut bpf_tape, mut tape) = (Builder::new(bpf.head.clone()), Builder::new(tracefs.head));
    let worker = std::thread::spawn(work);
    while !worker.is_finished() {
        tracefs.recording.wait(Duration::from_millis(50));
        bpf.recording.drain(&mut bpf_tape);
        tracefs.recording.drain(&mut tape);
    }
    worker.join().expect("it worked");
    let lost = tracefs.recording.finish(&mut tape).lost + bpf.recording.finish(&mut bpf_tape).lost;
    if lost > 0 {
        return Round::Skipped(format!("{lost} events were lost"), "use a quiet machine".into());
    }
    let (a, b) = (bpf_tape.finish(), tape.finish());
    let window =
        Window { from: a.window().from.max(b.window().from), to: a.window().to.min(b.window().to) };
    let options = wastenot_check::Options { window, ..Default::default() };
    let waste = [&a, &b].map(|history| wastenot_check::waste::measure(history, &options).cpu_ns);
    let shielded = shielded(&a, &b);
    let out = [never_seen(&a, &shielded, &b), never_seen(&b, &shielded, &a)];
    let (a, b) = (stories(&a, window, &out[1]), stories(&b, window, &out[0]));
    let mut apart: Vec<u64> = Vec::new();
    let mut wrong = Vec::new();
    for (tid, story) in &a {
        match compare(story, b.get(tid).unwrap_or(&Vec::new())) {
            Ok(more) => apart.extend(more),
            Err(error) => wrong.push(format!("{tid}: {error}")),
        }
    }
    apart.sort_unstable();
    let at = |permille: usize| Span(apart[(apart.len() - 1) * permille / 1000]);
    println!("kept from BPF: {:?}, from ftrace: {:?}", out[0], out[1]);
    println!(
        "{} tasks and {}, {} events equal in order; apart by {} (median), {} (p99), {} (p99.9), \
         {} at most",
        a.len(),
        b.len(),
        apart.len(),
        at(500),
        at(990),
        at(999),
        at(1000)
    );
    if !wrong.is_empty() {
        return Round::Wrong(wrong);
    }
    assert!(apart.len() > 20_000, "{} events", apart.len());
    assert!(at(999) <= Span::us(20), "p99.9 is {}", at(999));
    // Affinities, which only BPF records, restrict no task here.
    let allowed = (waste[0].max(waste[1]) / 100).max(at(999).0 * apart.len() as u64 / 2);
    println!("waste {} and {} ns, {allowed} ns apart allowed", waste[0], waste[1]);
    assert!(waste[0].abs_diff(waste[1]) <= allowed, "{waste:?} ns of waste");
    Round::Equal
}
