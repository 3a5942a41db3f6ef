//! Accounts of small Histories, nanosecond by nanosecond.

use wastenot_check::Options;
use wastenot_check::account::{Account, Kind, Question};
use wastenot_model::{Carries, History, Report, TaskId, Time, Value, Window};

use crate::story::{full, story};

fn asked(history: &History, names: &[&str]) -> Question {
    let is_asked = |task: &TaskId| names.contains(&&*history.task_name(*task));
    let tasks = history.tasks().map(|(task, _)| task).filter(is_asked).collect();
    Question { tasks, window: Window::ALL, every: false }
}

fn account(history: &History, names: &[&str]) -> Account {
    Account::of(history, &asked(history, names), &Options::default())
}

/// The path in words: `from kind task reason`.
fn path(history: &History, account: &Account) -> Vec<String> {
    let line = |step: &wastenot_check::account::Step| {
        let reason = step.reason.map_or(String::new(), |reason| format!(" {}", reason.name));
        let task = history.task_name(step.task);
        format!("{} {} {task}{reason}", step.window.from.0, step.kind.name())
    };
    let mut at = account.window.from;
    for step in &account.path {
        assert_eq!(step.window.from, at, "steps follow each other");
        at = step.window.to;
    }
    assert_eq!(at, account.window.to, "the path covers the interval");
    account.path.iter().map(line).collect()
}

fn of(lines: &str, names: &[&str]) -> Vec<String> {
    let history = story(2, full(), lines);
    path(&history, &account(&history, names))
}

/// `a` sleeps from 10 to 50; `b` wakes it at 50 and had waited for `c`, which ran until 40.
const CHAIN: &str = "
    0 switch 0 - a S
    0 switch 1 - c S
    5 waking 1 b 1 by c
    5 queued 1 b 1 by c
    10 switch 0 a - S
    30 switch 1 c b R
    50 waking 1 a 0 by b
    52 queued 1 a 0 by b
    55 switch 0 - a S
    60 switch 1 b c S
    90 switch 0 a - S
    100 end";

#[test]
fn what_ran_where_a_task_waited_is_told() {
    let history = story(2, full(), CHAIN);
    let ran = |names: &[&str]| {
        let all = account(&history, names).meanwhile;
        all.iter().map(|it| (history.task_name(it.task), it.tasks, it.ns)).collect::<Vec<_>>()
    };
    // b waited from 10 on, in the path of a; on its own from 5 on.
    assert_eq!(ran(&["a"]), [("c".to_owned(), 1, 20)]);
    assert_eq!(ran(&["b"]), [("c".to_owned(), 1, 25)]);
    let text = account(&history, &["b"]).report(&history).verdict;
    assert!(text.contains("During these waits, c:"), "{text}");
    assert!(text.contains(" used the CPU for 25 ns."), "{text}");
}

#[test]
fn a_path_goes_through_the_waker_while_it_ran_and_while_it_waited() {
    let steps = of(CHAIN, &["a"]);
    // From 10 on CPU 0 was idle, so b need not have waited: that is waste.
    assert_eq!(
        steps,
        [
            "0 run a",
            "10 wait-other b scheduler/balancing/newly-idle",
            "30 run-other b",
            "50 wake-delay a wakeup",
            "52 wake-delay a host/wakeup",
            "55 run a",
        ]
    );
}

#[test]
fn of_two_tasks_together_no_run_is_that_of_another() {
    let steps = of(CHAIN, &["a", "b"]);
    assert_eq!(steps[1], "10 wait b scheduler/balancing/newly-idle");
    assert_eq!(steps[2], "30 run b");
    assert!(!steps.iter().any(|step| step.contains("other")), "{steps:?}");
}

#[test]
fn a_chain_of_two_wakers_is_followed_and_left_where_the_sleep_began() {
    // c wakes b, b wakes a. What c did before a slept is no part of it.
    let lines = "
        0 switch 0 - a S
        0 switch 1 b c S
        20 switch 0 a - S
        30 waking 1 b 1 by c
        30 queued 1 b 0 by c
        30 switch 0 - b S
        45 waking 0 a 0 by b
        45 queued 0 a 0 by b
        45 switch 0 b a S
        60 switch 0 a - S";
    assert_eq!(of(lines, &["a"]), ["0 run a", "20 run-other c", "30 run-other b", "45 run a"]);
}

#[test]
fn interrupts_end_a_sleep_by_io_or_by_a_timer_or_device() {
    let lines = "
        0 switch 0 - a S
        10 switch 0 a - D
        30 waking 0 a 0 by irq
        30 queued 0 a 0 by irq
        30 switch 0 - a S
        40 switch 0 a - S
        70 waking 0 a 0 by softirq
        70 queued 0 a 0 by softirq
        70 switch 0 - a S
        80 switch 0 a - S";
    let steps = ["0 run a", "10 io a", "30 run a", "40 timer-or-device a", "70 run a"];
    assert_eq!(of(lines, &["a"]), steps);
}

#[test]
fn a_wait_has_its_cause_or_all_cpus_were_busy() {
    // Until 20 both CPUs are busy; then CPU 1 becomes idle and does not take b.
    let lines = "
        0 switch 0 - a S
        0 switch 1 - c S
        5 waking 0 b 0 by a
        5 queued 0 b 0 by a
        20 switch 1 c - S
        30 switch 0 a b S
        40 switch 0 b - S";
    let history = story(2, full(), lines);
    let found = account(&history, &["b"]);
    let steps = path(&history, &found);
    assert_eq!(
        steps[steps.len() - 3..][..2],
        ["5 wait b busy", "20 wait b scheduler/balancing/newly-idle"]
    );
    assert_eq!((found.ns(Kind::Wait), found.wasted_ns()), (25, 10));
}

#[test]
fn where_no_cpu_ever_changes_all_are_busy_and_where_one_is_silent_that_is_not_known() {
    let lines = "
        0 switch 0 b a S
        5 waking 0 b 0 by a
        5 queued 0 b 0 by a
        30 switch 0 a b S
        40 switch 0 b a S
        50 end";
    for (cpus, reason) in [(1, "busy"), (2, "not-known")] {
        let history = story(cpus, full(), lines);
        let steps = path(&history, &account(&history, &["b"]));
        assert!(steps.contains(&format!("5 wait b {reason}")), "{steps:?}");
    }
}

#[test]
fn what_a_quota_holds_back_is_held() {
    let lines = "
        0 switch 0 - a S
        10 throttled a yes
        10 switch 0 a - R
        60 throttled a no
        60 switch 0 - a R
        80 switch 0 a - S";
    assert_eq!(of(lines, &["a"]), ["0 run a", "10 held a", "60 run a"]);
}

#[test]
fn after_a_loss_and_without_a_waker_nothing_is_known() {
    let lines = "
        0 switch 0 - a S
        0 switch 1 - c S
        10 switch 0 a - S
        20 lost 1
        40 waking 0 a 0 by irq
        40 queued 0 a 0 by irq
        40 switch 0 - a S
        50 switch 0 a - S
        70 queued 0 a 0
        70 switch 0 - a S
        80 switch 0 a - S";
    let history = story(2, full(), lines);
    let found = account(&history, &["a"]);
    let steps = [
        "0 run a",
        "10 unknown a no-waker",
        "20 unknown a not-recorded",
        "40 run a",
        "50 unknown a no-waker",
        "70 run a",
    ];
    assert_eq!(path(&history, &found), steps);
    assert_eq!(found.ns(Kind::Unknown), 50);
    assert_eq!(found.report(&history).get("account.least_ns"), Some(&Value::Unknown));
}

#[test]
fn an_account_begins_with_its_first_task_and_ends_with_its_last_run() {
    let lines = "
        0 switch 0 - p S
        20 fork 0 p a by p
        25 new 0 a 1 by p
        30 switch 1 - a S
        50 switch 1 a - X
        90 switch 0 p - S
        200 end";
    let history = story(2, full(), lines);
    let found = account(&history, &["a"]);
    assert_eq!(found.window, Window { from: Time(20), to: Time(50) });
    let steps = ["20 run-other p", "25 wake-delay a host/wakeup", "30 run a"];
    assert_eq!(path(&history, &found), steps);
}

#[test]
fn a_task_that_sleeps_until_a_new_one_exits_waits_for_itself_before_that_was_born() {
    // make forks cc, waits for it, and cc's end wakes it.
    let lines = "
        0 switch 0 - make S
        10 fork 0 make sh by make
        12 new 0 sh 1 by make
        12 switch 1 - sh S
        14 switch 0 make - S
        30 fork 1 sh cc by sh
        31 new 1 cc 0 by sh
        31 switch 0 - cc S
        32 switch 1 sh - S
        60 waking 0 make 0 by cc
        60 queued 0 make 1 by cc
        60 switch 1 - make S
        62 switch 0 cc - X
        70 switch 1 make - X";
    let steps = ["0 run make", "14 run-other sh", "31 run-other cc", "60 run make"];
    assert_eq!(of(lines, &["make"]), steps);
}

#[test]
fn a_waker_that_slept_is_not_followed() {
    let lines = "
        0 switch 0 - a S
        0 switch 1 - b S
        5 switch 1 b - S
        10 switch 0 a - S
        30 waking 1 a 0 by b
        30 queued 1 a 0 by b
        30 switch 0 - a S
        40 switch 0 a - S
        50 queued 1 b 1 by irq
        50 switch 1 - b S
        60 end";
    assert_eq!(of(lines, &["a"]), ["0 run a", "10 unknown a contradiction", "30 run a"]);
}

#[test]
fn tasks_that_wake_each_other_at_one_instant_lead_in_no_circle() {
    let lines = "
        0 switch 0 - a S
        0 switch 1 - b S
        10 switch 0 a - S
        10 switch 1 b - S
        30 waking 1 a 0 by b
        30 queued 1 a 0 by b
        30 waking 0 b 1 by a
        30 queued 0 b 1 by a
        30 switch 0 - a S
        30 switch 1 - b S
        40 switch 0 a - S
        40 switch 1 b - S";
    assert_eq!(of(lines, &["a"]), ["0 run a", "10 unknown b contradiction", "30 run a"]);
}

#[test]
fn a_waking_that_came_before_the_sleep_is_a_wakeup_under_way() {
    let lines = "
        0 switch 0 - a S
        0 switch 1 - b S
        8 waking 1 a 0 by b
        10 switch 0 a - S
        15 queued 0 a 0 by irq
        20 switch 0 - a S
        40 switch 0 a - S
        40 switch 1 b - S";
    assert_eq!(of(lines, &["a"])[1..3], ["10 wake-delay a wakeup", "15 wake-delay a host/wakeup"]);
}

#[test]
fn a_source_without_wakings_does_not_tell_an_interrupt_from_another_cpus_wakeup() {
    let carries = full().without(Carries::WAKINGS);
    let lines = "
        0 switch 0 - a S
        10 switch 0 a - D
        30 queued 0 a 0 by irq
        30 switch 0 - a S
        40 switch 0 a - S";
    let history = story(2, carries, lines);
    let found = account(&history, &["a"]);
    assert_eq!(path(&history, &found), ["0 run a", "10 unknown a no-waker", "30 run a"]);
    let assumptions = found.report(&history).assumptions.concat();
    assert!(assumptions.contains("no sched_waking"), "{assumptions}");
}

#[test]
fn a_window_cuts_the_path_at_both_ends() {
    let history = story(2, full(), CHAIN);
    let window = Window { from: Time(20), to: Time(70) };
    let question = Question { window, ..asked(&history, &["a"]) };
    let found = Account::of(&history, &question, &Options::default());
    assert_eq!(found.window, window);
    assert_eq!(path(&history, &found).len(), 5);
    let question = Question { window: Window { from: Time(92), to: Time(99) }, ..question };
    let found = Account::of(&history, &question, &Options::default());
    assert!(found.path.is_empty());
    assert_eq!(found.report(&history).verdict, "a:100 did not run in the examined time.");
}

fn report() -> Report {
    let history = story(2, full(), CHAIN);
    account(&history, &["a"]).report(&history)
}

#[test]
fn the_report_has_the_parts_as_shares_and_who_was_waited_for() {
    let report = report();
    let verdict = "a:100 took 90 ns: 50 % running, 22 % waiting while other tasks ran (b:102), 22 \
                   % waiting for other tasks while they waited for a CPU (because CPUs that became \
                   idle did not take the waiting tasks), 6 % waking up. During these waits, c:101 \
                   used the CPU for 20 ns. These waits contain 20 ns of lost time. Without this \
                   lost time, the path takes 70 ns.";
    assert_eq!(report.verdict, verdict);
    let shares: f64 = report.proportions.iter().map(|it| it.share).sum();
    assert!((shares - 1.0).abs() < 1e-9, "{shares}");
    let others = &report.table("others").expect("others").rows;
    assert_eq!(others[0][..2], ["b:102".into(), 40_u64.into()]);
    assert_eq!(others.len(), 1);
    let worst = report.worst.expect("a wait");
    assert_eq!(worst.window, Window { from: Time(10), to: Time(30) });
    assert!(worst.message.starts_with("b:102 waited 20 ns for CPU 1: "), "{}", worst.message);
}

/// `a` is woken three times and runs for 10, 10 and, after a wait for `b`, 12 ns.
const TURNS: &str = "
    0 switch 0 - - S
    0 switch 1 - b S
    10 waking 0 a 0 by irq
    10 queued 0 a 0 by irq
    10 switch 0 - a S
    20 switch 0 a - S
    30 waking 0 a 0 by irq
    30 queued 0 a 0 by irq
    30 switch 0 - a S
    40 switch 0 a - S
    50 waking 1 a 1 by b
    51 queued 1 a 1 by b
    60 switch 1 b a R
    72 switch 1 a b S
    80 waking 1 a 1 by b
    80 queued 1 a 0 by b
    80 switch 0 - a S
    100 end";

#[test]
fn the_slowest_activation_is_compared_with_the_median() {
    let history = story(2, full(), TURNS);
    let question = Question { every: true, ..asked(&history, &["a"]) };
    let found = Account::of(&history, &question, &Options::default());
    let every = found.every.as_ref().expect("activations");
    // The last one has no end.
    assert_eq!((every.lengths.count, every.lengths.sum, every.cut), (3, 42, 1));
    let (median, _) = every.median.as_ref().expect("a median");
    assert_eq!(median.window, Window { from: Time(30), to: Time(40) });
    assert_eq!(found.window, Window { from: Time(50), to: Time(72) });
    assert_eq!(path(&history, &found)[0], "50 wake-delay a wakeup");
    let report = found.report(&history);
    let times = "woken and slept again 3 times. This took 42 ns in total: 76 % running";
    assert!(report.verdict.contains(times), "{}", report.verdict);
    let median = "The median activation took 10 ns, the slowest 22 ns: 9 ns more waiting";
    assert!(report.verdict.contains(median), "{}", report.verdict);
    let slowest = &report.table("slowest").expect("a comparison").rows;
    let sums = [3, 4, 5].map(|column| -> i64 {
        let cell = |row: &Vec<Value>| match row[column] {
            Value::Int(ns) => ns,
            _ => panic!("{row:?}"),
        };
        slowest.iter().map(cell).sum()
    });
    assert_eq!(sums, [10, 22, 12]);
}
