//! A check of a window that was cut out finds what a check of the whole within the window finds.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;
use wastenot_check::{Options, check, waste};
use wastenot_model::{Carries, Entry, Event, History, Missing, Silent, Time, Window};
use wastenot_needs::effort;
use wastenot_read::{read, write};
use wastenot_tests::random::{Plan, shrink};
use wastenot_tests::reference::{self, Asked};

use crate::traces::{name, traces};

/// Report sections about the file and not about the window: how much it holds and carries, what was
/// lost in the rest of it, how many tasks are pinned.
const OF_THE_FILE: [&str; 3] = ["trace", "losses", "assumptions"];

/// What a check reports for the window, one entry per line.
fn found(history: &History, window: Window, silent: Silent) -> BTreeMap<String, String> {
    // A part does not keep how the waits began that began before it, nor how long CPUs were idle
    // beside waste: its causes may be `unknown` where the whole knows more.
    let options = Options { window, silent, causes: false, ..Options::default() };
    let report = check(history, &options).report(history, &options);
    let json = serde_json::to_value(report).expect("a report");
    let mut lines = BTreeMap::new();
    for (key, value) in json.as_object().expect("an object") {
        if !OF_THE_FILE.contains(&&**key) {
            flatten(key, value, &mut lines);
        }
    }
    assert!(lines.len() > 50, "{lines:?}");
    lines
}

fn flatten(key: &str, value: &Json, lines: &mut BTreeMap<String, String>) {
    match value {
        Json::Object(object) => {
            object
                .iter()
                .for_each(|(inner, value)| flatten(&format!("{key}.{inner}"), value, lines));
        }
        Json::Array(rows) => {
            let rows = rows.iter().enumerate();
            rows.for_each(|(n, row)| flatten(&format!("{key}.{n}"), row, lines));
        }
        _ => drop(lines.insert(key.to_owned(), value.to_string())),
    }
}

/// The first differences between the whole and the cut, which goes through a file.
fn differences(history: &History, window: Window, silent: Silent) -> Vec<String> {
    let whole = found(history, window, silent);
    let mut bytes = Vec::new();
    write::wn(&write::edit::window(history, window), &mut bytes).expect("memory");
    let cut = read(&bytes, &wastenot_read::Options::default()).expect("just written");
    let cut = found(&cut, Window::ALL, silent);
    let keys: BTreeSet<&String> = whole.keys().chain(cut.keys()).collect();
    let differ = keys.into_iter().filter(|key| whole.get(*key) != cut.get(*key));
    let told = |key: &String| format!("{key}: whole {:?}, cut {:?}", whole.get(key), cut.get(key));
    differ.take(12).map(told).collect()
}

#[test]
fn the_slow_reference_measures_a_cut_as_it_measures_its_window() {
    for seed in 0..300 {
        let history = Plan { steps: 120, ..Plan::small(seed) }.history();
        let window = windows(&history)[seed as usize % 4];
        let part = write::edit::window(&history, window);
        assert_eq!(switches(&part, window), switches(&history, window), "seed {seed}");
        let cut = reference::measure(&part, &Asked::ALL);
        let whole = reference::measure(&history, &Asked { window, ..Asked::ALL });
        if lacks_rows(&history) {
            assert!(cut.waste_cpu_ns <= whole.waste_cpu_ns, "seed {seed}");
            continue;
        }
        assert_eq!(cut, whole, "seed {seed}");
    }
}

/// How many there are in a window.
fn switches(history: &History, window: Window) -> usize {
    let inside = |it: &Entry| window.from <= it.time && it.time < window.to;
    let entries = history.entries().filter(inside);
    entries.filter(|it| matches!(it.event, Event::Switch { .. })).count()
}

/// If rows are missing, the reliable waits depend on rows beyond a window: a cut may know less.
fn lacks_rows(history: &History) -> bool {
    let lost = |entry: Entry| matches!(entry.event, Event::Lost { .. });
    let carries = history.head.carries;
    let moves = carries.has(Carries::PLACEMENT) && !carries.has(Carries::MIGRATIONS);
    moves || !Missing::find(history).is_empty() || history.entries().any(lost)
}

/// A cut reports no more certain waste than its window.
fn holds(history: &History, window: Window) -> bool {
    let measure = |history: &History, window| {
        waste::measure(history, &Options { window, ..Options::default() })
    };
    let (whole, cut) = (measure(history, window), write::edit::window(history, window));
    let cut = measure(&cut, Window::ALL);
    cut.cpu_ns <= whole.cpu_ns && cut.cpu_ns <= cut.cpu_ns_max
}

pub(crate) fn windows(history: &History) -> [Window; 4] {
    let Window { from, to } = history.window();
    let at = |percent| Time(from.0 + (to - from).0 / 100 * percent);
    [(0, 50), (20, 23), (45, 80), (70, 100)].map(|(from, to)| Window { from: at(from), to: at(to) })
}

#[test]
fn a_check_of_a_cut_is_a_check_of_its_window_in_every_recording() {
    let mut failed = Vec::new();
    for path in traces() {
        let bytes = std::fs::read(&path).expect("readable");
        let Ok(history) = read(&bytes, &wastenot_read::Options::default()) else { continue };
        if lacks_rows(&history) {
            let all = windows(&history);
            assert!(all.iter().all(|window| holds(&history, *window)), "{}", name(&path));
            continue;
        }
        for (n, window) in windows(&history).into_iter().enumerate() {
            let silent = if n % 2 == 0 { Silent::Unknown } else { Silent::Idle };
            let differ = differences(&history, window, silent);
            if !differ.is_empty() {
                failed.push(format!("{} {window:?}\n  {}", name(&path), differ.join("\n  ")));
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn a_check_of_a_cut_is_a_check_of_its_window_in_random_histories() {
    for seed in 0..effort(3_000).min(30_000) {
        // Not with silent CPUs as idle: a CPU that became unknown later is idle in the cut only. If
        // rows are missing, the reliable waits depend on rows beyond a window.
        let differ = |history: &History| match lacks_rows(history) {
            true => Vec::new(),
            false => differences(history, windows(history)[seed as usize % 4], Silent::Unknown),
        };
        // Half of them last for seconds: deficits are summed over one second.
        let grain_ns = [1, 100_000][seed as usize / 4 % 2];
        let plan = Plan { steps: 120, grain_ns, ..Plan::small(seed) };
        if !differ(&plan.history()).is_empty() {
            let least = shrink(plan, |history| !differ(history).is_empty());
            let history = least.history();
            panic!(
                "{least:?}\n{}{:?}\n{}",
                crate::waste::told(&history),
                windows(&history)[seed as usize % 4],
                differ(&history).join("\n")
            );
        }
    }
}
