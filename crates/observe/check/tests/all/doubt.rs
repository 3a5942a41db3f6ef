//! Contradicting events make the verdict less certain; labels name their subject.

use wastenot_check::{Options, check};
use wastenot_model::{History, Report, Time, Window};

use crate::story::{full, story};

/// b waits behind a from 10 to 60 although CPU 1 is idle; at 70 CPU 1 runs c, which nobody saw.
const CONTRADICTS: &str = "
    0 switch 0 - a S
    0 switch 1 x - S
    5 waking 0 b 0
    10 queued 0 b 0
    60 switch 0 a b S
    70 switch 1 c - S
    100 switch 0 b - S";

fn report(history: &History, options: &Options) -> Report {
    check(history, options).report(history, options)
}

#[test]
fn a_contradiction_qualifies_the_verdict_and_names_task_and_cpu() {
    let history = story(2, full(), CONTRADICTS);
    let report_of_all = report(&history, &Options::default());
    let verdict = &report_of_all.verdict;
    assert!(verdict.starts_with("About 50 ns of CPU time was wasted"), "{verdict}");
    assert!(verdict.contains("Events contradict each other 1 time, so"), "{verdict}");
    let loss = &report_of_all.losses[0];
    assert!(loss.note.contains("c:103 left CPU 1"), "{}", loss.note);
    // Where they do not count, they qualify nothing.
    let window = Window { from: Time(0), to: Time(65) };
    let part = report(&history, &Options { window, ..Options::default() });
    assert!(part.verdict.starts_with("50 ns of CPU time was wasted"), "{}", part.verdict);
    assert_eq!(part.losses.len(), 1);
}

#[test]
fn each_figure_has_a_label_that_stands_alone() {
    let history = story(2, full(), CONTRADICTS);
    let window = Window { from: Time(0), to: Time(65) };
    let report = report(&history, &Options { window, ..Options::default() });
    let labels: Vec<String> = report.shown_measures().map(|(label, _)| label).collect();
    for label in [
        "CPU time wasted: at most",
        "Episodes: longest",
        "Wakeup to run, median",
        "Wakeup to run, 99th percentile",
        "Wakeup to run, longest",
        "Counted window, from",
        "Counted window, to",
        "Wakeups placed: on a busy CPU while the previous CPU was idle",
    ] {
        assert!(labels.iter().any(|it| it == label), "{label}: {labels:?}");
    }
    let mut sorted = labels.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted.len(), labels.len(), "{labels:?}");
}
