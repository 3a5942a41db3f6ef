//! `wastenot run` where tasks are real: on this machine, and in a guest.

use std::fs;
use std::path::Path;

use serde_json::Value;
use wastenot_model::{Event, History};
use wastenot_needs::{program, skipped};

use crate::record::{machine, read};
use crate::root;
use crate::shell::{Desk, said};

/// Four tasks that meet at a barrier, and a pair that talks through pipes.
const SCENARIO: &str = r#"
schema = "wastenot.scenario/1"
machine = "numa:2 core:2 pu:1"
scheduler = { name = "eevdf-6.12" }
limit = "30s"

[barriers.all]
parties = 4

[pipes.there]
[pipes.back]

[[tasks]]
name = "master"
program = ["loop 4", "fork worker", "end", "fork ping", "fork pong", "wait all"]

[[tasks]]
name = "worker"
forked = true
program = ["loop 10", "compute 1ms +-30%", "barrier all", "mark round", "end"]

[[tasks]]
name = "ping"
forked = true
program = ["loop 50", "put there", "get back", "end"]

[[tasks]]
name = "pong"
forked = true
program = ["loop 50", "get there", "compute 50us", "put back", "end"]

"#;

/// What does not depend on who schedules.
const FIGURES: &str = r#"[[figures]]
name = "rounds"
measure = "marks"

[[figures]]
name = "CPU time"
measure = "cpu-time"
of = "worker"
"#;

/// A scenario with what is to be run in it, on a desk.
fn desk(more: &str) -> Desk {
    let desk = Desk::laid();
    desk.put("s.toml", format!("{SCENARIO}{more}"));
    desk
}

/// The report of a run, as JSON.
fn run(desk: &Desk, arguments: &str) -> Value {
    let output = desk.bash(&format!("wastenot run s.toml {arguments} --json"));
    assert!(output.status.success(), "{}", said(&output).0);
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// The value of a figure.
fn figure(report: &Value, bench: &str, name: &str) -> f64 {
    figure_of(report, bench, name).unwrap_or_else(|| panic!("{name} on {bench}"))
}

/// The value of a figure, if it is known.
fn figure_of(report: &Value, bench: &str, name: &str) -> Option<f64> {
    let rows = report["figures"].as_array().expect("figures");
    let row = rows.iter().find(|row| row["bench"] == bench && row["name"] == name);
    row.unwrap_or_else(|| panic!("no {name} on {bench}"))["value"].as_f64()
}

/// How many tasks of this name ran.
fn tasks(history: &History, name: &str) -> usize {
    let named = history.tasks().filter(|(_, task)| history.name(task.name) == name);
    let ran = |id| {
        history
            .entries()
            .any(|entry| matches!(entry.event, Event::Switch { next, .. } if next == id))
    };
    named.filter(|(id, _)| ran(*id)).count()
}

#[test]
fn tasks_run_on_this_machine_as_in_the_simulator() {
    let Some(_turn) = machine("lab::tasks_run_on_this_machine_as_in_the_simulator") else { return };
    let desk = desk(FIGURES);
    let report = run(&desk, "--on host --on sim --repeat 2");
    for bench in ["host", "sim"] {
        assert_eq!(figure(&report, bench, "rounds"), 40.0);
    }
    let [real, simulated] = ["host", "sim"].map(|bench| figure(&report, bench, "CPU time"));
    // Real tasks also do system calls, and are interrupted.
    assert!((0.98..1.5).contains(&(real / simulated)), "{real} ns and {simulated} ns");
    desk.exits(0, "wastenot run s.toml --on host -o one.wn");
    let history = read(&desk.path().join("one.wn"));
    let of = |name| tasks(&history, name);
    assert_eq!((of("worker"), of("ping"), of("pong")), (4, 1, 1));
}

/// Whether guests can be booted here, with this kernel; else `test` says why not.
fn can_boot(test: &str, desk: &Desk, kernel: &str) -> bool {
    if !program(test, "qemu-system-x86_64", "qemu-system-x86") {
        return false;
    }
    let output = desk.bash(&format!("wastenot lab fetch {kernel}"));
    if !output.status.success() {
        skipped(test, "no kernel", said(&output).0.trim());
    }
    output.status.success()
}

/// Processes of QEMU whose files were in the memory of a process that has ended.
fn orphans() -> Vec<String> {
    let processes = fs::read_dir("/proc").expect("proc").flatten();
    let is_orphan = |path: &Path| {
        let line = fs::read_to_string(path.join("cmdline")).unwrap_or_default();
        let owner = line.split("/proc/").nth(1).and_then(|rest| rest.split('/').next());
        line.starts_with("qemu-system")
            && owner.is_some_and(|owner| !Path::new("/proc").join(owner).exists())
    };
    let orphans = processes.filter(|it| is_orphan(&it.path()));
    orphans.map(|it| it.path().display().to_string()).collect()
}

#[test]
fn a_guest_runs_a_scenario_under_its_kernel_and_under_a_policy() {
    let test = "lab::a_guest_runs_a_scenario_under_its_kernel_and_under_a_policy";
    let policy = root().join("policies/work-stealing.rota");
    let desk = desk(&format!(
        "[[variants]]\nname = \"own\"\n[[variants]]\nname = \"policy\"\n\
         scheduler = {{ name = \"{}\" }}\n",
        policy.display()
    ));
    if !can_boot(test, &desk, "7.2") {
        return;
    }
    let report = run(&desk, "--on 7.2 --repeat 2 -o all/");
    let variants = report["variants"].as_array().expect("variants");
    let bench = variants[0]["bench"].as_str().expect("its kernel");
    assert!(bench.starts_with("7.2."), "{bench}");
    let schedulers: Vec<&str> = variants.iter().filter_map(|it| it["scheduler"].as_str()).collect();
    assert_eq!(schedulers, [format!("linux {bench}").as_str(), "ws"]);
    for variant in ["own", "policy"] {
        for seed in 1..=2 {
            let history = read(&desk.path().join(format!("all/s-{variant}-{bench}-{seed}.wn")));
            assert_eq!(tasks(&history, "worker"), 4);
            let machine = &history.head.machine;
            let nodes: Vec<_> = machine.cpus.iter().map(|cpu| cpu.node).collect();
            assert_eq!(nodes, [Some(0), Some(0), Some(1), Some(1)]);
            assert_eq!(
                history.head.source.kernel.as_ref().map(|it| it.contains(bench)),
                Some(true)
            );
            // Whether the policy scheduled is in the recording, too.
            let sched_ext = history
                .head
                .source
                .notes
                .iter()
                .any(|(key, name)| key == "sched_ext" && name == "ws");
            assert_eq!(sched_ext, variant == "policy");
        }
    }
    assert_eq!(orphans(), Vec::<String>::new());
}

#[test]
#[ignore = "boots another guest: make long-machine"]
fn a_guest_runs_a_program_with_its_files_and_does_not_tell_how_long_it_took() {
    let test = "lab::a_guest_runs_a_program_with_its_files_and_does_not_tell_how_long_it_took";
    let desk = Desk::laid();
    if !can_boot(test, &desk, "7.2") {
        return;
    }
    let head = "schema = \"wastenot.scenario/1\"\nmachine = \"core:2 pu:1\"\nlimit = \"30s\"\n\
                scheduler = { name = \"eevdf-6.12\" }\n";
    let figure = |name: &str| format!("[[figures]]\nname = \"{name}\"\nmeasure = \"{name}\"\n");
    let figures = figure("tasks") + &figure("completion") + &figure("cpu-time");
    let task = "[[tasks]]\nname = \"shell\"\nprogram = [\"run sh below/../fork.sh 3\"]\n";
    desk.put("s.toml", format!("{head}{task}{figures}"));
    // A subshell each; the shell itself and the task that runs it are two more.
    desk.put("fork.sh", "n=0; while test $n -lt $1; do (:) & n=$((n + 1)); done; wait\n");
    std::fs::create_dir(desk.path().join("below")).expect("a folder");
    let report = run(&desk, "--on 7.2 --repeat 1");
    let bench = report["variants"][0]["bench"].as_str().expect("its kernel");
    assert_eq!(figure_of(&report, bench, "tasks"), Some(5.0));
    assert!(figure_of(&report, bench, "cpu-time") > Some(0.0));
    let counted = report["verdict"].as_str().is_some_and(|it| it.contains("leaves out"));
    assert_eq!(counted, figure_of(&report, bench, "completion").is_none(), "{report}");
    desk.put("fork.sh", "echo the file is not there >&2; exit 3\n");
    let what = "ended with exit status 3: the file is not there";
    desk.says(2, "wastenot run s.toml --on 7.2 --repeat 1", &[what]);
}

/// A scheduler of sched_ext without any operation: the kernel's defaults, one queue for all.
const TINY: &str = r#"
struct sched_ext_ops { char name[128]; };
__attribute__((section(".struct_ops.link"), used))
struct sched_ext_ops tiny = { .name = "tiny" };
__attribute__((section("license"), used)) char _license[] = "GPL";
"#;

#[test]
#[ignore = "boots another guest: make long-machine"]
fn schedulers_of_others_are_compared_and_one_that_fails_is_a_result() {
    let test = "lab::schedulers_of_others_are_compared_and_one_that_fails_is_a_result";
    let desk = desk(FIGURES);
    if !program(test, "clang", "clang") || !can_boot(test, &desk, "7.2") {
        return;
    }
    desk.put("tiny.c", TINY);
    desk.exits(0, "clang -g -O2 -target bpf -c tiny.c -o tiny.bpf.o");
    let command = "wastenot run s.toml --on 7.2 --seed 1 -o all/ --json \
                   --scheduler-cmd ./tiny.bpf.o --scheduler-cmd /bin/false";
    let output = desk.bash(command);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output).0);
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let variants = report["variants"].as_array().expect("variants");
    let kernel = variants[0]["bench"].as_str().expect("its kernel");
    let faults = report["faults"].as_array().expect("faults");
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert_eq!(
        faults[0]["what"],
        "the program of false ended before the scheduler was enabled (exit code 1); it printed \
         nothing"
    );
    assert_eq!(figure(&report, &format!("{kernel} tiny.bpf.o"), "rounds"), 40.0);
    let compared = report["compared"].as_array().expect("comparisons");
    assert!(compared.iter().all(|it| it["before"] == kernel), "{compared:?}");
    assert_eq!(compared.len(), 2);
    let history = read(&desk.path().join(format!("all/s-default-{kernel}-tiny.bpf.o-1.wn")));
    let notes = &history.head.source.notes;
    assert!(notes.iter().any(|(key, name)| key == "sched_ext" && name == "tiny"), "{notes:?}");
    let page = desk.read("all/report.html");
    assert_eq!(page.matches("data:image/svg+xml").count(), 2, "one picture each");
    assert_eq!(orphans(), Vec::<String>::new());
}
