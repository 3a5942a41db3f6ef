//! What keeps tasks from running besides the scheduler, recorded here: quotas, affinities, cpusets,
//! higher classes, the hypervisor.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use wastenot_needs::skipped;

use super::machine;
use super::witness::{self, Crew, SCHED, Spinner, Stretch, Tracefs, common, either, sum};
use crate::shell::{Desk, said};

pub(crate) fn check(desk: &Desk) -> Value {
    check_with(desk, "")
}

pub(crate) fn check_with(desk: &Desk, options: &str) -> Value {
    desk.json(&format!("wastenot check a.wn --json {options}")).0
}

pub(crate) fn ns(json: &Value, names: &[&str]) -> u64 {
    let value = names.iter().fold(json, |json, name| &json[*name]);
    value.as_u64().unwrap_or_else(|| panic!("{names:?}: {value}"))
}

/// What was lost by this cause.
pub(crate) fn lost(json: &Value, cause: &str) -> u64 {
    let rows = json["causes"].as_array().expect("a table");
    rows.iter().filter(|row| row["cause"] == cause).map(|row| ns(row, &["ns"])).sum()
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
        return skipped(test, "no cpu controller of version 1", "mount -t cgroup -o cpu");
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
    // What begins the loop is in the group, too.
    let tasks = json["throttled_tasks"].as_array().expect("a table").iter();
    let tasks =
        tasks.filter(|row| row["cgroup"] == "/wastenot-held").map(|row| ns(row, &["held_ns"]));
    assert_eq!(tasks.sum::<u64>(), ns(&group, &["held_ns"]));
    assert!(ns(&task, &["held_ns"]) * 10 > ns(&group, &["held_ns"]) * 9, "{task} of {group}");
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
        return skipped(test, "no second CPU", "use a machine with two");
    }
    let json = check(&desk);
    let (kept, idle) = (ns(&json, &["affinity", "cpu_ns"]), ns(&json, &["cpu", "idle_ns"]));
    let recorded = ns(&json, &["trace", "end_ns"]) - ns(&json, &["trace", "start_ns"]);
    println!("kept {kept} ns of {idle} ns idle in {recorded} ns");
    if idle < recorded / 5 {
        return skipped(test, "the other CPUs are busy", "stop what runs there");
    }
    // Two of the loops wait at any time, so that they could use two idle CPUs.
    let most = idle.min(2 * recorded);
    assert!(kept <= idle && kept * 2 > most, "{kept} of {idle} ns idle; {text}");
    assert_eq!(lost(&json, "configuration/affinity"), kept);
    let rows = json["kept_tasks"].as_array().expect("a table");
    let loops = rows.iter().filter(|row| row["task"] == "wnpinned" && row["cpus"] == "1");
    assert_eq!(loops.count(), 3, "{rows:?}");
    let verdict = json["verdict"].as_str().expect("a text");
    assert!(verdict.contains("Affinities excluded") && verdict.contains("wnpinned:"), "{verdict}");
}

/// Sees that `found`, by the check of `json`, is within a twentieth of an independent `truth`,
/// unless that is too short to be compared.
pub(crate) fn agree(test: &str, found: u64, truth: u64, json: &Value) {
    println!("{test}: {found} ns found, {truth} ns by other means");
    if truth < 30_000_000 {
        return skipped(test, "too little was lost to be compared", "stop what runs here");
    }
    let is_near = found.abs_diff(truth) * 20 <= truth;
    assert!(is_near, "{found} ns found, {truth} ns by other means: {}", json["causes"]);
}

/// The window of the recording.
pub(crate) fn window(json: &Value) -> Vec<Stretch> {
    vec![(ns(json, &["trace", "start_ns"]), ns(json, &["trace", "end_ns"]))]
}

/// A cgroup of the cpuset controller, version 1, that allows CPU 0 alone; removed in the end.
struct Cpuset(PathBuf);

impl Cpuset {
    fn new() -> Option<Cpuset> {
        let root = PathBuf::from("/sys/fs/cgroup/cpuset");
        let path = root.join("cpuset.cpus").exists().then(|| root.join("wastenot-held"))?;
        let _ = fs::remove_dir(&path); // of a run that was killed
        fs::create_dir(&path).ok()?;
        let this = Cpuset(path);
        for file in ["cpuset.cpus", "cpuset.mems"] {
            fs::write(this.0.join(file), "0").ok()?;
        }
        Some(this)
    }
}

impl Drop for Cpuset {
    fn drop(&mut self) {
        // A thread can be joined a moment before the kernel takes it out of its cgroup.
        let is_gone = |_: &i32| {
            let busy = fs::remove_dir(&self.0).is_err() && self.0.exists();
            if busy {
                thread::sleep(Duration::from_millis(10));
            }
            !busy
        };
        if (0..500).find(is_gone).is_none() && !thread::panicking() {
            panic!("{}: tasks are left in it", self.0.display());
        }
    }
}

/// How long a turn of the loads lasts that follow, ns.
const TURN: u64 = 12_000_000;

#[test]
#[ignore = "takes seconds of a quiet machine: make long-machine"]
fn what_a_cpuset_keeps_from_an_idle_cpu_is_as_long_as_its_tasks_say() {
    let test = "what_a_cpuset_keeps_from_an_idle_cpu_is_as_long_as_its_tasks_say";
    let Some(_machine) = machine(test) else { return };
    let desk = Desk::new();
    let Some(cpuset) = Cpuset::new() else {
        return skipped(test, "no cpuset controller of version 1", "mount -t cgroup -o cpuset");
    };
    let Some(tracefs) = Tracefs::begin(test, &desk, &SCHED) else { return };
    let mut crew = Crew::new();
    let enter = || {
        let cgroup = cpuset.0.clone();
        move || witness::join(&cgroup)
    };
    // While the second one is runnable, one of them waits; else the first one may.
    let mut spinner = Spinner::default();
    crew.add("wnset-all", enter(), move || {
        spinner.spin(Duration::from_millis(5)).into_iter().map(|gap| (0, gap)).collect()
    });
    let mut due = witness::now();
    crew.add("wnset-half", enter(), move || {
        due = due.max(witness::now()) + TURN / 2;
        witness::sleep_until(due);
        Spinner::default().spin(Duration::from_nanos(TURN / 2));
        vec![(0, (due, witness::now()))]
    });
    let (text, code) = said(&desk.bash("sleep 0.2; wastenot record -o a.wn --for 2s"));
    let seen = crew.dismiss(1);
    drop(cpuset);
    assert_eq!(code, 0, "{text}");
    let rows = tracefs.end();
    let idle = witness::free(&rows, 1);
    let json = check(&desk);
    // Its timer may be late.
    let woken = rows.iter().filter(|row| row.text.starts_with("comm=wnset-half "));
    let woken: Vec<u64> = woken.map(|row| row.time).collect();
    let runnable = seen[1][0].iter().map(|&(due, slept)| {
        let woken = woken.iter().find(|&&time| time >= due && time < slept);
        (woken.map_or(due, |time| *time), slept)
    });
    let waited = either(&seen[0][0], &runnable.collect::<Vec<_>>());
    let truth = sum(&common(&common(&waited, &idle), &window(&json)));
    let found = lost(&json, "configuration/affinity");
    agree(test, found, truth, &json);
}

#[test]
#[ignore = "takes seconds of a quiet machine: make long-machine"]
fn what_waits_behind_a_real_time_loop_is_as_long_as_it_says_itself() {
    let test = "what_waits_behind_a_real_time_loop_is_as_long_as_it_says_itself";
    let Some(_machine) = machine(test) else { return };
    let desk = Desk::new();
    let Some(tracefs) = Tracefs::begin(test, &desk, &SCHED) else { return };
    let mut crew = Crew::new();
    let real_time = || {
        witness::bind(&[0]);
        witness::become_fifo();
    };
    let mut due = witness::now();
    crew.add("wnfifo", real_time, move || {
        due = due.max(witness::now()) + TURN / 2;
        witness::sleep_until(due);
        Spinner::default().spin(Duration::from_nanos(TURN / 2));
        Vec::new()
    });
    // Bound to CPU 0, then allowed on both: a balancer may take it or not.
    let mut spinner = Spinner::default();
    let fair = move || {
        let mut all = Vec::new();
        witness::bind(&[0]);
        // Until just after a burst: no wait is of both kinds.
        for _ in 0..50 {
            let gaps = spinner.spin(Duration::from_millis(1));
            all.extend(gaps.iter().map(|&gap| (0, gap)));
            if gaps.iter().any(|(from, to)| to - from > TURN / 6) {
                break;
            }
        }
        witness::bind(&[0, 1]);
        all.extend(spinner.spin(Duration::from_nanos(2 * TURN)).into_iter().map(|gap| (1, gap)));
        all
    };
    crew.add("wnfair", || (), fair);
    let (text, code) = said(&desk.bash("sleep 0.2; wastenot record -o a.wn --for 4s"));
    let seen = crew.dismiss(2);
    assert_eq!(code, 0, "{text}");
    let rows = tracefs.end();
    let idle = witness::free(&rows, 1);
    // Others wait behind the loop, too.
    let json = check_with(&desk, "--task wnfair");
    let could = common(&idle, &window(&json));
    let [bound, free] = [0, 1].map(|kind| common(&seen[1][kind], &could));
    // It may also have waited behind other tasks than the loop.
    let (bound, free) = (sum(&bound), sum(&common(&free, &witness::runs(&rows, 0, "wnfifo"))));
    agree(test, lost(&json, "configuration/affinity"), bound, &json);
    agree(test, lost(&json, "host/higher-class"), free, &json);
}

/// Ticks of all CPUs that the hypervisor took so far, and when that was read.
fn stolen() -> (u64, u64) {
    let stat = fs::read_to_string("/proc/stat").expect("text");
    let all = stat.lines().next().expect("the sum of all CPUs");
    let ticks = all.split_whitespace().nth(8).and_then(|it| it.parse().ok());
    (witness::now(), ticks.expect("a number"))
}

#[test]
#[ignore = "takes seconds of a quiet machine: make long-machine"]
fn what_the_hypervisor_took_is_what_the_kernel_counted() {
    let test = "what_the_hypervisor_took_is_what_the_kernel_counted";
    let Some(_machine) = machine(test) else { return };
    let desk = Desk::new();
    let mut crew = Crew::new();
    for name in ["wnbusy-0", "wnbusy-1"] {
        let mut spinner = Spinner::default();
        crew.add(
            name,
            || (),
            move || {
                spinner.spin(Duration::from_millis(5));
                Vec::new()
            },
        );
    }
    let looks = Arc::new(Mutex::new(vec![stolen()]));
    let more = Arc::clone(&looks);
    crew.add(
        "wnlook",
        || (),
        move || {
            witness::sleep_until(witness::now() + 20_000_000);
            more.lock().expect("no panic").push(stolen());
            Vec::new()
        },
    );
    let (text, code) = said(&desk.bash("wastenot record -o a.wn --for 3s"));
    crew.dismiss(0);
    assert_eq!(code, 0, "{text}");
    let json = check(&desk);
    let [(from, to)] = window(&json)[..] else { panic!("one window") };
    let looks = looks.lock().expect("no panic");
    let at = |time| looks.iter().take_while(|look| look.0 <= time).last().unwrap_or(&looks[0]).1;
    let tick_ns = 1_000_000_000 / rustix::param::clock_ticks_per_second();
    let truth = (at(to) - at(from)) * tick_ns;
    // Shorter, and a tick more or less is too much of it.
    if truth < 40 * tick_ns {
        return skipped(test, &format!("{truth} ns of steal"), "run it where guests are busy");
    }
    let found = ns(&json, &["steal", "cpu_ns"]);
    println!("{test}: {found} ns found, {truth} ns by other means");
    assert!(found.abs_diff(truth) * 20 <= truth);
    assert!(lost(&json, "host/steal") <= found, "{}", json["causes"]);
}
