//! Pictures mark as wasted exactly what a check counts, and each class of causes where it took it.

use std::collections::BTreeMap;

use wastenot_check::causes::{CLASSES, LostTime, class_of};
use wastenot_check::marks::Marks;
use wastenot_check::violations::Violations;
use wastenot_check::{Check, Options, check};
use wastenot_model::{
    CpuMode, History, Observer, Phase, Silent, State, TaskId, Time, Window, replay,
};
use wastenot_needs::effort;
use wastenot_read::read;
use wastenot_tests::random::Plan;

use crate::traces::{name, traces};
use crate::windows::windows;

/// What is found and marked in a window.
fn found(history: &History, window: Window) -> Violations {
    let options = Options { window, marks: true, ..Options::default() };
    let waits = Options { marks: false, waits_in_vain: true, ..options.clone() };
    let check = check(history, &options);
    let waits = wastenot_check::check(history, &waits);
    assert_eq!(waits.violations.marks.waited, check.violations.marks.waited);
    assert_eq!(
        waits.causes.map(|it| it.stretches),
        check.causes.as_ref().map(|it| it.stretches.clone())
    );
    causes_fit(history, &check);
    check.violations
}

/// The marked stretches of waste are as long as each class of causes took, and one is marked
/// exactly while there is waste.
fn causes_fit(history: &History, check: &Check) {
    let causes = check.causes.as_ref().expect("they were asked for");
    let (mut took, mut edges) = ([0; CLASSES.len()], Vec::new());
    for (cause, loss, it) in &causes.stretches {
        if *loss == LostTime::Waste {
            took[class_of(cause.path).expect("waste has a class")] += it.ns;
            edges.extend([(it.window.from, 1), (it.window.to, -1)]);
        }
    }
    assert_eq!(took, causes.waste_by_class(), "{}", history.head.source.name);
    assert_eq!(took.iter().sum::<u64>(), check.waste.cpu_ns);
    edges.sort_unstable_by_key(|(at, step)| (*at, -step));
    let (mut open, mut covered) = (0, Vec::<Window>::new());
    for (at, step) in edges {
        match (open, step) {
            (0, _) if covered.last().is_some_and(|last| last.to == at) => {}
            (0, _) => covered.push(Window { from: at, to: at }),
            _ => covered.last_mut().expect("one is open").to = at,
        }
        open += step;
    }
    let mut episodes = check.waste.marks.clone();
    episodes.dedup_by(|next, last| {
        let touch = next.from == last.to;
        if touch {
            last.to = next.to;
        }
        touch
    });
    assert_eq!(covered, episodes, "{}", history.head.source.name);
}

/// Marks match the findings: as long for each task, within the window, and beside a marked CPU.
fn fit(history: &History, window: Window, found: &Violations) {
    let Marks { waited, idle, .. } = &found.marks;
    let mut marked = BTreeMap::<TaskId, u64>::new();
    for mark in waited {
        assert!(window.from <= mark.window.from && mark.window.to <= window.to, "{mark:?}");
        *marked.entry(mark.task).or_default() += mark.window.span().0;
    }
    let counted = found.by_task.iter().map(|(task, sum)| (*task, sum.idle_ns));
    assert_eq!(marked, counted.collect(), "{}", history.head.source.name);
    for pair in idle.windows(2) {
        assert!(pair[0].0 != pair[1].0 || pair[0].1.to < pair[1].1.from, "in order and apart");
    }
    assert_eq!(waited.is_empty(), idle.is_empty());
}

/// Compares marks with State at every moment: each marked task waits there, and each marked CPU is
/// idle.
struct Held<'m>(&'m Marks);

impl Observer for Held<'_> {
    fn held(&mut self, state: &State, from: Time, to: Time) {
        let now = |window: &Window| window.clip(from, to).is_some();
        let mut waits = false;
        for mark in self.0.waited.iter().filter(|mark| now(&mark.window)) {
            waits = true;
            let task = state.task(mark.task);
            assert_eq!((task.phase, task.cpu), (Phase::Waiting, Some(mark.cpu)), "{mark:?}");
        }
        let mut idles = false;
        for (cpu, window) in self.0.idle.iter().filter(|(_, window)| now(window)) {
            idles = true;
            assert_eq!(state.cpu(*cpu).mode, CpuMode::Idle, "CPU {cpu} {window:?}");
        }
        assert_eq!(waits, idles, "at {from}");
    }
}

#[test]
fn marks_of_random_histories_are_what_a_check_of_the_window_counts() {
    let mut all = 0;
    for seed in 0..effort(600).min(6_000) {
        let history = Plan { steps: 150, ..Plan::small(seed) }.history();
        for window in windows(&history).into_iter().chain([history.window()]) {
            let found = found(&history, window);
            fit(&history, window, &found);
            replay(&history, Silent::Unknown, &mut Held(&found.marks));
            all += found.marks.waited.len();
        }
    }
    assert!(all > 1_000, "{all} marks are too few to show anything");
}

#[test]
fn marks_of_every_recording_are_what_a_check_of_the_window_counts() {
    let mut all = 0;
    for path in traces() {
        let bytes = std::fs::read(&path).expect("readable");
        let Ok(history) = read(&bytes, &wastenot_read::Options::default()) else { continue };
        for window in windows(&history) {
            let found = found(&history, window);
            fit(&history, window, &found);
            all += found.marks.waited.len();
            if history.len() < 3_000 && found.marks.waited.len() < 300 {
                replay(&history, Silent::Unknown, &mut Held(&found.marks));
            }
        }
        if all == 0 {
            println!("nothing is marked in {}", name(&path));
        }
    }
    assert!(all > 10_000, "{all} marks are too few to show anything");
}
