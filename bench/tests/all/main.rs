//! Runs every benchmark once on tiny input, so that none stops working; it measures no speed.

use std::path::{Path, PathBuf};
use std::process::Command;

use wastenot_model::Help;
use wastenot_needs::{has, program, skipped};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The folder of our programs. `None`, with a message, if `wastenot` is not there, or if one of
/// `others` is not installed.
fn programs(test: &str, others: &[&str]) -> Option<&'static Path> {
    let folder = Path::new(env!("CARGO_BIN_EXE_wastenot-bench")).parent().expect("a folder");
    if !folder.join("wastenot").exists() {
        skipped(test, "no wastenot beside it", "cargo build -p wastenot");
        return None;
    }
    others.iter().all(|it| program(test, it, it)).then_some(folder)
}

fn bench(words: &[&str]) -> (bool, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wastenot-bench"));
    let done = command.args(words).output().expect("the program runs");
    let said = [done.stdout, done.stderr].concat();
    (done.status.success(), String::from_utf8_lossy(&said).trim().to_owned())
}

fn said(words: &[&str]) -> String {
    let (well, said) = bench(words);
    assert!(well, "{words:?}: {said}");
    said
}

fn trace(name: &str) -> String {
    root().join("traces").join(name).display().to_string()
}

/// Events by `trace-cmd report` and samples by `perf report --stats`: traces/README.md.
const PLAIN: &str = "6.12-t4x4-fmt-v7-none.dat";
const PLAIN_EVENTS: u64 = 1071;

#[test]
fn records_are_counted_as_the_peers_count_them() {
    assert_eq!(said(&["count", &trace(PLAIN)]), PLAIN_EVENTS.to_string());
    assert_eq!(said(&["count", &trace("6.12-t4x4-fmt-v7-zstd.dat")]), "1088");
    assert_eq!(said(&["count", &trace("host-6.18-2cpu-messaging.dat")]), "59991");
}

#[test]
fn a_repeated_recording_holds_every_copy_one_span_after_the_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("repeated.dat");
    let path = path.to_str().expect("a path in UTF-8");
    said(&["repeat", &trace(PLAIN), path, "3000"]);
    assert_eq!(said(&["count", path]), (3 * PLAIN_EVENTS).to_string());

    let read = |path: &str| {
        let bytes = std::fs::read(path).expect("a file");
        wastenot_read::read(&bytes, &wastenot_read::Options::default()).expect("a trace")
    };
    let (once, thrice) = (read(&trace(PLAIN)), read(path));
    let span = |history: &wastenot_model::History| history.window().span().0;
    assert!(span(&thrice) > 3 * span(&once));
    assert!(span(&thrice) < 3 * span(&once) + 1_000_000);
    let steps = |loss: &wastenot_model::Loss| loss.kind == wastenot_model::LossKind::ClockStep;
    assert!(!thrice.losses().iter().any(steps), "time never goes back");
}

#[test]
fn what_cannot_be_repeated_or_counted_is_said() {
    let (well, said) = bench(&["repeat", &trace("7.2-t4x4-make.dat"), "/dev/null", "5"]);
    assert!(!well && said.contains("trace-cmd convert"), "{said}");
    let (well, said) = bench(&["count", &trace("README.md")]);
    assert!(!well && said.contains("version 7"), "{said}");
    let (well, said) = bench(&["fly"]);
    assert!(!well && said.contains("usage:"), "{said}");
}

#[test]
fn the_whole_benchmark_runs_on_tiny_input() {
    let test = "the_whole_benchmark_runs_on_tiny_input";
    let Some(programs) = programs(test, &["python3", "trace-cmd"]) else { return };
    let mut run = Command::new(root().join("bench/run"));
    let done = run.arg("--tiny").arg("--bin").arg(programs).output().expect("bench/run starts");
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{said}{}", String::from_utf8_lossy(&done.stderr));
    said.lines().filter(|line| line.starts_with("SKIPPED")).for_each(|line| println!("{line}"));
    for part in ["messaging.dat", "messaging.zstd.dat", "draw cores", "**state**", "**check**"] {
        assert!(said.contains(part), "{part} is missing in {said}");
    }
}

#[test]
fn what_recording_costs_is_measured_every_way() {
    let test = "what_recording_costs_is_measured_every_way";
    if let Err(error) = wastenot_record::probe_bpf(&wastenot_record::Options::default()) {
        return skipped(test, &error.to_string(), &error.help());
    }
    let Some(programs) = programs(test, &[]) else { return };
    let mut run = Command::new(root().join("bench/overhead"));
    let done =
        run.arg("--tiny").arg("--bin").arg(programs).output().expect("bench/overhead starts");
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{said}{}", String::from_utf8_lossy(&done.stderr));
    said.lines().filter(|line| line.starts_with("SKIPPED")).for_each(|line| println!("{line}"));
    for part in ["| record |", "| watch |", "| perf sched record |", "A look of watch"] {
        assert!(said.contains(part) || said.contains("SKIPPED"), "{part} is missing in {said}");
    }
}

#[test]
fn the_simulator_is_measured_in_every_way() {
    let test = "the_simulator_is_measured_in_every_way";
    let Some(programs) = programs(test, &["python3"]) else { return };
    let mut run = Command::new(root().join("bench/simulate"));
    // SimSo is only for `make bench`: tests download nothing.
    let only = ["--only", "speed", "growth", "memory"];
    let done = run.arg("--tiny").args(only).arg("--bin").arg(programs).output();
    let done = done.expect("bench/simulate starts");
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{said}{}", String::from_utf8_lossy(&done.stderr));
    for part in ["M rows/s", "| work-conserving |", "cfs-4.1, ns/row", "bytes a task"] {
        assert!(said.contains(part), "{part} is missing in {said}");
    }
}

#[test]
fn proofs_are_measured_with_every_solver_and_without() {
    let test = "proofs_are_measured_with_every_solver_and_without";
    let Some(programs) = programs(test, &["python3"]) else { return };
    let mut run = Command::new(root().join("bench/prove"));
    let done = run.arg("--tiny").arg("--bin").arg(programs).output().expect("bench/prove starts");
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{said}{}", String::from_utf8_lossy(&done.stderr));
    said.lines().filter(|line| line.starts_with("SKIPPED")).for_each(|line| println!("{line}"));
    for part in ["| global-fifo |", "| nobody-takes |", "no solver"] {
        assert!(said.contains(part), "{part} is missing in {said}");
    }
    for solver in ["z3", "cvc5"] {
        assert_eq!(said.contains(&format!("| {solver} alone |")), has(solver), "{said}");
    }
}

#[test]
fn jobs_of_periodic_tasks_are_counted() {
    let said = said(&["periodic", "pinned", "2", "100", "5000:750,10000:1500"]);
    let answer: serde_json::Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!((&answer["jobs"], &answer["scheduler"]), (&30.into(), &"pinned".into()));
    for wrong in [["0", "5000:750"], ["2", "5000"], ["2", "0:1"], ["2", "1000:3000"]] {
        let (well, said) = bench(&["periodic", "pinned", wrong[0], "100", wrong[1]]);
        assert!(!well, "{wrong:?}: {said}");
    }
}

#[test]
fn deadlines_are_judged_and_simulated_against_the_clock() {
    let test = "deadlines_are_judged_and_simulated_against_the_clock";
    let Some(programs) = programs(test, &["python3"]) else { return };
    let mut run = Command::new(root().join("bench/real-time"));
    let done = run.arg("--tiny").arg("--bin").arg(programs).output();
    let done = done.expect("bench/real-time starts");
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{said}{}", String::from_utf8_lossy(&done.stderr));
    said.lines().filter(|line| line.starts_with("SKIPPED")).for_each(|line| println!("{line}"));
    for part in ["M jobs/s", "| gedf-mp |", "| bar |", "| all |", "programs apart"] {
        assert!(said.contains(part), "{part} is missing in {said}");
    }
}

#[test]
fn sets_are_written_and_read_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("sets");
    let path = path.to_str().expect("a path in UTF-8");
    let json =
        |words: &[&str]| -> serde_json::Value { serde_json::from_str(&said(words)).expect("JSON") };
    // Two CPUs, both always busy: of (2, 3), (2, 3), (2, 3) in ms the third is late at once.
    std::fs::write(path, "3000:2000,3000:2000,3000:2000\n").expect("a file");
    let answer = json(&["gedf", "2", "4", path]);
    assert_eq!(answer["seen"], serde_json::json!([[3, 1, 1000, 1000]]));
    assert_eq!(json(&["gedf", "3", "4", path])["seen"], serde_json::json!([[3, 0, 0, 0]]));
    for (test, cpus, expected) in [("rta", "2", "0"), ("rta", "3", "1"), ("gfb", "2", "0")] {
        assert_eq!(json(&["tests", test, cpus, "1", path])["answers"], expected, "{test} {cpus}");
    }
    std::fs::write(path, said(&["sets", "5", "2.5", "3"])).expect("a file");
    assert_eq!(json(&["tests", "gfb", "64", "2", path])["answers"], "111");
    for wrong in ["3000", "0:1", "a:b", "3000:2000,"] {
        std::fs::write(path, wrong).expect("a file");
        assert!(!bench(&["gedf", "2", "4", path]).0, "{wrong}");
    }
}
