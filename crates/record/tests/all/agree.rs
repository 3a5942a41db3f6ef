//! One run recorded twice, by BPF and through tracefs: both tell the same.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use wastenot_model::{Builder, Event, History, Span, Time};
use wastenot_record::{Options, Way, begin};

/// What happened to one task, in order.
type Story = Vec<(Time, String)>;

/// The stories of all tasks by tid, of what both ways can tell.
fn stories(history: &History, from: Time, to: Time) -> BTreeMap<i32, Story> {
    let mut stories: BTreeMap<i32, Story> = BTreeMap::new();
    for entry in history.entries().filter(|entry| (from..to).contains(&entry.time)) {
        let mut tell = |task, what: String| {
            if let Some(task) = history.task(task) {
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

/// How far the stamps of equal stories differ, or the first thing that differs. At its ends a
/// story may have one event more that the other way stamped outside the window.
fn compare(a: &Story, b: &Story) -> Result<Vec<u64>, String> {
    let differ =
        |a: &[(Time, String)], b: &[(Time, String)]| a.iter().zip(b).position(|(a, b)| a.1 != b.1);
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

#[test]
fn both_ways_tell_the_same_of_each_task() {
    let test = "both_ways_tell_the_same_of_each_task";
    let _alone = super::tracefs::alone();
    let start = |way| begin(&Options { way, ..Options::default() });
    let (mut bpf, mut tracefs) = match (start(Way::Bpf), start(Way::Tracefs)) {
        (Ok(bpf), Ok(tracefs)) => (bpf, tracefs),
        (Err(error), _) | (_, Err(error)) => {
            println!("SKIPPED {test}: {error}: {}", error.help());
            return;
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
        println!("SKIPPED {test}: {lost} events were lost: run it on a quiet machine");
        return;
    }
    let (a, b) = (bpf_tape.finish(), tape.finish());
    let from = a.window().from.max(b.window().from);
    let to = a.window().to.min(b.window().to);
    let (a, b) = (stories(&a, from, to), stories(&b, from, to));
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
    // On a busy 2-CPU guest (6.18) one of the two at times lacks an event or two around an
    // interrupt, and no counter of the kernel tells: not the programs' misses, not an overrun.
    wrong.iter().for_each(|story| println!("differs: {story}"));
    assert!(wrong.len() * 20 <= a.len(), "{} of {} tasks differ", wrong.len(), a.len());
    assert!(apart.len() > 20_000, "{} events", apart.len());
    assert!(at(999) <= Span::us(20), "p99.9 is {}", at(999));
}
