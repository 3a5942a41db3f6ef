//! Idle CPU time that affinities kept from tasks that waited.

use wastenot_check::waste::Kept;
use wastenot_check::{Options, check};
use wastenot_model::{Carries, History, Time, Window};

use crate::story::{full, story};

fn told() -> Carries {
    full() | Carries::AFFINITY
}

fn kept(history: &History) -> Kept {
    check(history, &Options::default()).waste.kept.expect("affinities are told")
}

/// Three busy loops under `taskset -c 1`, by turns of 10 ms, beside CPU 0, which is idle.
fn loops(mask: &str) -> String {
    let mut lines = String::from("0 switch 0 x - S\n");
    for task in ["a", "b", "c"] {
        lines += &format!("0 mask {task} {mask}\n");
    }
    lines += "0 switch 1 - a S\n0 queued 1 b 1\n0 queued 1 c 1\n";
    for turn in 1..30u64 {
        let [out, next] = [turn - 1, turn].map(|turn| ["a", "b", "c"][turn as usize % 3]);
        lines += &format!("{} switch 1 {out} {next} R+\n", turn * 10_000_000);
    }
    lines + "300000000 end"
}

#[test]
fn three_loops_pinned_to_one_cpu_beside_an_idle_one_are_in_the_verdict() {
    let history = story(2, told(), &loops("1"));
    let found = check(&history, &Options::default());
    assert_eq!(found.waste.cpu_ns, 0);
    let kept = found.waste.kept.as_ref().expect("affinities are told");
    assert_eq!((kept.cpu_ns, kept.tasks.len()), (300_000_000, 3));
    // Two of three wait at any time.
    assert_eq!(kept.tasks.iter().map(|it| it.kept_ns).sum::<u64>(), 600_000_000);
    let report = found.report(&history, &Options::default());
    let said = "Affinities excluded waiting tasks from 300.0 ms of idle CPU time";
    assert!(report.verdict.contains(said), "{}", report.verdict);
    let title = "Tasks that affinity excluded from idle CPUs";
    assert!(report.text().contains(title), "{}", report.text());
    let json = serde_json::to_value(&report).expect("a report");
    assert_eq!(json["affinity"]["cpu_ns"], 300_000_000);
    assert_eq!(json["affinity"]["tasks"], 3);
    assert_eq!(json["kept_tasks"][0]["cpus"], "1");
    let finding = report.findings.iter().find(|it| it.code == "affinity").expect("a finding");
    assert!(finding.message.contains("its affinity allows only CPU 1"), "{}", finding.message);
}

#[test]
fn what_tasks_may_use_is_waste_and_not_kept_from_them() {
    let found = check(&story(2, told(), &loops("0-1")), &Options::default()).waste;
    assert_eq!((found.cpu_ns, found.kept), (300_000_000, Some(Kept::default())));
    let unknown = full().without(Carries::AFFINITY);
    let lines: String =
        loops("1").lines().filter(|it| !it.contains("mask")).map(|it| format!("{it}\n")).collect();
    assert_eq!(check(&story(2, unknown, &lines), &Options::default()).waste.kept, None);
}

#[test]
fn who_stays_put_in_a_source_without_affinities_is_named() {
    let lines: String =
        loops("1").lines().filter(|it| !it.contains("mask")).map(|it| format!("{it}\n")).collect();
    let mut long = lines.replace("300000000 end", "");
    for turn in 30..100u64 {
        let [out, next] = [turn - 1, turn].map(|turn| ["a", "b", "c"][turn as usize % 3]);
        long += &format!("{} switch 1 {out} {next} R+\n", turn * 10_000_000);
    }
    let history = story(2, full().without(Carries::AFFINITY), &long);
    let options = Options::default();
    let report = check(&history, &options).report(&history, &options);
    assert!(report.verdict.contains("3 tasks that never moved"), "{}", report.verdict);
    let json = serde_json::to_value(&report).expect("a report");
    assert!(json["affinity"]["cpu_ns"].is_null());
    assert_eq!(json["kept_tasks"][0]["how"], "probably pinned");
}

#[test]
fn a_task_that_may_use_one_idle_cpu_is_not_kept_from_the_other() {
    // d may use CPUs 1 and 2, of which 2 is idle; e may use CPU 1 only. CPUs 0 and 2 are idle.
    let lines = "
        0 switch 0 x - S
        0 switch 1 - a S
        0 switch 2 z - S
        0 mask d 1-2
        0 mask e 1
        10 queued 1 d 1
        10 queued 1 e 1
        40 switch 1 a d S
        60 switch 1 d e S
        70 switch 1 e - S";
    let history = story(3, told(), lines);
    let found = kept(&history);
    // From 10 on two tasks wait beside two idle CPUs, and one of them can be had. From 40 only e
    // waits.
    assert_eq!(found.cpu_ns, 30 + 20);
    let tasks: Vec<_> =
        found.tasks.iter().map(|it| (history.task_name(it.task), it.kept_ns)).collect();
    assert_eq!(tasks, [("e".to_owned(), 50)]);
    let window = Window { from: Time(20), to: Time(45) };
    let part = check(&history, &Options { window, ..Options::default() }).waste;
    let part = part.kept.expect("affinities are told");
    assert_eq!((part.cpu_ns, part.tasks[0].window), (25, window));
}

#[test]
fn two_that_share_the_one_cpu_they_could_have_are_both_kept_from_others() {
    let lines = "
        0 switch 0 x - S
        0 switch 1 - a S
        0 switch 2 z - S
        0 mask d 1-2
        0 mask e 1-2
        10 queued 1 d 1
        10 queued 1 e 1
        40 switch 1 a d S
        40 switch 2 - e S
        70 switch 1 d - S";
    let found = kept(&story(3, told(), lines));
    assert_eq!((found.cpu_ns, found.tasks.len()), (30, 2));
    assert_eq!(found.tasks.iter().map(|it| it.kept_ns).collect::<Vec<_>>(), [30, 30]);
}

#[test]
fn an_unknown_cpu_and_the_head_of_a_waking_one_take_nothing_from_anybody() {
    // d could be running on CPU 2 for all that is known.
    let lines = "
        0 switch 0 x - S
        0 switch 1 - a S
        0 switch 2 z - S
        0 mask d 1-2
        5 lost 2
        6 switch 0 x - S
        6 switch 1 a a R
        10 queued 1 d 1
        40 switch 1 a d S";
    assert_eq!(kept(&story(3, told(), lines)).cpu_ns, 0);
    let head = "0 switch 0 x - S\n0 switch 1 y - S\n0 mask d 1\n10 queued 0 d 1\n40 switch 1 - d S";
    assert_eq!(kept(&story(2, told(), head)), Kept::default());
}

#[test]
fn threads_that_serve_their_cpu_are_kept_from_nothing() {
    for (name, cpu_ns) in [("kworker/1:2", 0), ("irq/9-x", 0), ("kworker/0:2", 30), ("b", 30)] {
        let lines = format!(
            "0 switch 0 x - S\n0 switch 1 - a S\n0 mask {name} 1\n10 queued 1 {name} 1
             40 switch 1 a {name} S"
        );
        assert_eq!(kept(&story(2, told(), &lines)).cpu_ns, cpu_ns, "{name}");
    }
}
