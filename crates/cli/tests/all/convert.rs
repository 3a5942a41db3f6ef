//! What `convert` writes gives the same answers as what it read.

use serde_json::Value;

use crate::shell::{Desk, said};

fn json(desk: &Desk, line: &str) -> Value {
    let output = desk.bash(line);
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{line}: {error}\n{}", said(&output).0))
}

#[test]
fn a_part_of_a_recording_that_lacks_rows_says_that_the_whole_knows_more() {
    let desk = Desk::laid();
    let line = "wastenot convert traces/6.12-t4x4-overwrite.dat -o part.wn";
    let (text, code) = said(&desk.bash(line));
    assert_eq!((text.as_str(), code), ("", 0));
    let (text, code) = said(&desk.bash(&format!("{line} --force --from 40ms --to 90ms")));
    assert_eq!(code, 0, "{text}");
    assert!(text.starts_with("wastenot: rows of CPU "), "{text}");
    assert!(text.ends_with("a check of the whole trace with --from and --to\n"), "{text}");
}

#[test]
fn a_part_gives_the_same_answer_as_the_whole_within_that_window() {
    let desk = Desk::laid();
    for trace in ["trace.dat", "traces/5.10-b8x8-twonode.dat", "traces/6.12-t4x4-lost.dat"] {
        let window = "--from 40ms --to 90ms";
        let (text, code) =
            said(&desk.bash(&format!("wastenot convert {trace} -o part.wn --force {window}")));
        assert_eq!(code, 0, "{text}");
        let whole = json(&desk, &format!("wastenot check {trace} --json {window}"));
        let part = json(&desk, "wastenot check part.wn --json");
        for name in ["cpu_ns", "cpu_ns_max", "episodes", "longest_ns", "wall_ns"] {
            assert_eq!(whole["waste"][name], part["waste"][name], "{trace}: waste.{name}");
        }
        for name in ["known_ns", "busy_ns", "idle_ns"] {
            assert_eq!(whole["cpu"][name], part["cpu"][name], "{trace}: cpu.{name}");
        }
    }
}

#[test]
fn hiding_names_changes_no_figure_and_leaves_no_name() {
    let desk = Desk::laid();
    let (text, code) = said(&desk.bash("wastenot convert trace.dat -o scrubbed.wn --scrub"));
    assert_eq!(code, 0, "{text}");
    let (before, after) = (
        json(&desk, "wastenot check trace.dat --json"),
        json(&desk, "wastenot check scrubbed.wn --json"),
    );
    for part in ["waste", "wake_delay", "cpu", "waits", "migrations", "placements"] {
        assert_eq!(before[part], after[part], "{part}");
    }
    let tasks = after["tasks"].as_array().expect("a table");
    let named = |name: &str| tasks.iter().any(|task| task["task"] == name);
    assert!(!named("cc") && !named("make"), "{tasks:#?}");
}

#[test]
fn a_file_that_is_passed_on_holds_no_path_and_is_called_as_it_was_opened() {
    let desk = Desk::laid();
    let (text, code) = said(&desk.bash(
        "wastenot convert $PWD/traces/7.2-t4x4-make.dat -o a.wn && mkdir in && \
         wastenot convert a.wn -o in/b.wn --scrub",
    ));
    assert_eq!(code, 0, "{text}");
    assert_eq!(json(&desk, "wastenot check a.wn --json")["trace"]["name"], "7.2-t4x4-make.dat");
    assert_eq!(json(&desk, "wastenot check in/b.wn --json")["trace"]["name"], "b.wn");
    let bytes = std::fs::read(desk.path().join("a.wn")).expect("the file");
    let folder = desk.path().to_str().expect("UTF-8").as_bytes();
    assert!(!bytes.windows(folder.len()).any(|part| part == folder));
}

#[test]
fn cycles_that_are_kept_become_the_same_times_later() {
    let desk = Desk::laid();
    let trace = "traces/6.12-t4x4-fmt-v7-tscclock.dat";
    let (text, code) = said(&desk.bash(&format!("wastenot convert {trace} -o cycles.wn")));
    assert_eq!(code, 0, "{text}");
    let (now, later) = (
        json(&desk, &format!("wastenot check {trace} --json --clock-hz 2.4GHz")),
        json(&desk, "wastenot check cycles.wn --json --clock-hz 2400MHz"),
    );
    assert!(now["trace"]["end_ns"].as_u64() > Some(0));
    for part in ["start_ns", "end_ns", "time_unit"] {
        assert_eq!(now["trace"][part], later["trace"][part], "{part}");
    }
    for part in ["waste", "wake_delay", "cpu", "waits", "latency", "violations", "losses"] {
        assert_eq!(now[part], later[part], "{part}");
    }
}

#[test]
fn every_format_is_written() {
    let desk = Desk::laid();
    for (file, begins) in [
        ("t.wn", &b"\xff\xff\xff\xff"[..]),
        ("t.pftrace", b"\x0a"),
        ("t.parquet", b"PAR1"),
        ("t.csv", b"time_ns,"),
        ("t.jsonl", b"{"),
    ] {
        let (text, code) = said(&desk.bash(&format!("wastenot convert trace.dat -o {file}")));
        assert_eq!(code, 0, "{text}");
        let bytes = std::fs::read(desk.path().join(file)).expect("the file");
        assert!(bytes.starts_with(begins), "{file}: {:?}", &bytes[..8]);
    }
}

/// What is in a folder, by name.
fn names(desk: &Desk, folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(desk.path().join(folder)).expect("a folder");
    let mut names: Vec<String> =
        entries.map(|it| it.expect("an entry").file_name().to_string_lossy().into()).collect();
    names.sort();
    names
}

const TABLES: [&str; 7] = [
    "episodes.parquet",
    "events.parquet",
    "losses.parquet",
    "spans.parquet",
    "tasks.parquet",
    "violations.parquet",
    "waits.parquet",
];

#[test]
fn a_folder_gets_a_table_each_and_nothing_is_left_beside_it() {
    let desk = Desk::laid();
    let before = names(&desk, ".");
    let (text, code) = said(&desk.bash("wastenot convert trace.dat -o tables/"));
    assert_eq!((text.as_str(), code), ("", 0));
    assert_eq!(names(&desk, "tables"), TABLES);
    for table in TABLES {
        let bytes = std::fs::read(desk.path().join("tables").join(table)).expect("a table");
        assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"), "{table}");
    }
    let mut after = names(&desk, ".");
    after.retain(|name| name != "tables");
    assert_eq!(after, before, "a temporary folder was left");
    // A folder that is there and empty need not end in a slash.
    let (text, code) = said(&desk.bash("mkdir empty && wastenot convert trace.dat -o empty"));
    assert_eq!((text.as_str(), code), ("", 0));
    assert_eq!(names(&desk, "empty"), TABLES);
}

#[test]
fn tables_replace_tables_when_forced_and_nothing_else_ever() {
    let desk = Desk::laid();
    let convert = "wastenot convert trace.dat -o tables";
    let (text, code) = said(&desk.bash(&format!("{convert}/ && {convert}/")));
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("tables/ exists already") && text.contains("--force"), "{text}");
    let (text, code) = said(&desk.bash(&format!("{convert} --force")));
    assert_eq!((text.as_str(), code), ("", 0));
    let (text, code) = said(&desk.bash(&format!("touch tables/mine && {convert}/ --force")));
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("contains another file, mine"), "{text}");
    assert_eq!(names(&desk, "tables").len(), TABLES.len() + 1);
    let (text, code) = said(&desk.bash("wastenot convert trace.dat -o trace.dat/ --force"));
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("is not a writable directory"), "{text}");
    let (text, code) = said(&desk.bash("wastenot convert trace.dat -o a/ --format csv"));
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("a/: tables in a directory are always Parquet"), "{text}");
    let (text, code) = said(&desk.bash("wastenot convert trace.dat -o none/a/"));
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("cannot write none/a/"), "{text}");
}
