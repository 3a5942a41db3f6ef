//! A few cases, and scores by hand.

use super::faults::FAULTS;
use super::score::{Score, Scores};
use super::truth::{ByCause, Case, Found, Grain, Tally, View};
use super::{cases, page};

/// Each fault once.
const TIMES: u64 = 1;

#[test]
fn every_fault_can_be_planted_and_causes_sum_up_to_what_was_lost() {
    // A case in which they do not, in any view, fails.
    let (cases, failed) = cases(3, TIMES);
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert_eq!(cases.len(), FAULTS.len());
    for case in &cases {
        for found in &case.found {
            assert!(found.cpu_ns > 0.0 && found.truth_ns >= 0.0);
        }
        let [whole, third] = [View::Whole, View::Third].map(|view| &case.found[view as usize]);
        assert!(third.cpu_ns <= whole.cpu_ns / 2.9, "{} of {}", third.cpu_ns, whole.cpu_ns);
    }
    let took = |name: &str| {
        let case = cases.iter().find(|case| case.fault.name == name).expect("it was planted");
        case.found[View::Whole as usize].truth_ns
    };
    assert!(took("numa-levels") > 0.0 && took("late-start") > 0.0 && took("affinity") > 0.0);
    let again = super::cases(3, TIMES).0;
    assert_eq!(page::csv(&cases), page::csv(&again));
}

#[test]
fn what_is_right_wrong_and_open() {
    let ns = |all: &[(&'static str, f64)]| all.iter().copied().collect::<ByCause>();
    let fault = FAULTS.iter().find(|fault| fault.name == "wakeup").expect("a fault");
    let found = Found {
        truth_ns: 100.0,
        cpu_ns: 1000.0,
        by: [
            Tally {
                on: ns(&[
                    ("scheduler/placement", 90.0),
                    ("scheduler/balancing", 40.0),
                    ("scheduler", 7.0),
                    ("unknown", 3.0),
                    ("host/wakeup", 5.0),
                ]),
                off: ns(&[("scheduler/placement", 10.0), ("host/wakeup", 20.0)]),
                off_per_time: ns(&[("scheduler/placement", 9.0)]),
            },
            Tally::default(),
        ],
    };
    let (machine, scheduler) = (String::new(), String::new());
    let case = Case { fault, machine, scheduler, number: 0, found: vec![found] };
    let mut score = Score::default();
    score.add(fault.class, &case.found[0], Grain::Class);
    assert_eq!((score.right_ns, score.wrong_ns, score.open_ns), (80.0, 40.0, 10.0));
    assert_eq!((score.precision(), score.recall()), (Some(80.0 / 120.0), Some(0.8)));
    assert_eq!((score.positive, score.left(), score.little_left), (1, Some(0.1), 0));

    let scores = Scores::of(&[case], View::Whole, Grain::Class);
    assert_eq!(scores.precision("scheduler/placement"), Some(1.0));
    assert_eq!(scores.precision("scheduler/balancing"), Some(0.0));
    assert_eq!(scores.precision_alike("scheduler/balancing"), Some(0.0));
    let both = ["scheduler/placement", "scheduler/balancing"];
    assert_eq!(scores.among(&both), [Some(80.0 / 120.0), Some(0.8)]);
}
