//! The first screen of a report: figures as shares of a whole, and the worst moment.

use wastenot_check::{Options, check};
use wastenot_model::{History, Report, Time, Window};

use crate::story::{full, story};

fn report(history: &History) -> Report {
    let options = Options::default();
    check(history, &options).report(history, &options)
}

fn shares(report: &Report) -> Vec<(&str, String)> {
    report.proportions.iter().map(|it| (it.label.as_str(), it.shares())).collect()
}

/// For 40 of 100 ns `b` waits on CPU 0 while CPU 1 is idle.
const WAITS: &str = "0 switch 0 - a S
    0 switch 1 x - S
    20 queued 0 b 0
    60 switch 0 a b S
    100 switch 0 b - S";

#[test]
fn five_figures_are_shares_of_what_they_are_a_part_of() {
    let report = report(&story(2, full(), WAITS));
    let expected = [
        ("CPU time wasted", "20.00 %"), // 40 of 200 ns
        ("CPU time busy", "50.00 %"),   // 100 of 200 ns
        ("Gain, at most", "40.00 %"),   // 40 of 100 ns
        ("Time with waste", "40.00 %"), // 40 of 100 ns
        ("placement", "100.00 %"),      // all of the 40 ns
    ];
    assert_eq!(shares(&report), expected.map(|(label, share)| (label, share.to_owned())));
}

#[test]
fn a_range_reaches_to_what_is_possible() {
    // Of CPU 2 nothing is recorded: it may have been idle, too, while `c` waited.
    let lines = "0 switch 0 - a S
        0 switch 1 x - S
        20 queued 0 b 0
        20 queued 0 c 0
        60 switch 0 a b S
        100 switch 0 b c S";
    let report = report(&story(3, full(), lines));
    assert_eq!(shares(&report)[0], ("Waste, at least", "40.00 %".into()));
    assert_eq!(shares(&report)[2], ("Gain, at most", "80.0 - 120.0 %".into()));
    let text = report.first_screen("");
    assert!(text.contains("80.0 - 120.0 % [######++] of busy CPU time"), "{text}");
}

#[test]
fn the_worst_moment_is_a_violation_and_ends_the_verdict_of_programs() {
    let report = report(&story(2, full(), WAITS));
    let worst = report.worst.as_ref().expect("a violation");
    assert_eq!(worst.window, Window { from: Time(20), to: Time(60) });
    assert_eq!(worst.window, report.findings[0].window);
    assert!(worst.message.starts_with("b:102 waited 40 ns on CPU 0"), "{}", worst.message);
    assert!(!report.verdict.contains("Worst"), "{}", report.verdict);
    let json = serde_json::to_value(&report).expect("a report");
    let verdict = json["verdict"].as_str().expect("a text");
    assert_eq!(verdict, format!("{} Worst moment: {}", report.verdict, worst.message));
}

#[test]
fn where_nothing_waited_nothing_is_the_worst_and_no_share_is_of_nothing() {
    let report =
        report(&story(2, full(), "0 switch 0 - a S\n0 switch 1 x - S\n100 switch 0 a - S"));
    assert_eq!(report.worst, None);
    let labels: Vec<_> = shares(&report).into_iter().map(|(label, _)| label).collect();
    assert_eq!(labels, ["CPU time wasted", "CPU time busy", "Gain, at most", "Time with waste"]);
    assert!(report.first_screen("").contains("[        ]"), "{}", report.first_screen(""));
}
