//! A scheduler of sched_ext that a real kernel ejected while it was recorded.
//!
//! `recordings/7.3-stall.wn` is of Debian's 7.3.4+deb13-cloud-amd64 with 8 CPUs in two nodes of
//! four under QEMU 10.0.2: a BPF scheduler with a timeout of two seconds was loaded after the
//! start. It dispatched all tasks but those named `victim`, beside four threads that compute and
//! sleep.

use wastenot_check::stall::{self, Place};
use wastenot_check::{Options, check};
use wastenot_model::{CpuId, CpuSet, Event, Span, Value};

use crate::decisions::read;

#[test]
fn the_dump_is_in_the_recording_and_agrees_with_its_events() {
    let history = read("7.3-stall.wn");
    let (window, dump) = stall::recorded(&history).expect("a dump");
    let (stalled, waited) = dump.stalled.clone().expect("a stall");
    assert_eq!((&*stalled.name, stalled.tid, dump.further), ("victim", 186, 0));
    let tasks = dump.cpus.iter().flat_map(|cpu| cpu.tasks.iter().map(move |it| (cpu.cpu, it)));
    let (cpu, task) = tasks.into_iter().find(|(_, it)| it.task.tid == 186).expect("the victim");
    assert_eq!((cpu, task.place, task.runs), (CpuId(4), Some(Place::Scheduler), false));
    let verdict = dump.report().verdict;
    assert!(verdict.contains("CPUs 0-6 were idle"), "{verdict}");
    // By the events it was queued on that CPU for as long before the dump, and ran soon after.
    let victim = history.tasks().find(|(_, it)| it.tid == 186).expect("the victim").0;
    let queued = history.entries().find_map(|it| match it.event {
        Event::Queued { task, on: Some(CpuId(4)), .. } if task == victim => Some(it.time),
        _ => None,
    });
    let ran = history.entries().find_map(|it| match it.event {
        Event::Switch { next, .. } if next == victim => Some(it.time),
        _ => None,
    });
    let (queued, ran) = (queued.expect("it was queued"), ran.expect("it ran"));
    // The kernel counts in jiffies, of 4 ms here.
    let between = (window.from - queued).0.abs_diff(waited.0);
    assert!(between < Span::ms(20).0, "{queued} {window:?} {waited}");
    assert!(ran > window.from && ran - window.to < Span::ms(200), "{ran} {window:?}");
    let idle = |cpu: u16| CpuSet::parse("0-6").is_some_and(|idle| idle.contains(CpuId(cpu)));
    for cpu in 0..8 {
        let last =
            history.entries().filter(|it| it.time < window.from).filter_map(|it| match it.event {
                Event::Switch { cpu: on, next, .. } if on == CpuId(cpu) => Some(next.is_idle()),
                _ => None,
            });
        assert_eq!(last.last().unwrap_or(true), idle(cpu), "CPU {cpu}");
    }
}

#[test]
fn what_was_loaded_is_told_and_a_shared_queue_has_the_victim() {
    let history = read("7.3-stall.wn");
    let row = |what: &str| {
        let mut rows = history.annex_cells("sched_ext", ["what", "start", "end"]);
        let row = rows.find(|row| row[0].text() == Some(what)).expect("a row");
        [row[1].clone(), row[2].clone()]
    };
    assert_eq!(row("enable_seq"), ["0", "1"].map(Value::from));
    assert_eq!(row("loaded"), ["", ""].map(Value::from));
    let report = |shared_queue| {
        let options = Options { shared_queue, ..Options::default() };
        check(&history, &options).report(&history, &options)
    };
    let plain = report(false);
    assert!(plain.findings.iter().any(|it| it.code == "sched-ext-dump"), "{:?}", plain.findings);
    assert!(plain.assumptions.iter().any(|it| it.contains("--shared-queue")));
    let shared = report(true).verdict;
    assert!(shared.contains("an idle CPU did not take a task"), "{shared}");
}
