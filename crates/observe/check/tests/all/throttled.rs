//! The time for which a quota holds a task back is a separate measure.

use wastenot_check::throttled::Held;
use wastenot_check::{Options, check};
use wastenot_model::{
    Annex, Carries, Column, CpuId, History, Report, Span, Table, Time, Unit, Value, Window,
};

use crate::story::{full, story};

/// `b` runs alone on CPU 1 until its quota is used up, and is held back from 10 to 90 ms; `c` waits
/// behind `a` on CPU 0 meanwhile.
const QUOTA: &str = "
    0 switch 0 - a S
    0 switch 1 - b S
    0 cgroup b /build
    10000000 throttled b yes
    10000000 switch 1 b - R
    20000000 queued 0 c 0
    30000000 switch 0 a c S
    90000000 throttled b no
    90000000 switch 1 - b R
    100000000 switch 1 b - S";

fn report(history: &History) -> Report {
    let options = Options::default();
    check(history, &options).report(history, &options)
}

#[test]
fn what_a_quota_holds_back_is_neither_wake_delay_nor_waste_nor_not_started() {
    let history = story(2, full(), QUOTA);
    let found = check(&history, &Options::default());
    let delay = &found.waste.wake_delay;
    assert_eq!((delay.cpu_ns, delay.count, delay.not_started_count), (0, 0, 0));
    // CPU 1 is idle, and c could use it.
    assert_eq!((found.waste.cpu_ns, found.waste.cpu_ns_max), (10_000_000, 10_000_000));
    assert_eq!(found.waste.wait_ns, 10_000_000);
    let held = Held { count: 1, held_ns: 80_000_000, longest_ns: 80_000_000 };
    let throttled = found.throttled.expect("it is told");
    assert_eq!(throttled.all, held);
    let by_task: Vec<_> =
        throttled.by_task.iter().map(|(task, ..)| history.task_name(*task)).collect();
    assert_eq!(by_task, ["b"]);
    let by_cgroup: Vec<_> =
        throttled.by_cgroup.iter().map(|(name, held)| (history.name(*name), *held)).collect();
    assert_eq!(by_cgroup, [("/build", held)]);
    // That it ran at once when its quota was filled is no wait of zero.
    assert_eq!(found.waits.all.waits.count, 1);
}

#[test]
fn a_wait_begins_anew_where_a_quota_is_filled() {
    let lines = QUOTA.replace("90000000 switch 1 - b R", "93000000 switch 1 - b R");
    let found = check(&story(2, full(), &lines), &Options::default());
    assert_eq!(found.waste.wake_delay.cpu_ns, 3_000_000);
    assert_eq!(found.waits.all.waits.sum, 13_000_000);
    assert_eq!(found.throttled.expect("it is told").all.held_ns, 80_000_000);
}

#[test]
fn what_is_held_back_is_counted_within_the_window_and_for_the_tasks_asked_for() {
    let history = story(2, full(), QUOTA);
    let held = |options: &Options| check(&history, options).throttled.expect("told").all.held_ns;
    let window = Window { from: Time(50_000_000), to: Time(60_000_000) };
    assert_eq!(held(&Options { window, ..Options::default() }), 10_000_000);
    let others = history.tasks().map(|(task, _)| task);
    let others = others.filter(|task| history.task_name(*task) != "b").collect();
    assert_eq!(held(&Options { tasks: Some(others), ..Options::default() }), 0);
}

#[test]
fn after_a_loss_nobody_is_known_to_be_held_back() {
    let lines = QUOTA.replace("20000000 queued", "15000000 lost 0\n20000000 queued");
    let found = check(&story(2, full(), &lines), &Options::default());
    assert_eq!(found.throttled.expect("it is told").all.held_ns, 5_000_000);
}

#[test]
fn the_report_tells_it_by_task_and_cgroup_beside_what_the_kernel_counted() {
    let mut history = story(2, full(), QUOTA);
    let columns = ["cgroup", "quota_ns", "period_ns", "periods", "throttled", "throttled_ns"]
        .map(|name| Column::for_programs(name, Unit::None));
    let mut table = Table::new("cgroups", "", columns);
    for (name, ns) in [("/build", 80_500_000u64), ("/idle", 0)] {
        table.push(vec![
            name.into(),
            10_000_000u64.into(),
            100_000_000u64.into(),
            1.into(),
            1.into(),
            ns.into(),
        ]);
    }
    history.annexes.push(Annex { table });
    let report = report(&history);
    assert!(report.verdict.contains("Quotas held tasks back for 80.00 ms"), "{}", report.verdict);
    let text = report.text();
    assert!(text.contains("Tasks held back by quotas"), "{text}");
    let json = serde_json::to_value(&report).expect("a report");
    assert_eq!(json["throttled"]["held_ns"], 80_000_000);
    assert_eq!(json["throttled"]["count"], 1);
    assert_eq!(json["throttled_tasks"][0]["task"], "b");
    assert_eq!(json["throttled_tasks"][0]["cgroup"], "/build");
    let [build, idle] = [0, 1].map(|row| &json["throttled_cgroups"][row]);
    assert_eq!((&build["cgroup"], &build["held_ns"]), (&"/build".into(), &80_000_000.into()));
    assert_eq!(build["kernel_throttled_ns"], 80_500_000);
    assert_eq!((&idle["held_ns"], &idle["kernel_throttled_ns"]), (&0.into(), &0.into()));
    let finding = report.findings.iter().find(|it| it.code == "throttled").expect("a finding");
    assert!(finding.message.contains("A quota held back b:101 in /build"), "{}", finding.message);
}

#[test]
fn a_source_that_does_not_tell_throttling_says_possibly_throttled() {
    let carries = full().without(Carries::THROTTLING);
    let lines: String = QUOTA
        .lines()
        .filter(|line| !line.contains("throttled"))
        .map(|it| format!("{it}\n"))
        .collect();
    let history = story(2, carries, &lines);
    let found = check(&history, &Options::default());
    assert_eq!(found.throttled, None);
    assert_eq!(found.waste.wake_delay.possibly_throttled_ns, Some(80_000_000));
    let report = report(&history);
    assert_eq!(report.get("throttled.held_ns"), Some(&Value::Unknown));
    assert!(report.verdict.contains("possibly due to quotas"), "{}", report.verdict);
    let finding = report.findings.iter().find(|it| it.code == "not-started").expect("a finding");
    assert!(finding.message.contains("possibly throttled"), "{}", finding.message);
    // A woken task that its CPU does not start has used up no quota.
    let woken = "0 switch 0 a - S\n1000 queued 0 a 0\n3000000 switch 0 - a R";
    let found = check(&story(1, carries, woken), &Options::default()).waste.wake_delay;
    assert_eq!((found.possibly_throttled_ns, found.not_started_count), (Some(0), 1));
    assert!(!found.not_started[0].possibly_throttled);
}

#[test]
fn what_the_hypervisor_took_stands_in_the_report() {
    let lines = "0 switch 0 a - S\n1000 queued 0 a 0\n3000000 switch 0 - a R\n2000000000 end";
    let mut history = story(1, full(), lines);
    let columns = [
        Column::new("time_ns", "until", Unit::At),
        Column::new("cpu", "CPU", Unit::None),
        Column::new("steal_ns", "stolen", Unit::Ns),
    ];
    let mut table = Table::new("steal", "", columns);
    for (until, ns) in [(900_000_000u64, 2_900_000u64), (1_900_000_000, 70_000)] {
        table.push(vec![until.into(), CpuId(0).into(), ns.into()]);
    }
    assert_eq!(report(&history).get("steal.cpu_ns"), Some(&Value::Unknown));
    history.annexes.push(Annex { table });
    let report = report(&history);
    assert_eq!(report.get("steal.cpu_ns"), Some(&2_970_000u64.into()));
    assert!(report.text().contains("CPU time taken by the hypervisor"), "{}", report.text());
    let finding = report.findings.iter().find(|it| it.code == "not-started").expect("a finding");
    let took = format!("the hypervisor took {} from the CPU", Span(2_900_000));
    assert!(finding.message.contains(&took), "{}", finding.message);
}
