//! Causes of lost time: for each cause, a History in which the cause is evident.

use wastenot_check::causes::{LostTime, TREE, node};
use wastenot_check::{Check, Options, check};
use wastenot_model::{
    Annex, Carries, Cpu, CpuId, CpuSet, Decision, History, Machine, Report, Time, Value, Window,
    decisions,
};

use crate::story::{full, story, told};

/// What was lost, by cause.
fn lost(found: &Check, loss: LostTime) -> Vec<(&'static str, u64)> {
    let causes = found.causes.as_ref().expect("causes are asked for");
    let parts = causes.iter().map(|(cause, part)| (cause.path, part.ns[loss as usize]));
    parts.filter(|(_, ns)| *ns > 0).collect()
}

fn wasted(history: &History) -> Vec<(&'static str, u64)> {
    lost(&check(history, &Options::default()), LostTime::Waste)
}

/// Two nodes of two CPUs.
fn nodes() -> Machine {
    let cpu = |n: u32| Cpu { llc: Some(n / 2), node: Some(n / 2), ..Machine::unknown_cpu() };
    Machine { cpus: (0..4).map(cpu).collect(), ..Machine::flat(4) }
}

/// CPU 0 runs `a`, CPU 1 is idle.
const TWO: &str = "0 switch 0 - a S
    0 switch 1 x - S
";

#[test]
fn a_task_on_a_busy_cpu_beside_an_idle_one_was_placed_badly() {
    let history = story(2, full(), &(TWO.to_owned() + "20 queued 0 b 0\n60 switch 0 a b S"));
    assert_eq!(wasted(&history), [("scheduler/placement", 40)]);
}

#[test]
fn the_previous_cpu_was_idle() {
    // `b` ran on CPU 1 last.
    let lines = "0 switch 0 - a S
        0 switch 1 x b S
        10 switch 1 b - S
        20 waking 0 b 1
        20 queued 0 b 0
        60 switch 0 a b S";
    assert_eq!(wasted(&story(2, full(), lines)), [("scheduler/placement/previous-idle", 40)]);
}

#[test]
fn a_search_of_one_cache_finds_no_idle_cpu_of_another() {
    let busy = "0 switch 0 - a S
        0 switch 1 - c S
        0 switch 2 x - S
        0 switch 3 d d R
        20 queued 0 b 0
        60 switch 0 a b S";
    let found = wasted(&told(nodes(), full(), busy));
    assert_eq!(found, [("scheduler/placement/search-limited", 40)]);
    // CPU 1, of the same cache, is idle too.
    let idle = busy.replace("0 switch 1 - c S", "0 switch 1 c - S");
    assert_eq!(wasted(&told(nodes(), full(), &idle)), [("scheduler/placement", 40)]);
}

#[test]
fn a_new_task_on_a_busy_cpu_is_a_crowd() {
    let history = story(2, full(), &(TWO.to_owned() + "20 new 0 b 0\n60 switch 0 a b S"));
    assert_eq!(wasted(&history), [("scheduler/placement/fork-crowd", 40)]);
}

#[test]
fn a_cpu_that_becomes_idle_later_should_have_taken_it() {
    let lines = "0 switch 0 - a S
        0 switch 1 - c S
        20 queued 0 b 0
        50 switch 1 c - S
        90 switch 0 a b S";
    let found = wasted(&story(2, full(), lines));
    assert_eq!(found, [("scheduler/balancing/newly-idle", 40)]);
}

#[test]
fn a_task_that_is_switched_out_waits_for_the_reason_of_the_one_that_runs() {
    // `b` came to the busy CPU and took it from `a`.
    let lines = TWO.to_owned() + "20 queued 0 b 0\n20 switch 0 a b R+\n60 switch 0 b a S";
    assert_eq!(wasted(&story(2, full(), &lines)), [("scheduler/placement", 40)]);
}

#[test]
fn a_task_that_came_second_to_an_idle_cpu_and_runs_first_is_the_one_too_many() {
    // Both come to CPU 0 when it is idle, `c` second: it is started first.
    let lines = "0 switch 0 a - S
        0 switch 1 x - S
        20 queued 0 b 0
        20 queued 0 c 0
        20 switch 0 - c R
        60 switch 0 c b S";
    assert_eq!(wasted(&story(2, full(), lines)), [("scheduler/placement", 40)]);
}

#[test]
fn beside_waste_that_lasts_for_four_passes_an_idle_cpu_has_balanced_in_vain() {
    // Two CPUs: it should act within 2 * 2 ms and a tick of 4 ms, and has failed after four times
    // that.
    let lines = TWO.to_owned() + "0 queued 0 b 0\n100000000 switch 0 a b S";
    let balancing = ("scheduler/balancing/persistent", 92_000_000);
    let placement = ("scheduler/placement", 8_000_000);
    assert_eq!(wasted(&story(2, full(), &lines)), [balancing, placement]);
    // It may still act after three.
    let short = TWO.to_owned() + "0 queued 0 b 0\n31000000 switch 0 a b S";
    assert_eq!(wasted(&story(2, full(), &short)), [("scheduler/placement", 31_000_000)]);
    // What was before the counted time tells causes all the same.
    let window = Window { from: Time(50_000_000), to: Time(60_000_000) };
    let found = check(&story(2, full(), &lines), &Options { window, ..Options::default() });
    assert_eq!(lost(&found, LostTime::Waste), [("scheduler/balancing/persistent", 10_000_000)]);
}

/// Four nodes of one CPU in a row: the ends are three hops apart. CPU 0 runs `a`, the others idle.
fn row(lines: &str) -> Vec<(&'static str, u64)> {
    let cpu = |n: u32| Cpu { llc: Some(n), node: Some(n), ..Machine::unknown_cpu() };
    let links = (0..4u32).map(|a| (0..4).filter(|b| a.abs_diff(*b) == 1).collect());
    let mut machine = Machine { cpus: (0..4).map(cpu).collect(), ..Machine::flat(4) };
    machine.links = Some(links.collect());
    let busy = "0 switch 0 - a S
        0 switch 1 x - S
        0 switch 2 - c S
        0 switch 3 - d S
    ";
    wasted(&told(machine, full() | Carries::AFFINITY, &(busy.to_owned() + lines)))
}

/// A pass takes 2 * 4 ms and a tick of 4 ms; the task waits for longer than four of them.
const FAILED: u64 = 100_000_000 - 12_000_000;

#[test]
fn balancing_that_fails_within_a_hop_has_no_more_specific_cause() {
    let found = row("0 queued 0 b 0\n100000000 switch 0 a b S");
    assert_eq!(found[0], ("scheduler/balancing/persistent", FAILED));
}

#[test]
fn balancing_does_not_reach_beyond_one_hop() {
    // `b` may use CPUs 0 and 3 only, and CPU 3 is idle.
    let lines = "0 mask b 0,3\n0 switch 3 d - S\n0 switch 1 - x R
        0 queued 0 b 0\n100000000 switch 0 a b S";
    assert_eq!(row(lines)[0], ("scheduler/balancing/beyond-one-hop", FAILED));
}

#[test]
fn balancing_between_nodes_ended_as_a_cpu_came_online() {
    let lines = "0 down 2\n0 up 2\n0 queued 0 b 0\n100000000 switch 0 a b S";
    assert_eq!(row(lines)[0], ("scheduler/balancing/after-hotplug", FAILED));
    // A task moves between nodes after that.
    let lines = "0 down 2\n0 up 2\n0 queued 2 e 2\n1 migrate 2 e 3\n2 switch 3 d e S
        3 queued 0 b 0\n100000003 switch 0 a b S";
    let found = row(lines);
    assert_eq!(found[0].0, "scheduler/balancing/persistent", "{found:?}");
}

#[test]
fn a_task_of_another_group_hides_idle_cpus() {
    let cpu = |n: u32| Cpu { llc: Some(n / 2), node: Some(n / 2), ..Machine::unknown_cpu() };
    let machine = Machine { cpus: (0..4).map(cpu).collect(), ..Machine::flat(4) };
    let lines = |group: &str| {
        format!(
            "0 cgroup b /make\n0 cgroup d {group}\n0 switch 0 - a S\n0 switch 1 - c S
            0 switch 2 x - S\n0 switch 3 - d S\n0 queued 0 b 0\n100000000 switch 0 a b S"
        )
    };
    let of = |group: &str| wasted(&told(machine.clone(), full(), &lines(group)))[0];
    assert_eq!(of("/r"), ("scheduler/balancing/beside-group", FAILED));
    assert_eq!(of("/make"), ("scheduler/balancing/persistent", FAILED));
}

#[test]
fn idle_time_without_waste_is_no_chance_to_balance() {
    let lines = TWO.to_owned() + "1000000000 queued 0 b 0\n1010000000 switch 0 a b S";
    let found = wasted(&story(2, full(), &lines));
    assert_eq!(found, [("scheduler/placement", 10_000_000)]);
}

#[test]
fn a_wait_that_began_before_the_recording_has_an_unknown_onset() {
    let lines = TWO.to_owned() + "0 switch 0 a b R\n60 switch 0 b a S";
    assert_eq!(wasted(&story(2, full(), &lines)), [("unknown", 60)]);
}

#[test]
fn a_thread_that_may_run_on_one_cpu_only_holds_it() {
    let lines = "0 switch 0 - a S
        0 switch 1 x - S
        0 queued 0 kworker/0:1 0
        10 switch 0 a kworker/0:1 R+
        50 switch 0 kworker/0:1 a S
        60 switch 0 a - S";
    assert_eq!(wasted(&story(2, full(), lines)), [("host/pinned-thread", 40)]);
}

#[test]
fn of_the_longest_waiting_tasks_as_many_are_charged_as_cpus_are_idle() {
    let lines = "0 switch 0 - a S
        0 switch 1 x - S
        10 new 0 b 0
        20 queued 0 c 0
        60 switch 0 a b S
        90 switch 0 b c S
        95 switch 0 c - S";
    let found = wasted(&story(2, full(), lines));
    assert_eq!(found, [("scheduler/placement/fork-crowd", 50), ("scheduler/placement", 30)]);
}

#[test]
fn a_late_start_is_the_hosts() {
    let lines = "0 switch 0 a - S
        10 queued 0 b 0
        2000010 switch 0 - b R
        2000020 switch 0 b - S
        2000030 queued 0 b 0
        2000090 switch 0 - b R";
    let found = check(&story(1, full(), lines), &Options::default());
    let expected = [("host/late-start", 2_000_000), ("host/wakeup", 60)];
    assert_eq!(lost(&found, LostTime::WakeDelay), expected);
}

#[test]
fn affinities_and_quotas_are_the_configurations() {
    let lines = "0 mask a 0
        0 mask b 0
        0 switch 0 - a S
        0 switch 1 x - S
        0 queued 0 b 0
        0 queued 0 c 0
        0 throttled c yes
        40 switch 0 a b S
        60 throttled c no
        60 end";
    let found = check(&story(2, full() | Carries::AFFINITY, lines), &Options::default());
    assert_eq!(lost(&found, LostTime::Affinity), [("configuration/affinity", 40)]);
    assert_eq!(lost(&found, LostTime::Quota), [("configuration/quota", 60)]);
}

/// Passes from before a part of a recording say nothing of what waits in it.
#[test]
fn passes_from_before_the_part_left_no_task_of_it() {
    let lines = "100 switch 0 - a S
        100 switch 1 x - S
        120 queued 0 b 0
        900 switch 0 a b S
        900 end";
    let rows = |times: [u64; 4]| {
        let set = |list| CpuSet::parse(list).expect("a list");
        times.map(|time| Decision {
            time: Time(time),
            cpu: CpuId(1),
            what: Decision::PERIODIC,
            task: None,
            considered: set("0-1"),
            local: set("1"),
            busiest: CpuSet::new(),
            outcome: Decision::BALANCED,
        })
    };
    let with = |times| {
        let mut history = story(2, full(), lines);
        history.annexes.push(Annex { table: decisions::table(rows(times)) });
        wasted(&history)
    };
    assert_eq!(with([1, 2, 3, 4]), [("scheduler/placement", 780)]);
    let found = with([1, 200, 300, 400]);
    assert_eq!(found, [("scheduler/placement", 780)], "three are too few");
    let found = with([200, 300, 400, 500]);
    let expected = [("scheduler/balancing/persistent", 700), ("scheduler/placement", 80)];
    assert_eq!(found, expected);
}

/// CPU 1 is idle, but tasks of the cgroup of `b` are held back there.
#[test]
fn an_idle_cpu_where_the_cgroup_has_run_out_of_quota_is_the_quotas() {
    let lines = "0 cgroup b /web
        0 cgroup c /web
        0 switch 0 - a S
        0 switch 1 x c S
        10 throttled c yes
        10 switch 1 c - R
        20 queued 0 b 0
        50 throttled c no
        50 switch 1 - c S
        60 switch 1 c - S
        90 switch 0 a b S
        90 end";
    let of = |lines: &str| wasted(&story(2, full(), lines));
    let found = of(lines);
    assert_eq!(found, [("configuration/quota", 30), ("scheduler/placement", 30)]);
    let found = of(&lines.replace("cgroup c /web", "cgroup c /mail"));
    assert_eq!(found, [("scheduler/placement", 60)]);
    // After a loss of events it is not known what is held back.
    let before = lines.split("50 throttled").next().expect("a part").replace(
        "20 queued",
        "15 lost 2
        16 switch 1 - d S
        18 switch 1 d - S
        20 queued",
    );
    let found = wasted(&story(3, full(), &format!("{before}90 switch 0 a b S\n90 end")));
    assert_eq!(found, [("scheduler/placement", 70)]);
    // Another idle CPU would take it.
    let found = wasted(&story(
        3,
        full(),
        &lines.replace(
            "0 switch 0 - a S",
            "0 switch 0 - a S
        0 switch 2 y - S",
        ),
    ));
    assert_eq!(found, [("scheduler/placement", 70)]);
}

/// A task that waits behind its waker, and is moved behind another one, does not wait for the
/// waker any more.
#[test]
fn a_task_that_is_moved_leaves_its_waker_behind() {
    let lines = "0 switch 0 - a S
        0 switch 1 - c S
        0 switch 2 x - S
        20 queued 0 b 0 by a
        40 migrate 0 b 1
        90 switch 1 c b S
        90 end";
    let found = wasted(&story(3, full(), lines));
    let expected = [("scheduler/placement/behind-waker", 20), ("scheduler/placement", 50)];
    assert_eq!(found, expected);
}

/// Each kind of lost time has its own worst stretch of a cause.
#[test]
fn the_worst_stretch_of_waste_is_one_of_waste() {
    // Waste of 20 ns and a wake delay of 200 ns, of the same root at least.
    let lines = "0 switch 0 - a S
        0 switch 1 x - S
        20 queued 0 b 0
        40 switch 0 a b S
        50 switch 0 b - S
        100 queued 1 d 1
        300 switch 1 - d S
        300 end";
    let found = check(&story(2, full(), lines), &Options::default());
    let causes = found.causes.expect("causes are asked for");
    for (_, part) in causes.iter() {
        for loss in LostTime::ALL {
            let (ns, worst) = (part.ns[loss as usize], part.worst[loss as usize]);
            assert!(worst.is_none_or(|it| it.ns <= ns && it.ns <= it.window.span().0), "{part:?}");
            assert!(ns == 0 || loss != LostTime::Waste || worst.is_some(), "{part:?}");
        }
    }
}

#[test]
fn who_asks_for_a_cause_gets_its_stretches() {
    let history = story(2, full(), &(TWO.to_owned() + "20 queued 0 b 0\n60 switch 0 a b S"));
    let of = |path: &str| {
        let of_cause = Some(node(path).expect("a cause"));
        let options = Options { of_cause, ..Options::default() };
        let report: Report = check(&history, &options).report(&history, &options);
        let table = report.tables.iter().find(|table| table.name == "stretches").expect("it");
        table.rows.clone()
    };
    assert_eq!(of("scheduler").len(), 1);
    assert_eq!(of("scheduler/placement")[0][0], Value::from("b"));
    assert!(of("scheduler/balancing").is_empty() && of("host").is_empty());
    let error = node("placement").expect_err("no root");
    assert!(error.contains("did you mean `scheduler/placement`?"), "{error}");
    let error = node("scheduler/balancng").expect_err("a typo");
    assert!(error.contains("did you mean `scheduler/balancing`?"), "{error}");
    assert!(node("nonsense").expect_err("nothing").contains("list causes"));
}

#[test]
fn without_causes_nothing_else_changes() {
    let history = story(2, full(), &(TWO.to_owned() + "20 queued 0 b 0\n60 switch 0 a b S"));
    let of = |causes: bool| check(&history, &Options { causes, ..Options::default() });
    let (with, without) = (of(true), of(false));
    assert_eq!((with.waste.cpu_ns, without.causes), (without.waste.cpu_ns, None));
    assert_eq!(with.waste.worst, without.waste.worst);
}

#[test]
fn the_tree_names_what_refutes_each_cause_and_what_to_do() {
    for cause in TREE {
        for text in [cause.about, cause.evidence, cause.refuted_by, cause.advice, cause.source] {
            assert!(!text.is_empty() && !text.contains("  "), "{}: {text}", cause.path);
        }
    }
}
