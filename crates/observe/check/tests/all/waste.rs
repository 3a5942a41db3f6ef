//! Waste and wake delay, rule by rule.

use wastenot_check::waste::{Figures, measure};
use wastenot_check::{Options, check};
use wastenot_model::{Carries, CpuSet, History, Silent, Span, Time, Window};

use crate::story::{full, story};

fn figures(history: &History) -> Figures {
    measure(history, &Options::default())
}

/// a runs on CPU 0; b waits behind it from 10 to 60 although CPU 1 is idle.
const BEHIND: &str = "
    0 switch 0 - a S
    0 switch 1 x - S
    5 waking 0 b 0
    10 queued 0 b 0
    60 switch 0 a b S
    100 switch 0 b - S";

#[test]
fn a_task_behind_another_beside_an_idle_cpu_is_waste() {
    let found = figures(&story(2, full(), BEHIND));
    assert_eq!((found.cpu_ns, found.cpu_ns_max), (50, 50));
    assert_eq!((found.episodes, found.longest_ns), (1, 50));
    assert_eq!((found.known_ns, found.online_ns), (200, 200));
    assert_eq!((found.busy_ns, found.idle_ns), (100, 100));
    assert_eq!(found.wait_ns, 50);
    assert_eq!(found.wake_delay.cpu_ns, 0);
}

#[test]
fn a_task_that_its_idle_cpu_is_about_to_start_is_wake_delay() {
    let found = figures(&story(
        2,
        full(),
        "0 switch 0 x - S
         0 switch 1 y - S
         10 queued 0 b 1
         13 switch 1 - b R
         20 switch 1 b - S",
    ));
    assert_eq!(found.cpu_ns, 0);
    assert_eq!((found.wake_delay.cpu_ns, found.wake_delay.count), (3, 1));
}

#[test]
fn only_the_longest_waiter_of_a_waking_cpu_is_about_to_start() {
    let found = figures(&story(
        2,
        full(),
        "0 switch 0 x - S
         0 switch 1 y - S
         10 queued 0 b 1
         12 queued 0 c 1
         20 switch 1 - b R
         30 switch 1 b c S
         40 switch 1 c - S",
    ));
    // From 12 to 30 c could have run on CPU 0.
    assert_eq!((found.cpu_ns, found.wake_delay.cpu_ns), (18, 10));
}

#[test]
fn waste_is_a_matching_not_a_count_where_affinities_bind() {
    let lines = "
        0 switch 0 x a S
        0 switch 1 y - S
        0 switch 2 z - S
        0 mask b 0-1
        0 mask c 0-1
        10 queued 0 b 0
        10 queued 0 c 0
        30 switch 0 a b S
        40 switch 0 b c S
        50 switch 0 c - S";
    let found = figures(&story(3, full() | Carries::AFFINITY, lines));
    // Both could use CPU 1 only: one at a time, from 10 to 40.
    assert_eq!(found.cpu_ns, 30);
    let anywhere = lines.replace("0 mask b 0-1", "").replace("0 mask c 0-1", "");
    assert_eq!(figures(&story(3, full(), &anywhere)).cpu_ns, 2 * 20 + 10);
}

#[test]
fn a_pinned_or_throttled_task_wastes_nothing() {
    let pinned = BEHIND.replace("5 waking", "1 mask b 0\n5 waking");
    assert_eq!(figures(&story(2, full() | Carries::AFFINITY, &pinned)).cpu_ns, 0);
    let throttled = BEHIND.replace("60 switch", "20 throttled b yes\n50 throttled b no\n60 switch");
    assert_eq!(figures(&story(2, full(), &throttled)).cpu_ns, 20);
    let kthread = BEHIND.replace(" b", " ksoftirqd/0");
    assert_eq!(figures(&story(2, full(), &kthread)).cpu_ns, 0);
    // Another CPU's kernel thread by name, but seen here: not what it seems.
    let other = BEHIND.replace(" b", " ksoftirqd/7");
    assert_eq!(figures(&story(2, full(), &other)).cpu_ns, 50);
}

#[test]
fn a_loss_makes_unknown_what_it_may_have_changed() {
    let found = figures(&story(
        2,
        full(),
        "0 switch 0 - a S
         0 switch 1 x - S
         10 queued 0 b 0
         30 lost 1
         60 switch 0 a b S
         80 switch 1 - c R
         100 switch 0 b - S",
    ));
    // Until 30 b waits beside idle CPU 1. Then CPU 1 is unknown until 80, b until 60, and other
    // tasks may wait. No event queued c, so it may have waited since the start.
    assert_eq!((found.cpu_ns, found.cpu_ns_max), (20, 80));
    assert_eq!((found.known_ns, found.online_ns), (150, 200));
}

#[test]
fn an_unknown_cpu_counts_in_the_upper_bound_only() {
    let found = figures(&story(
        2,
        full(),
        "0 switch 0 - a S
         0 switch 1 x - S
         10 lost 1
         20 queued 0 b 0
         50 switch 0 a b S
         60 switch 1 - c R",
    ));
    assert_eq!((found.cpu_ns, found.cpu_ns_max), (0, 60));
}

#[test]
fn an_offline_cpu_is_not_idle() {
    let lines = BEHIND.replace("5 waking", "5 down 1\n5 waking");
    let found = figures(&story(2, full(), &lines));
    assert_eq!((found.cpu_ns, found.cpu_ns_max), (0, 0));
    assert_eq!(found.online_ns, 105);
}

#[test]
fn a_silent_cpu_is_unknown_unless_said_to_be_idle() {
    let lines = BEHIND.replace("0 switch 1 x - S", "");
    let history = story(2, full(), &lines);
    let found = figures(&history);
    assert_eq!((found.cpu_ns, found.cpu_ns_silent_idle, found.cpu_ns_max), (0, 50, 50));
    assert_eq!(found.silent, CpuSet::parse("1").expect("a list"));
    let options = Options { silent: Silent::Idle, ..Options::default() };
    assert_eq!(measure(&history, &options).cpu_ns, 50);
}

#[test]
fn without_placement_a_woken_task_may_be_about_to_start_on_any_idle_cpu() {
    let carries = Carries::WAKINGS | Carries::LEFT;
    let lines = BEHIND.replace("10 queued 0 b 0", "").replace("5 waking", "10 waking");
    let found = figures(&story(2, carries, &lines));
    assert_eq!((found.cpu_ns, found.cpu_ns_max, found.unplaced_ns), (0, 50, 50));
}

#[test]
fn without_wakeups_a_wait_begins_at_the_waking_and_a_migrate_moves_it() {
    let carries = Carries::WAKINGS | Carries::MIGRATIONS | Carries::PLACEMENT | Carries::LEFT;
    let found = figures(&story(
        3,
        carries,
        "0 switch 0 - a S
         0 switch 1 x - S
         0 switch 2 y - S
         10 waking 0 b 0
         11 migrate 0 b 1
         15 switch 1 - b R
         20 switch 1 b - S",
    ));
    // It may not be queued yet: surely nothing was wasted.
    assert_eq!((found.cpu_ns, found.cpu_ns_max, found.wake_delay.cpu_ns), (0, 1, 4));
}

#[test]
fn a_window_changes_what_is_counted_and_never_state() {
    let history = story(2, full(), BEHIND);
    let window = Window { from: Time(40), to: Time(70) };
    let found = measure(&history, &Options { window, ..Options::default() });
    assert_eq!((found.cpu_ns, found.span_ns, found.known_ns), (20, 30, 60));
}

#[test]
fn only_counted_cpus_are_places() {
    let history = story(2, full(), BEHIND);
    let only = |list: &str| Options { cpus: CpuSet::parse(list), ..Options::default() };
    assert_eq!(measure(&history, &only("0")).cpu_ns, 0);
    assert_eq!(measure(&history, &only("0-1")).cpu_ns, 50);
}

#[test]
fn a_waking_of_a_running_task_begins_no_wait() {
    let lines = BEHIND.replace("5 waking 0 b 0\n", "5 waking 1 a 0\n6 queued 1 a 0\n");
    assert_eq!(figures(&story(2, full(), &lines)).wait_ns, 50);
}

#[test]
fn preemption_keeps_a_task_waiting_where_it_was() {
    let found = figures(&story(
        2,
        full(),
        "0 switch 0 - a S
         0 switch 1 x - S
         10 switch 0 a b R+
         30 switch 0 b a S
         40 switch 0 a - S",
    ));
    assert_eq!(found.cpu_ns, 20);
}

#[test]
fn a_cpu_that_does_not_start_its_task_is_found() {
    let history = story(
        1,
        full(),
        "0 switch 0 a - S
         1000 queued 0 a 0
         3000000 switch 0 - a R",
    );
    let found = figures(&history).wake_delay;
    assert_eq!((found.not_started_count, found.longest_ns), (1, 2_999_000));
    let patient = Options { wake_grace: Span::ms(5), ..Options::default() };
    assert_eq!(measure(&history, &patient).wake_delay.not_started_count, 0);
}

#[test]
fn with_a_shared_queue_every_waiting_task_is_a_candidate() {
    let lines = "
        0 switch 0 x - S
        0 switch 1 y - S
        10 queued 0 b 1
        13 switch 1 - b R
        20 switch 1 b - S";
    let options = Options { shared_queue: true, ..Options::default() };
    assert_eq!(measure(&story(2, full(), lines), &options).cpu_ns, 3);
}

#[test]
fn the_report_has_the_promised_fields() {
    let history = story(2, full(), BEHIND);
    let options = Options::default();
    let report = check(&history, &options).report(&history, &options);
    let json = serde_json::to_value(report).expect("a report");
    assert_eq!(json["schema"], "wastenot.check/1");
    for field in ["format", "cpus", "start_ns", "end_ns", "events", "lost_events"] {
        assert!(!json["trace"][field].is_null(), "trace.{field}");
    }
    for field in ["cpu_ns", "cpu_ns_max", "share", "known_share", "episodes", "longest_ns"] {
        assert!(!json["waste"][field].is_null(), "waste.{field}");
    }
    assert_eq!(json["waste"]["cpu_ns"], 50);
    assert_eq!(json["wake_delay"]["cpu_ns"], 0);
    assert!(json["assumptions"].is_array());
    assert_eq!(json["violations"][0]["task"], "b");
}

#[test]
fn other_tools_count_what_they_count() {
    let history = story(2, full(), BEHIND);
    let found = check(&history, &Options::default());
    let schedviz = found.schedviz;
    assert_eq!((schedviz.wall_ns, schedviz.per_cpu_ns, schedviz.per_thread_ns), (50, 50, 50));
    assert_eq!((found.systing.violation_ns, found.systing.span_ns), (50, 100));
}

#[test]
fn waste_is_also_given_without_waits_that_a_quota_may_explain() {
    // Two tasks are switched out and wait beside an idle CPU, one for longer than 1 ms.
    let lines = "
        0 switch 0 - a S
        0 switch 1 x - S
        1000000 switch 0 a b R
        4000000 switch 0 b c S
        4500000 switch 0 c a S
        5000000 switch 0 a d R+
        5400000 switch 0 d a S
        6000000 switch 0 a - S";
    let carries = full().without(Carries::THROTTLING);
    let found = check(&story(2, carries, lines), &Options::default());
    assert_eq!(found.waste.cpu_ns, 3_900_000);
    assert_eq!(found.without_possibly_throttled, Some((1, 400_000)));
    let told = check(&story(2, full(), lines), &Options::default());
    assert_eq!(told.without_possibly_throttled, None);
}

#[test]
fn the_upper_bound_keeps_to_affinities_too() {
    let carries = Carries::WAKINGS | Carries::LEFT | Carries::AFFINITY;
    let lines = BEHIND.replace("10 queued 0 b 0", "").replace("5 waking", "1 mask b 0\n10 waking");
    assert_eq!(figures(&story(2, carries, &lines)).cpu_ns_max, 0);
}

#[test]
fn a_wait_that_begins_while_events_are_lost_counts_only_if_it_is_seen_to_end() {
    let story = |ends: &str| {
        let lines = format!(
            "0 switch 2 z - S
             10 switch 0 - a R
             100 switch 1 - x R
             100 lost 1
             10000 queued 0 b 1
             20000 switch 1 c x S
             {ends}
             100000 switch 0 a - S"
        );
        figures(&story(3, full(), &lines))
    };
    // CPU 1 may have run b before it told anything again.
    assert_eq!(story("").cpu_ns, 0);
    // On another CPU it is queued surely if it is started there.
    let elsewhere = figures(&crate::story::story(
        3,
        full(),
        "0 switch 2 z - S
         10 switch 0 - a R
         100 switch 1 - x R
         100 lost 1
         10000000 queued 0 b 0
         20000000 switch 1 c x S
         90000000 switch 0 a b S
         100000000 switch 0 b - S",
    ));
    assert_eq!(elsewhere.cpu_ns, 80_000_000);
}

#[test]
fn a_task_that_runs_unqueued_may_have_waited_since_the_start() {
    let lines = "0 switch 0 y a S
                 0 switch 1 z - S
                 100 switch 0 a b S
                 150 switch 0 b - S";
    let found = figures(&story(2, full(), lines));
    assert_eq!((found.cpu_ns, found.cpu_ns_max), (0, 100));
    // Not beyond what CPUs were left.
    let lines = lines.replace("0 switch 1 z - S", "40 switch 1 z - S");
    assert_eq!(figures(&story(2, full(), &lines)).cpu_ns_max, 60);
}
