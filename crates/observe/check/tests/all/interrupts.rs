//! Interrupts and softirqs on idle CPUs are a separate cause.

use wastenot_check::account::{Account, Part, Question};
use wastenot_check::causes::LostTime;
use wastenot_check::{Check, Options, check};
use wastenot_model::{Annex, Column, History, Table, Unit, Value};

use crate::story::{full, story};

/// Rows of the annex: until, CPU, kind, name, length of the stretch, and how much of it.
type Rows<'a> = &'a [(u64, u16, &'a str, &'a str, u64, u64)];

fn with(history: History, rows: Rows<'_>) -> History {
    let columns = ["time_ns", "cpu", "kind", "name", "span_ns", "served_ns"];
    let cells = |&(until, cpu, kind, name, span, served): &(u64, u16, &str, &str, u64, u64)| {
        let [kind, name] = [kind, name].map(Value::from);
        vec![until.into(), cpu.into(), kind, name, span.into(), served.into()]
    };
    with_annex(history, "interrupts", &columns, rows.iter().map(cells))
}

/// Rows of idle states: until, CPU, state, length of the stretch, and how much of it.
fn with_idle(history: History, rows: &[(u64, u16, &str, u64, u64)]) -> History {
    let columns = ["time_ns", "cpu", "state", "span_ns", "idle_ns"];
    let cells = |&(until, cpu, state, span, idle): &(u64, u16, &str, u64, u64)| {
        vec![until.into(), cpu.into(), Value::from(state), span.into(), idle.into()]
    };
    with_annex(history, "idle_states", &columns, rows.iter().map(cells))
}

fn with_annex(
    mut history: History,
    name: &str,
    columns: &[&str],
    rows: impl Iterator<Item = Vec<Value>>,
) -> History {
    let columns = columns.iter().map(|key| Column::for_programs(key, Unit::None));
    let mut table = Table::new(name, "", columns.collect::<Vec<_>>());
    rows.for_each(|row| table.push(row));
    history.annexes.push(Annex { table });
    history
}

fn lost(found: &Check, loss: LostTime) -> Vec<(&'static str, u64)> {
    let causes = found.causes.as_ref().expect("causes are asked for");
    let parts = causes.iter().map(|(cause, part)| (cause.path, part.ns[loss as usize]));
    parts.filter(|(_, ns)| *ns > 0).collect()
}

fn found(history: &History) -> Check {
    check(history, &Options::default())
}

/// CPU 0 starts `a` 5 ms late.
const LATE: &str = "0 switch 0 a - S\n1000000 queued 0 a 0\n6000000 switch 0 - a R\n9000000 end";

#[test]
fn what_of_a_late_start_an_interrupt_took_is_its_own() {
    let history = with(
        story(1, full(), LATE),
        &[
            // Before the wakeup and until after it; nested in it a hard one; one on another CPU.
            (1_500_000, 0, "hardirq", "disk", 300_000, 300_000),
            (2_000_000, 0, "softirq", "NET_RX", 2_000_000, 1_700_000),
            (4_000_000, 1, "softirq", "NET_RX", 1_000_000, 1_000_000),
        ],
    );
    // Of the softirq 1 ms is before the wakeup: of what is its own, 0.7 ms is surely not.
    let causes = [("host/interrupts", 1_000_000), ("host/late-start", 4_000_000)];
    assert_eq!(lost(&found(&history), LostTime::WakeDelay), causes);
    let all = found(&history).interrupts.expect("they are told");
    let told: Vec<_> = all.iter().map(|it| (it.name.as_str(), it.ns)).collect();
    assert_eq!(told, [("NET_RX", 1_700_000), ("disk", 300_000)]);
}

#[test]
fn what_of_a_late_start_the_idle_state_took_is_its_own() {
    // An interrupt ends the idle state that began before the wakeup; 1.9 ms of it are left.
    let rows: Rows<'_> = &[(3_000_000, 0, "hardirq", "ipi", 100_000, 100_000)];
    let history = with(story(1, full(), LATE), rows);
    let history = with_idle(history, &[(3_000_000, 0, "C6", 2_500_000, 2_400_000)]);
    let causes = [
        ("host/interrupts", 100_000),
        ("host/late-start/idle-state", 1_900_000),
        ("host/late-start", 3_000_000),
    ];
    assert_eq!(lost(&found(&history), LostTime::WakeDelay), causes);
    // A start within the grace is a normal one.
    let quick = LATE.replace("6000000 switch", "1400000 switch");
    let history =
        with_idle(story(1, full(), &quick), &[(1_300_000, 0, "C6", 1_000_000, 1_000_000)]);
    assert_eq!(lost(&found(&history), LostTime::WakeDelay), [("host/wakeup", 400_000)]);
    let report = found(&history).report(&history, &Options::default());
    let cells = |name: &str| {
        let table = report.tables.iter().find(|it| it.name == name);
        table.map(|it| it.rows.clone()).unwrap_or_default()
    };
    assert_eq!(cells("served"), Vec::<Vec<Value>>::new());
    assert_eq!(cells("idle_states"), [vec![0u64.into(), "C6".into(), 1_000_000u64.into()]]);
    let cpu_ns = report.measures.iter().find(|it| it.name == "interrupts.cpu_ns");
    assert_eq!(cpu_ns.expect("a measure").value, Value::Unknown, "they are not recorded");
    // What is left is late only beyond the grace.
    let history = with_idle(story(1, full(), LATE), &[(5_900_000, 0, "C6", 5_000_000, 5_000_000)]);
    let causes = [("host/late-start/idle-state", 4_900_000), ("host/wakeup", 100_000)];
    assert_eq!(lost(&found(&history), LostTime::WakeDelay), causes);
}

#[test]
fn what_is_left_of_a_delay_is_late_only_beyond_the_grace() {
    let rows: Rows<'_> = &[(5_900_000, 0, "softirq", "NET_RX", 4_800_000, 4_800_000)];
    let history = with(story(1, full(), LATE), rows);
    let causes = [("host/interrupts", 4_800_000), ("host/wakeup", 200_000)];
    assert_eq!(lost(&found(&history), LostTime::WakeDelay), causes);
}

#[test]
fn of_a_stretch_with_gaps_only_what_must_lie_in_a_delay_counts() {
    // 3 ms of 8 ms: at most 4 ms of it are outside of the delay, so nothing is sure.
    let rows: Rows<'_> = &[(8_000_000, 0, "softirq", "NET_RX", 8_000_000, 3_000_000)];
    let history = with(story(1, full(), LATE), rows);
    assert_eq!(lost(&found(&history), LostTime::WakeDelay), [("host/late-start", 5_000_000)]);
    let rows: Rows<'_> = &[(8_000_000, 0, "softirq", "NET_RX", 8_000_000, 7_000_000)];
    let history = with(story(1, full(), LATE), rows);
    let causes = [("host/interrupts", 4_000_000), ("host/wakeup", 1_000_000)];
    assert_eq!(lost(&found(&history), LostTime::WakeDelay), causes);
}

/// The account of a task gives each cause of a delay as much as `check` does.
#[test]
fn an_account_divides_a_delay_as_check_does() {
    let rows: Rows<'_> = &[(4_000_000, 0, "softirq", "NET_RX", 2_000_000, 1_700_000)];
    let history = with(story(1, full(), LATE), rows);
    let tasks = vec![history.tasks().next().expect("a task").0];
    let question = Question { tasks, window: history.window(), every: false };
    let account = Account::of(&history, &question, &Options::default());
    let parts = account.parts();
    for (path, ns) in lost(&found(&history), LostTime::WakeDelay) {
        let of = |part: &&Part| part.reason.is_some_and(|reason| reason.name == path);
        assert_eq!(parts.iter().filter(of).map(|part| part.ns).sum::<u64>(), ns, "{path}");
    }
}

#[test]
fn what_interrupts_took_the_hypervisor_did_not_take_too() {
    let rows: Rows<'_> = &[(4_000_000, 0, "softirq", "NET_RX", 3_000_000, 3_000_000)];
    let mut history = with(story(1, full(), LATE), rows);
    let columns = ["time_ns", "cpu", "steal_ns"].map(|key| Column::for_programs(key, Unit::None));
    let mut table = Table::new("steal", "", columns);
    table.push(vec![9_000_000.into(), 0.into(), 8_000_000.into()]);
    history.annexes.push(Annex { table });
    let causes = [("host/interrupts", 3_000_000), ("host/steal", 2_000_000)];
    assert_eq!(lost(&found(&history), LostTime::WakeDelay), causes);
}

#[test]
fn waste_is_theirs_where_the_only_idle_cpu_serves_them() {
    // b waits behind a while CPU 1 is idle, and from 3 ms on CPU 2 too.
    let lines = "0 switch 0 - a S\n0 switch 1 c - S\n0 switch 2 - d S\n1000000 queued 0 b 0\n\
        3000000 switch 2 d - S\n5000000 switch 0 a b S\n9000000 end";
    let rows: Rows<'_> = &[
        (1_500_000, 1, "softirq", "NET_RX", 1_000_000, 1_000_000),
        (4_000_000, 1, "softirq", "NET_RX", 1_500_000, 1_500_000),
    ];
    let bare = found(&story(3, full(), lines));
    let history = with(story(3, full(), lines), rows);
    let found = found(&history);
    let of = |check: &Check, path: &str| {
        let all = lost(check, LostTime::Waste);
        all.iter().find(|it| it.0 == path).map_or(0, |it| it.1)
    };
    assert_eq!((bare.waste.cpu_ns, found.waste.cpu_ns), (4_000_000, 4_000_000));
    assert_eq!(of(&found, "host/interrupts"), 1_000_000);
    let sum = |check: &Check| lost(check, LostTime::Waste).iter().map(|it| it.1).sum::<u64>();
    assert_eq!((sum(&bare), sum(&found)), (4_000_000, 4_000_000));
}

#[test]
fn what_a_damaged_annex_says_counts_once() {
    // The same stretch twice, one that ends before it begins, and one longer than time.
    let rows: Rows<'_> = &[
        (3_000_000, 0, "softirq", "NET_RX", 1_000_000, 1_000_000),
        (3_000_000, 0, "softirq", "NET_RX", 1_000_000, 1_000_000),
        (3_500_000, 0, "softirq", "SCHED", u64::MAX >> 1, u64::MAX >> 1),
    ];
    let history = with(story(1, full(), LATE), rows);
    let sum: u64 = lost(&found(&history), LostTime::WakeDelay).iter().map(|it| it.1).sum();
    assert_eq!(sum, 5_000_000);
}
