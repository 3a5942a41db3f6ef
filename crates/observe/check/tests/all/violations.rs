//! Violations: the task, its CPU, the start of the wait, and the idle CPUs.

use wastenot_check::migrations::Effect;
use wastenot_check::violations::IdleCpu;
use wastenot_check::{Options, check};
use wastenot_model::{Carries, CpuId, Distance, Machine, Origin, Span, Time, Window};

use crate::story::{full, story, told};

fn machine() -> Machine {
    let mut machine = Machine::flat(4);
    for (index, cpu) in machine.cpus.iter_mut().enumerate() {
        cpu.core = Some(index as u32 / 2);
        cpu.node = Some(index as u32 / 2);
    }
    machine
}

const LINES: &str = "
    0 switch 0 - a S
    0 switch 1 w x S
    0 switch 2 y - S
    0 switch 3 z - S
    8 waking 1 b 1
    10 queued 1 b 0
    20 switch 1 x - S
    50 switch 2 - c R
    60 switch 0 a b S
    90 switch 1 - d R
    100 switch 0 b - S";

#[test]
fn a_violation_names_the_task_its_cpu_its_waker_and_the_idle_cpus() {
    let history = told(machine(), full(), LINES);
    let found = check(&history, &Options::default()).violations;
    assert_eq!((found.total.count, found.total.idle_ns), (1, 50));
    let worst = &found.worst[0];
    assert_eq!(history.task_name(worst.task), "b");
    assert_eq!((worst.cpu, worst.waker_cpu), (CpuId(0), Some(CpuId(1))));
    assert_eq!((worst.window.from, worst.window.to), (Time(10), Time(60)));
    assert_eq!((worst.origin, worst.prev), (Origin::Wakeup, Some(CpuId(1))));
    assert_eq!(worst.behind.map(|task| history.task_name(task)), Some("a".to_owned()));
    // CPU 3 was idle throughout; CPU 1, the sibling, for a part of it.
    assert_eq!((worst.idle_cpu, worst.stretch.span()), (CpuId(3), Span(50)));
    let idle = |cpu, distance, idle_ns| IdleCpu { cpu, distance, idle_ns, longest_ns: idle_ns };
    let expected = [
        idle(CpuId(1), Distance::Sibling, 40),
        idle(CpuId(2), Distance::Other, 40),
        idle(CpuId(3), Distance::Other, 50),
    ];
    assert_eq!(worst.idle, expected);
    assert_eq!(worst.nearest, Distance::Sibling);
}

#[test]
fn persistence_filters_the_list_and_never_the_totals() {
    let history = told(machine(), full(), LINES);
    let options = Options { longer_than: Span(51), ..Options::default() };
    let found = check(&history, &options);
    assert_eq!((found.violations.persistent.count, found.violations.total.count), (0, 1));
    assert!(found.violations.worst.is_empty());
    assert_eq!(found.waste.cpu_ns, 50);
}

#[test]
fn a_wait_beside_cpus_that_it_may_not_use_is_no_violation() {
    let lines = format!("0 mask b 0-1\n{LINES}");
    let history = told(machine(), full() | Carries::AFFINITY, &lines);
    let worst = &check(&history, &Options::default()).violations.worst[0];
    assert_eq!((worst.idle_cpu, worst.idle_ns), (CpuId(1), 40));
    let lines = format!("0 mask b 0\n{LINES}");
    let history = told(machine(), full() | Carries::AFFINITY, &lines);
    assert_eq!(check(&history, &Options::default()).violations.total.count, 0);
}

#[test]
fn wakeups_are_judged_by_what_was_idle_when_they_landed() {
    let history = told(machine(), full(), LINES);
    let found = check(&history, &Options::default()).placements;
    assert_eq!((found.wakeups.total, found.wakeups.on_busy_some_idle), (1, 1));
    assert_eq!(found.wakeups.on_busy_prev_idle, 0);
    let prev_idle =
        LINES.replace("0 switch 1 w x S", "0 switch 1 w - S").replace("20 switch 1 x - S", "");
    let found = check(&told(machine(), full(), &prev_idle), &Options::default()).placements;
    assert_eq!(found.wakeups.on_busy_prev_idle, 1);
}

#[test]
fn new_tasks_are_judged_apart_from_wakeups_by_where_they_landed_and_how_they_are_spread() {
    let forks = |places: [u16; 4]| {
        let mut lines = String::from("0 switch 0 - a S");
        for cpu in 1..4 {
            lines += &format!("\n0 switch {cpu} x{cpu} - S");
        }
        for (n, cpu) in places.into_iter().enumerate() {
            lines += &format!("\n{0} fork 0 a t{n}\n{0} new 0 t{n} {cpu}", 10 * (n + 1));
        }
        lines += "\n100 end";
        check(&told(machine(), full(), &lines), &Options::default()).placements
    };
    let crowded = forks([0; 4]);
    assert_eq!((crowded.forks.total, crowded.forks.on_busy_some_idle), (4, 4));
    assert_eq!(crowded.wakeups.total, 0);
    assert_eq!(crowded.spread.index(), Some(0.25));
    let spread = forks([1, 2, 3, 0]);
    assert_eq!((spread.forks.total, spread.forks.on_idle), (4, 3));
    assert_eq!((spread.forks.on_busy_some_idle, spread.forks.on_busy_none_idle), (0, 1));
    assert_eq!(spread.spread.index(), Some(1.0));
    let pairs = forks([1, 1, 2, 2]);
    assert_eq!(pairs.spread.index(), Some(0.5));
}

#[test]
fn waits_and_latencies_are_measured_from_waking_and_from_wakeup() {
    let history = told(machine(), full(), LINES);
    let found = check(&history, &Options::default()).waits;
    assert_eq!(found.from_wakeup.quantile(1.0), Some(50));
    assert_eq!(found.from_waking.quantile(1.0), Some(52));
    assert_eq!(found.all.run_ns, 60 + 40 + 20 + 50 + 10);
}

#[test]
fn moves_are_counted_by_reason_and_distance() {
    let history = told(
        machine(),
        full(),
        "0 switch 0 - a S
         10 queued 0 b 0
         12 migrate 0 b 2
         20 switch 2 - b R
         30 switch 2 b - S
         40 queued 0 b 3
         45 switch 3 - b R
         50 switch 3 b - S
         60 fork 3 - c
         61 new 3 c 0
         70 switch 0 a c S",
    );
    let found = check(&history, &Options::default()).migrations;
    // Where the new task is placed first is no migration.
    assert_eq!(found.by_reason.values().map(|counts| counts.moves).sum::<u64>(), 3);
    assert_eq!(found.total(), 2);
    assert_eq!(found.by_distance(Distance::Other), 1);
    assert_eq!(found.by_distance(Distance::Sibling), 1);
    // CPU 0 ran `a` until `b` ran on CPU 2; CPU 2 was idle when `b` was queued on CPU 3.
    assert_eq!(Effect::ALL.map(|effect| found.with_effect(effect)), [1, 1, 0, 0]);
}

/// `b` waits behind `a` on CPU 0 and is moved to CPU 1, where it runs at 30. Between: `this`.
fn moved(this: &str, options: &Options) -> Effect {
    let lines = format!(
        "0 switch 0 - a S
         0 switch 1 - x S
         5 queued 0 b 0
         10 migrate 0 b 1
         {this}
         30 switch 1 x b S
         40 switch 1 b - S
         50 switch 0 a - S"
    );
    let history = told(machine(), full(), &lines);
    let found = check(&history, options).migrations;
    assert_eq!(found.total(), 1, "{this}");
    let effects = Effect::ALL.into_iter().filter(|effect| found.with_effect(*effect) > 0);
    let [effect] = effects.collect::<Vec<_>>()[..] else { panic!("{this}: one effect") };
    effect
}

#[test]
fn a_migration_helped_if_the_cpu_that_was_left_ran_one_task_until_the_moved_one_ran() {
    let all = Options::default();
    assert_eq!(moved("", &all), Effect::Helped);
    let free = "20 switch 0 a - S
                25 queued 0 a 0
                26 switch 0 - a S";
    assert_eq!(moved(free, &all), Effect::NotHelped);
    // Another task was taken there: it might have been this one.
    assert_eq!(moved("20 switch 0 a c S\n 25 switch 0 c a S", &all), Effect::Undecided);
    // What happens after the counted time is not looked at.
    let upto =
        |to| Options { window: Window { from: Time(0), to: Time(to) }, ..Options::default() };
    assert_eq!(moved("", &upto(30)), Effect::Undecided);
    assert_eq!(moved("", &upto(31)), Effect::Helped);
    assert_eq!(moved(free, &upto(21)), Effect::NotHelped);
    assert_eq!(moved(free, &upto(20)), Effect::Undecided);
    // Where queues are shared, the place of a waiting task says nothing.
    let shared = Options { shared_queue: true, ..Options::default() };
    assert_eq!(moved("", &shared), Effect::Undecided);
}

#[test]
fn a_task_that_never_moves_and_always_waits_is_probably_pinned() {
    let mut lines = String::from("0 switch 0 - a S\n0 switch 1 x - S\n");
    for n in 0..30u64 {
        let t = n * 100;
        lines += &format!(
            "{} queued 0 b 0\n{} switch 0 a b R+\n{} switch 0 b a S\n",
            t + 10,
            t + 40,
            t + 60
        );
    }
    lines += "3000 queued 0 a 1\n3001 switch 1 - a R\n3002 end";
    let history = story(2, full().without(Carries::AFFINITY), &lines);
    let found = check(&history, &Options::default());
    let without = found.without_probably_pinned.expect("there is a doubt");
    assert_eq!(found.stayed_put.len(), 1);
    assert_eq!(found.waste.cpu_ns - without.cpu_ns, 30 * 30);
}

#[test]
fn a_violation_says_where_the_task_waited_while_the_cpu_was_idle() {
    // b is queued on CPU 0, and moved to CPU 3 just before CPU 0 becomes idle.
    let history = told(
        machine(),
        full(),
        "0 switch 0 - a S
         0 switch 1 - w S
         0 switch 2 - y S
         0 switch 3 - z S
         10 queued 1 b 0
         20 migrate 3 b 3
         30 switch 0 a - S
         80 switch 3 z b S
         100 switch 3 b - S",
    );
    let options = Options::default();
    let found = check(&history, &options);
    let worst = &found.violations.worst[0];
    assert_eq!((worst.cpu, worst.to_cpu, worst.idle_cpu), (CpuId(0), CpuId(3), CpuId(0)));
    assert_eq!((&worst.stretch_cpus[..], worst.moved), (&[CpuId(3)][..], true));
    // CPU 0 is on the other node as seen from there.
    assert_eq!((worst.nearest, worst.idle[0].distance), (Distance::Other, Distance::Other));
    let report = found.report(&history, &options);
    let said = "b:104 waited 70 ns, woken by an unknown task, and migrated meanwhile. It waited \
        on CPU 3 while CPU 0 (another node) stayed idle for 50 ns.";
    assert!(report.whole_verdict().ends_with(said), "{}", report.whole_verdict());
    let json = serde_json::to_value(&report).expect("a report");
    let row = &json["violations"][0];
    assert_eq!((&row["cpu"], &row["stretch_cpu"]), (&0.into(), &3.into()));
}

#[test]
fn with_shared_queues_a_violation_names_no_place() {
    let lines = "0 switch 0 x - S\n0 switch 1 y - S\n10 queued 0 b 1\n13 switch 1 - b R\n20 end";
    let options = Options { shared_queue: true, ..Options::default() };
    let history = story(2, full(), lines);
    let found = check(&history, &options);
    assert!(found.violations.worst[0].stretch_cpus.is_empty());
    let verdict = found.report(&history, &options).whole_verdict();
    assert!(
        verdict.contains("b:102 waited 3 ns, woken by an unknown task, while CPU"),
        "{verdict}"
    );
}

#[test]
fn a_recorder_is_not_the_worst() {
    let lines = |task: &str| {
        format!(
            "0 switch 0 - a S
             0 switch 1 x - S
             10 queued 0 {task} 0
             60 switch 0 a {task} S
             70 queued 0 b 0
             90 switch 0 {task} b S
             100 switch 0 b - S"
        )
    };
    let verdict = |task: &str| {
        let history = story(2, full(), &lines(task));
        let options = Options::default();
        check(&history, &options).report(&history, &options).whole_verdict()
    };
    assert!(verdict("make").contains("Worst moment: make:"), "{}", verdict("make"));
    for recorder in ["trace-cmd", "perf", "wastenot"] {
        assert!(verdict(recorder).contains("Worst moment: b:"), "{}", verdict(recorder));
    }
}

#[test]
fn a_task_that_is_moved_while_a_cpu_is_idle_names_both_places() {
    let history = told(
        machine(),
        full(),
        "0 switch 0 - a S
         0 switch 1 - w S
         0 switch 2 y - S
         0 switch 3 - z S
         10 queued 1 b 0
         30 migrate 3 b 3
         80 switch 3 z b S
         100 switch 3 b - S",
    );
    let options = Options::default();
    let verdict = check(&history, &options).report(&history, &options).whole_verdict();
    let said = "b:104 waited 70 ns on CPU 0, then CPU 3, woken by an unknown task, while CPU 2 \
        (another node) stayed idle for 70 ns.";
    assert!(verdict.ends_with(said), "{verdict}");
}
