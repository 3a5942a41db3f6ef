//! What keeps tasks from running besides the scheduler, recorded here: quotas and affinities.

use serde_json::Value;

use super::machine;
use crate::shell::{Desk, said};

fn check(desk: &Desk) -> Value {
    let output = desk.bash("wastenot check a.wn --json");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}"))
}

fn ns(json: &Value, names: &[&str]) -> u64 {
    let value = names.iter().fold(json, |json, name| &json[*name]);
    value.as_u64().unwrap_or_else(|| panic!("{names:?}: {value}"))
}

/// What was lost by this cause.
fn lost(json: &Value, cause: &str) -> u64 {
    let rows = json["causes"].as_array().expect("a table");
    let row = rows.iter().find(|row| row["cause"] == cause);
    row.map_or(0, |row| ns(row, &["ns"]))
}

#[test]
fn what_a_quota_holds_back_is_as_long_as_the_kernel_says() {
    let test = "what_a_quota_holds_back_is_as_long_as_the_kernel_says";
    let Some(_machine) = machine(test) else { return };
    let desk = Desk::new();
    // A loop of this name that no other task keeps waiting, however busy the machine is.
    let line = "g=/sys/fs/cgroup/cpu/wastenot-held; mkdir $g 2>/dev/null || exit 77; \
        echo 20000 >$g/cpu.cfs_quota_us; echo 262144 >$g/cpu.shares; ln -s /bin/sh wnheld; \
        sh -c \"echo \\$\\$ >$g/cgroup.procs; exec timeout 3 ./wnheld -c 'while :; do :; done'\" & \
        sleep 0.5; wastenot record -o a.wn --for 2s; wait; rmdir $g";
    let (text, code) = said(&desk.bash(line));
    if code == 77 {
        println!("SKIPPED {test}: no cpu controller of version 1: mount -t cgroup -o cpu");
        return;
    }
    let json = check(&desk);
    let of = |table: &str, key: &str, name: &str| {
        let rows = json[table].as_array().expect("a table").clone();
        rows.into_iter().find(|row| row[key] == name)
    };
    let group = of("throttled_cgroups", "cgroup", "/wastenot-held").expect("the cgroup");
    let task = of("throttled_tasks", "task", "wnheld").expect("the task");
    assert_eq!(task["cgroup"], "/wastenot-held");
    let mean = |row: &Value, sum: &str, count: &str| ns(row, &[sum]) / ns(row, &[count]).max(1);
    let (held, kernel) =
        (mean(&group, "held_ns", "count"), mean(&group, "kernel_throttled_ns", "kernel_throttled"));
    let recorded = ns(&json, &["trace", "end_ns"]) - ns(&json, &["trace", "start_ns"]);
    println!("each time held back {held} ns by events, {kernel} ns by cpu.stat: {group}; {text}");
    // It has a fifth of a CPU, by periods of 100 ms. cpu.stat counts a little before the first and
    // behind the last event, so that lengths are compared, not sums.
    assert!(kernel > 60_000_000 && held.abs_diff(kernel) * 10 < kernel, "{held} of {kernel}");
    assert!(ns(&group, &["count"]) * 100_000_000 * 10 > recorded * 7, "{group} in {recorded}");
    assert_eq!(ns(&task, &["held_ns"]), ns(&group, &["held_ns"]));
    assert!(ns(&json, &["throttled", "held_ns"]) >= ns(&group, &["held_ns"]));
    assert_eq!(lost(&json, "configuration/quota"), ns(&json, &["throttled", "held_ns"]));
    assert!(of("not_started", "task", "wnheld").is_none(), "{}", json["not_started"]);
    let verdict = json["verdict"].as_str().expect("a text");
    assert!(verdict.contains("Quotas held tasks back for"), "{verdict}");
}

#[test]
fn loops_that_are_pinned_beside_an_idle_cpu_are_seen() {
    let test = "loops_that_are_pinned_beside_an_idle_cpu_are_seen";
    let Some(_machine) = machine(test) else { return };
    let desk = Desk::new();
    let line = "taskset -c 1 true || exit 77; ln -s /bin/sh wnpinned; \
        wastenot record -o a.wn -- taskset -c 1 sh -c 'for n in 1 2 3; do \
            timeout 2 ./wnpinned -c \"while :; do :; done\" & done; wait'";
    let (text, code) = said(&desk.bash(line));
    if code == 77 {
        println!("SKIPPED {test}: no second CPU");
        return;
    }
    let json = check(&desk);
    let (kept, idle) = (ns(&json, &["affinity", "cpu_ns"]), ns(&json, &["cpu", "idle_ns"]));
    let recorded = ns(&json, &["trace", "end_ns"]) - ns(&json, &["trace", "start_ns"]);
    println!("kept {kept} ns of {idle} ns idle in {recorded} ns");
    if idle < recorded / 5 {
        println!("SKIPPED {test}: the other CPUs are busy: stop what runs there");
        return;
    }
    // Two of the loops wait at any time, so that they could use two idle CPUs.
    let most = idle.min(2 * recorded);
    assert!(kept <= idle && kept * 2 > most, "{kept} of {idle} ns idle; {text}");
    assert_eq!(lost(&json, "configuration/affinity"), kept);
    let rows = json["kept_tasks"].as_array().expect("a table");
    let loops = rows.iter().filter(|row| row["task"] == "wnpinned" && row["cpus"] == "1");
    assert_eq!(loops.count(), 3, "{rows:?}");
    let verdict = json["verdict"].as_str().expect("a text");
    assert!(verdict.contains("Affinity kept") && verdict.contains("wnpinned:"), "{verdict}");
}
