//! Known answers: cases of SchedCAT's own tests, answers that it gave, witnesses of the literature.

use std::ops::ControlFlow;

use wastenot_bounds::gedf::{self, Rta};
use wastenot_bounds::single::{self, Response, Slack};
use wastenot_bounds::tardiness::{self, Point, Tardiness};
use wastenot_bounds::{Answer, Budget, partitioned};
use wastenot_model::sporadic::{Sporadic, TaskSet};
use wastenot_sim::edf::{Rule, Tie, gedf as gedf_at_no_price, synchronous};

/// Tasks (C, T, D).
fn due(tasks: &[(u64, u64, u64)]) -> TaskSet {
    let task = |&(wcet, period, deadline)| Sporadic::implicit(wcet, period).due(deadline);
    TaskSet::new(tasks.iter().map(task).collect()).expect("a task set")
}

/// Tasks (C, T).
fn implicit(tasks: &[(u64, u64)]) -> TaskSet {
    let task = |&(wcet, period)| Sporadic::implicit(wcet, period);
    TaskSet::new(tasks.iter().map(task).collect()).expect("a task set")
}

fn budget() -> Budget {
    Budget::USUAL
}

/// The multiprocessor tests in the order GFB, BAK, BCL, BCLI, RTA, BAR, FF-DBF, LOAD; 1 is accept.
fn accepts(tasks: &TaskSet, cpus: u32) -> [u8; 8] {
    let rta = gedf::rta(tasks, cpus, &Rta::default(), &mut budget()).answer;
    [
        gedf::gfb(tasks, cpus),
        gedf::bak(tasks, cpus, &mut budget()),
        gedf::bcl(tasks, cpus, &mut budget()),
        gedf::bcli(tasks, cpus, &mut budget()),
        rta,
        gedf::bar(tasks, cpus, &mut budget()),
        gedf::ff_dbf(tasks, cpus, &mut budget()),
        gedf::load(tasks, cpus, &mut budget()),
    ]
    .map(|answer| u8::from(answer == Answer::Accept))
}

fn response(tasks: &TaskSet, cpus: u32, fixpoint: bool) -> Vec<u64> {
    let how = Rta { fixpoint, ..Rta::default() };
    gedf::rta(tasks, cpus, &how, &mut budget()).response_us
}

#[test]
fn multiprocessor_tests_answer_as_schedcat_does() {
    let many = |task, count| implicit(&vec![task; count]);
    for (tasks, cpus, expected) in [
        (many((2, 3), 3), 2, [0, 0, 0, 0, 0, 0, 0, 0]),
        (many((2, 3), 3), 3, [0, 0, 1, 1, 1, 0, 0, 0]),
        (implicit(&[(1, 10), (1, 10), (10, 11)]), 2, [0, 0, 0, 1, 1, 0, 0, 0]),
        (implicit(&[(1, 10), (1, 10), (9, 11)]), 2, [1, 1, 1, 1, 1, 1, 1, 0]),
        (many((2, 10), 10), 4, [1; 8]),
        (many((5, 10), 5), 4, [1, 1, 1, 1, 1, 1, 0, 0]),
        (implicit(&[(20, 50), (30, 100), (40, 200), (10, 25)]), 2, [1, 1, 0, 1, 1, 1, 1, 0]),
        (implicit(&[(10, 40), (15, 60), (24, 80), (30, 120)]), 2, [1, 1, 0, 1, 1, 1, 1, 1]),
        (due(&[(3, 10, 6), (4, 15, 9), (5, 20, 12)]), 2, [1, 0, 0, 1, 1, 1, 1, 1]),
        (implicit(&[(20, 30), (20, 30), (5, 30)]), 2, [0, 0, 1, 1, 1, 1, 0, 0]),
        (implicit(&[(80, 100), (33, 66), (7, 10)]), 2, [0; 8]),
        (
            due(&[(10, 100, 100), (33, 200, 200), (10, 300, 100), (27, 28, 28)]),
            2,
            [0, 0, 0, 0, 1, 1, 0, 0],
        ),
        (implicit(&[(9, 10), (9, 10), (1, 100), (1, 100)]), 3, [0, 0, 1, 1, 1, 0, 0, 0]),
    ] {
        assert_eq!(accepts(&tasks, cpus), expected, "{tasks:?} on {cpus}");
    }
}

#[test]
fn equal_sums_are_accepted() {
    // 19/12 on both sides: in floating point it is not.
    let tasks = implicit(&[(3, 12), (1, 5), (3, 10), (3, 12), (5, 12), (2, 12)]);
    assert_eq!(gedf::gfb(&tasks, 2), Answer::Accept);
}

#[test]
fn response_times_are_those_of_the_first_round_that_passes_or_of_the_fixpoint() {
    let d22 = implicit(&[(20, 50), (30, 100), (40, 200), (10, 25)]);
    assert_eq!(response(&d22, 2, false), [40, 90, 130, 25]);
    assert_eq!(response(&d22, 2, true), [40, 85, 130, 20]);
    let d23 = implicit(&[(10, 40), (15, 60), (24, 80), (30, 120)]);
    assert_eq!(response(&d23, 2, false), [28, 47, 60, 82]);
    assert_eq!(response(&d23, 2, true), [26, 45, 59, 81]);
    let d27 = due(&[(10, 100, 100), (33, 200, 200), (10, 300, 100), (27, 28, 28)]);
    assert_eq!(response(&d27, 2, false), [53, 53, 20, 27]);
    assert_eq!(response(&d27, 2, true), [20, 53, 20, 27]);
    let d28 = implicit(&[(9, 10), (9, 10), (1, 100), (1, 100)]);
    assert_eq!(response(&d28, 3, false), [10, 10, 2, 2]);
    assert_eq!(response(&d28, 3, true), [9, 9, 2, 2]);
    assert_eq!(response(&implicit(&[(2, 3); 3]), 3, false), [2, 2, 2]);
    assert_eq!(response(&implicit(&[(1, 10), (1, 10), (10, 11)]), 2, false), [2, 2, 11]);
    assert_eq!(response(&implicit(&[(1, 10), (1, 10), (9, 11)]), 2, false), [2, 2, 10]);
    assert_eq!(response(&implicit(&[(2, 10); 10]), 4, false), [6; 10]);
    assert_eq!(response(&implicit(&[(5, 10); 5]), 4, false), [10; 5]);
    let d24 = due(&[(3, 10, 6), (4, 15, 9), (5, 20, 12)]);
    assert_eq!(response(&d24, 2, false), [6, 7, 9]);
    assert_eq!(response(&implicit(&[(20, 30), (20, 30), (5, 30)]), 2, false), [25, 25, 25]);
}

#[test]
fn what_one_more_cpu_or_less_work_takes_away() {
    // These tests are not monotone, and that is no fault of ours.
    let bar = |cpus, tasks: &[(u64, u64, u64)]| gedf::bar(&due(tasks), cpus, &mut budget());
    let set = [(6, 15, 11), (2, 8, 8), (9, 15, 15), (1, 6, 3), (3, 15, 15)];
    assert_eq!((bar(3, &set), bar(4, &set)), (Answer::Accept, Answer::Reject));
    let ff = |cpus, tasks: &[(u64, u64, u64)]| gedf::ff_dbf(&due(tasks), cpus, &mut budget());
    let set = [(1, 4, 4), (3, 6, 3), (2, 20, 20)];
    assert_eq!((ff(2, &set), ff(3, &set)), (Answer::Accept, Answer::Reject));
    let bak = |tasks: &[(u64, u64, u64)]| gedf::bak(&due(tasks), 2, &mut budget());
    assert_eq!(bak(&[(3, 8, 8), (6, 15, 15), (13, 30, 30)]), Answer::Accept);
    assert_eq!(bak(&[(2, 8, 8), (6, 15, 15), (13, 30, 30)]), Answer::Reject);
    assert_eq!(bak(&[(1, 4, 3), (4, 20, 18), (6, 12, 12)]), Answer::Accept);
    assert_eq!(bak(&[(1, 4, 3), (4, 23, 18), (6, 12, 12)]), Answer::Reject);
}

#[test]
fn deadlines_beyond_periods_take_no_load_off() {
    // Two jobs of length 1 are due 1 after they were released together.
    let tasks = due(&[(1, 2, 1), (1, 4, 12), (1, 4, 1)]);
    assert_eq!(gedf::bak(&tasks, 1, &mut budget()), Answer::Reject);
    assert_eq!(single::qpa(&tasks, &mut budget()), Answer::Reject);
}

#[test]
fn windows_before_which_a_cpu_idled() {
    let three = [(10, 100, 100), (33, 200, 200), (10, 300, 100)];
    let bar = |tasks: &TaskSet, cpus| gedf::bar(tasks, cpus, &mut budget());
    assert_eq!(bar(&due(&three), 1), Answer::Accept);
    let four = due(&[&three[..], &[(27, 28, 28)]].concat());
    assert_ne!(bar(&four, 1), Answer::Accept);
    assert_eq!(bar(&four, 2), Answer::Accept);
}

#[test]
fn one_cpu_is_decided_exactly() {
    let set = [
        (6_000, 31_000, 18_000),
        (2_000, 9_800, 9_000),
        (1_000, 17_000, 12_000),
        (90, 4_200, 3_000),
        (8, 96, 78),
        (2, 12, 16),
        (10, 280, 120),
        (26, 660, 160),
    ];
    assert_eq!(single::qpa(&due(&set), &mut budget()), Answer::Accept);
    let more = due(&[&set[..], &[(10, 100, 15)]].concat());
    assert_eq!(single::qpa(&more, &mut budget()), Answer::Reject);
    let two = due(&[(331, 15_000, 2_688), (3_654, 77_000, 3_849)]);
    assert_eq!(single::qpa(&two, &mut budget()), Answer::Reject);
}

#[test]
fn edf_response_times_on_one_cpu() {
    let of = |tasks: &TaskSet, slack| single::edf(tasks, slack, &mut budget());
    for (tasks, exact) in [
        (implicit(&[(2, 4), (3, 12)]), vec![2, 7]),
        (implicit(&[(2, 4), (2, 9), (3, 12)]), vec![3, 8, 11]),
        (implicit(&[(1, 4), (1, 12), (3, 16)]), vec![1, 2, 6]),
        (implicit(&[(1, 4), (2, 4)]), vec![3, 3]),
        (due(&[(2, 5, 4), (3, 6, 5)]), vec![4, 5]),
        (due(&[(2, 4, 3), (2, 9, 7), (3, 12, 10)]), vec![3, 7, 10]),
        (implicit(&[(1, 5)]), vec![1]),
        // Of equal deadlines the other goes first.
        (due(&[(1, 5, 5), (6, 10, 9)]), vec![3, 7]),
    ] {
        assert_eq!(of(&tasks, Slack::Exact), Response::Within(exact), "{tasks:?}");
    }
    let first = implicit(&[(2, 4), (3, 12)]);
    assert_eq!(of(&first, Slack::Approximate), Response::Within(vec![2, 9]));
    let third = implicit(&[(1, 4), (1, 12), (3, 16)]);
    assert_eq!(of(&third, Slack::Approximate), Response::Within(vec![1, 4, 8]));
    let over = implicit(&[(3, 12), (2, 3), (2, 4)]);
    assert_eq!(of(&over, Slack::Exact), Response::Unbounded);
}

#[test]
fn other_policies_on_one_cpu() {
    let late = due(&[(79, 120, 100), (11, 34, 100), (1, 190, 100)]);
    let all = Response::Within(vec![91; 3]);
    assert_eq!(single::non_preemptive(&late, &mut budget()), all);
    let two = due(&[(1, 5, 5), (6, 10, 9)]);
    assert_eq!(single::fixed_priority(&two, &mut budget()), Response::Within(vec![1, 8]));
}

#[test]
fn response_times_that_may_be_late() {
    let [edf, fair, whole] = [Point::Deadline, Point::FairLateness, Point::FairLatenessWhole]
        .map(|point| move |tasks: &TaskSet, cpus| tardiness::compliant(tasks, cpus, point));
    let all = |responses: &[u64]| Tardiness::Responses(responses.to_vec());
    let three = implicit(&[(2, 3); 3]);
    assert_eq!(tardiness::devi_anderson(&three, 2), all(&[5; 3]));
    assert_eq!(edf(&three, 2), all(&[5; 3]));
    assert_eq!(edf(&three, 3), all(&[4; 3]));
    let long = implicit(&[(1, 10), (1, 10), (10, 11)]);
    // x = 5.
    assert_eq!(tardiness::devi_anderson(&long, 2), all(&[16, 16, 26]));
    assert_eq!(edf(&long, 2), all(&[8, 8, 13]));
    assert_eq!(whole(&long, 2), all(&[11, 11, 12]));
    let less = implicit(&[(1, 10), (1, 10), (9, 11)]);
    assert_eq!(tardiness::devi_anderson(&less, 2), all(&[15, 15, 24]));
    assert_eq!((edf(&less, 2), whole(&less, 2)), (all(&[7, 7, 12]), all(&[10, 10, 11])));
    let ten = implicit(&[(2, 10); 10]);
    assert_eq!(tardiness::devi_anderson(&ten, 4), all(&[12; 10]));
    assert_eq!(edf(&ten, 4), all(&[7; 10]));
    let five = implicit(&[(5, 10); 5]);
    assert_eq!(tardiness::devi_anderson(&five, 4), all(&[17; 5]));
    assert_eq!(edf(&five, 4), all(&[12; 5]));
    let d22 = implicit(&[(20, 50), (30, 100), (40, 200), (10, 25)]);
    assert_eq!(tardiness::devi_anderson(&d22, 2), all(&[85, 145, 255, 50]));
    assert_eq!(
        (edf(&d22, 2), whole(&d22, 2)),
        (all(&[71, 126, 231, 41]), all(&[69, 119, 219, 44]))
    );
    let d23 = implicit(&[(10, 40), (15, 60), (24, 80), (30, 120)]);
    assert_eq!(tardiness::devi_anderson(&d23, 2), all(&[60, 85, 114, 160]));
    assert_eq!(edf(&d23, 2), all(&[39, 61, 86, 129]));
    assert_eq!((fair(&d23, 2), whole(&d23, 2)), (all(&[40, 60, 80, 120]), all(&[40, 61, 80, 120])));
    assert_eq!(edf(&due(&[(3, 10, 6), (4, 15, 9), (5, 20, 12)]), 2), all(&[7, 10, 14]));
    let d25 = implicit(&[(20, 30), (20, 30), (5, 30)]);
    assert_eq!(tardiness::devi_anderson(&d25, 2), all(&[58, 58, 43]));
    assert_eq!(edf(&d25, 2), all(&[39, 39, 32]));
    assert_eq!((fair(&d25, 2), whole(&d25, 2)), (all(&[38; 3]), all(&[38, 38, 39])));
    let full = implicit(&[(80, 100), (33, 66), (7, 10)]);
    assert_eq!(tardiness::devi_anderson(&full, 2), all(&[217, 136, 54]));
    assert_eq!((edf(&full, 2), whole(&full, 2)), (all(&[180, 123, 54]), all(&[149, 115, 59])));
    assert_eq!(edf(&full, 1), Tardiness::Unbounded);
    let d28 = implicit(&[(9, 10), (9, 10), (1, 100), (1, 100)]);
    // x = 3.
    assert_eq!(tardiness::devi_anderson(&d28, 3), all(&[22, 22, 104, 104]));
    assert_eq!(edf(&d28, 3), all(&[14, 14, 99, 99]));
}

/// What simulations show, if all tasks begin together and come each period.
#[derive(Debug, Default, PartialEq)]
struct Shown {
    in_time: u64,
    late: u64,
    /// How late the latest job is.
    latest_us: u64,
    /// When the first that is late was due.
    first_us: Option<u64>,
}

/// Of equal deadlines the one that runs goes first, as in SchedCAT.
fn simulated(tasks: &TaskSet, cpus: u32) -> Shown {
    let mut shown = Shown::default();
    gedf_at_no_price(tasks, cpus, Rule::edf(Tie::Running), 100_000, synchronous(tasks), |done| {
        let late_us = done.at_us.saturating_sub(done.deadline_us);
        shown.in_time += u64::from(late_us == 0);
        shown.late += u64::from(late_us > 0);
        shown.latest_us = shown.latest_us.max(late_us);
        shown.first_us = shown.first_us.or((late_us > 0).then_some(done.deadline_us));
        ControlFlow::Continue(())
    });
    shown
}

#[test]
fn what_simulations_show_of_these_sets() {
    let three = implicit(&[(2, 3); 3]);
    assert_eq!(simulated(&three, 1).first_us, Some(3));
    let two = simulated(&three, 2);
    assert_eq!((two.latest_us, two.first_us), (1, Some(3)));
    assert_eq!(simulated(&three, 3).late, 0);
    // Dhall's: not accepted by most tests, and nobody is late.
    assert_eq!(simulated(&implicit(&[(1, 10), (1, 10), (10, 11)]), 2).late, 0);
    let full = simulated(&implicit(&[(80, 100), (33, 66), (7, 10)]), 2);
    // SchedCAT counts one more in time: it goes on to the first event after the end.
    let expected = Shown { in_time: 4_538, late: 7_976, latest_us: 66, first_us: Some(100) };
    assert_eq!(full, expected);
}

#[test]
fn partitions_are_found_where_the_global_test_accepts() {
    let d27 = due(&[(10, 100, 100), (33, 200, 200), (10, 300, 100), (27, 28, 28)]);
    let found = partitioned::first_fit(&d27, 2, &mut budget());
    assert_eq!(found.answer, Answer::Accept);
    assert_eq!(found.cpu_of, [1, 1, 1, 0]);
    let three = implicit(&[(2, 3); 3]);
    assert_eq!(partitioned::first_fit(&three, 2, &mut budget()).answer, Answer::Reject);
}
