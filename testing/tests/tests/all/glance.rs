//! A glance knows less than all of a trace, and nothing else.

use std::path::Path;

use wastenot_check::{Options, check_beside};
use wastenot_model::{Activity, CpuId, History, TaskId, Time};
use wastenot_read::{glance, read};
use wastenot_tests::Rng;
use wastenot_view::tiles::{Builder, Tiles};

use crate::traces::{name, traces};

fn tiles(history: &History) -> Tiles {
    let mut spilled = Vec::new();
    let mut builder = Builder::new(history, &mut spilled);
    let options = Options { causes: false, ..Options::default() };
    check_beside(history, &options, &mut builder);
    builder.finish(std::iter::empty()).expect("memory does not fail")
}

/// What a CPU does, and who waits there, by tids.
fn told(
    history: &History,
    tiles: &Tiles,
    cpu: CpuId,
    time: Time,
) -> (Activity, Option<i32>, Vec<i32>) {
    let tid = |task: TaskId| history.task(task).map(|task| task.tid);
    let (is, _, queue) = tiles.at(cpu, time).expect("a time of the trace");
    let runs = if let Activity::Run(task) = is.activity { tid(task) } else { None };
    let mut waits: Vec<i32> = queue.iter().filter_map(|waiter| tid(waiter.task)).collect();
    waits.sort_unstable();
    (is.activity, runs, waits)
}

fn agrees(path: &Path, room: usize) -> Option<f64> {
    let (bytes, options) =
        (std::fs::read(path).expect("readable"), wastenot_read::Options::default());
    let part = glance(&bytes, &options, room)?;
    let whole = read(&bytes, &options).expect("a trace");
    let ends = |history: &History| (history.window().from, history.window().to);
    assert_eq!(ends(&part), ends(&whole), "{}", name(path));
    assert!(part.len() < whole.len() / 2, "{}: {} of {}", name(path), part.len(), whole.len());
    let (of_part, of_whole) = (tiles(&part), tiles(&whole));
    let (window, mut rng, mut known) = (whole.window(), Rng::new(7), 0);
    const LOOKS: usize = 20_000;
    for _ in 0..LOOKS {
        let cpu = CpuId(rng.below(whole.cpu_count()) as u16);
        let time = Time(window.from.0 + rng.bits() % window.span().0);
        let (is, runs, waits) = told(&part, &of_part, cpu, time);
        let all = told(&whole, &of_whole, cpu, time);
        let place = format!("{}: {cpu} at {time:?}: {is:?} {runs:?}, {all:?}", name(path));
        match is {
            Activity::Unknown => {}
            Activity::Run(_) => assert!(runs == all.1, "{place}"),
            // A task that was queued before is not known of.
            Activity::Idle => {
                assert!(matches!(all.0, Activity::Idle | Activity::Waking), "{place}");
            }
            other => assert_eq!(other, all.0, "{place}"),
        }
        assert!(waits.iter().all(|tid| all.2.contains(tid)), "{place}: {waits:?}");
        known += usize::from(is != Activity::Unknown);
    }
    Some(known as f64 / LOOKS as f64)
}

#[test]
fn what_a_glance_shows_is_so() {
    let long = traces().into_iter().filter(|path| name(path) == "host-6.18-2cpu-messaging.dat");
    for path in long {
        let known = [64 << 10, 128 << 10, 256 << 10].map(|room| agrees(&path, room));
        // It is long enough for all of them; busy stretches have more pages than others.
        assert!(known.iter().all(|it| it.is_some_and(|part| part > 0.2)), "{known:?}");
        assert!(known.is_sorted(), "{known:?}");
    }
}

#[test]
fn what_is_short_has_no_glance() {
    for path in traces() {
        let bytes = std::fs::read(&path).expect("readable");
        assert!(glance(&bytes, &wastenot_read::Options::default(), 24 << 20).is_none());
    }
}
