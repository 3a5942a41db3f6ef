//! What `convert` writes gives the same answers as what it read.

use crate::shell::Desk;

#[test]
fn a_part_of_a_recording_that_lacks_rows_says_that_the_whole_knows_more() {
    let desk = Desk::laid();
    let line = "wastenot convert traces/6.12-t4x4-overwrite.dat -o part.wn";
    assert_eq!(desk.exits(0, line), "");
    let text = desk.exits(0, &format!("{line} --force --from 40ms --to 90ms"));
    assert!(text.starts_with("wastenot: events of CPU "), "{text}");
    assert!(text.contains("A check of the whole trace with --from and --to may be"), "{text}");
}

#[test]
fn a_part_gives_the_same_answer_as_the_whole_within_that_window() {
    let desk = Desk::laid();
    for trace in ["trace.dat", "traces/5.10-b8x8-twonode.dat", "traces/6.12-t4x4-lost.dat"] {
        let window = "--from 40ms --to 90ms";
        desk.exits(0, &format!("wastenot convert {trace} -o part.wn --force {window}"));
        let whole = desk.json(&format!("wastenot check {trace} --json {window}")).0;
        let part = desk.json("wastenot check part.wn --json").0;
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
    desk.exits(0, "wastenot convert trace.dat -o scrubbed.wn --scrub");
    let [before, after] = ["trace.dat", "scrubbed.wn"]
        .map(|file| desk.json(&format!("wastenot check {file} --json")).0);
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
    let line = "wastenot convert $PWD/traces/7.2-t4x4-make.dat -o a.wn && mkdir in && \
         wastenot convert a.wn -o in/b.wn --scrub";
    desk.exits(0, line);
    assert_eq!(desk.json("wastenot check a.wn --json").0["trace"]["name"], "7.2-t4x4-make.dat");
    assert_eq!(desk.json("wastenot check in/b.wn --json").0["trace"]["name"], "b.wn");
    let bytes = std::fs::read(desk.path().join("a.wn")).expect("the file");
    let folder = desk.path().to_str().expect("UTF-8").as_bytes();
    assert!(!bytes.windows(folder.len()).any(|part| part == folder));
}

#[test]
fn cycles_that_are_kept_become_the_same_times_later() {
    let desk = Desk::laid();
    let trace = "traces/6.12-t4x4-fmt-v7-tscclock.dat";
    desk.exits(0, &format!("wastenot convert {trace} -o cycles.wn"));
    let (now, later) = (
        desk.json(&format!("wastenot check {trace} --json --clock-hz 2.4GHz")).0,
        desk.json("wastenot check cycles.wn --json --clock-hz 2400MHz").0,
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
        desk.exits(0, &format!("wastenot convert trace.dat -o {file}"));
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
    assert_eq!(desk.exits(0, "wastenot convert trace.dat -o tables/"), "");
    assert_eq!(names(&desk, "tables"), TABLES);
    for table in TABLES {
        let bytes = std::fs::read(desk.path().join("tables").join(table)).expect("a table");
        assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"), "{table}");
    }
    let mut after = names(&desk, ".");
    after.retain(|name| name != "tables");
    assert_eq!(after, before, "a temporary folder was left");
    // A folder that is there and empty need not end in a slash.
    assert_eq!(desk.exits(0, "mkdir empty && wastenot convert trace.dat -o empty"), "");
    assert_eq!(names(&desk, "empty"), TABLES);
}

#[test]
fn tables_replace_tables_when_forced_and_nothing_else_ever() {
    let desk = Desk::laid();
    let convert = "wastenot convert trace.dat -o tables";
    desk.says(2, &format!("{convert}/ && {convert}/"), &["tables/ exists already", "--force"]);
    assert_eq!(desk.exits(0, &format!("{convert} --force")), "");
    let line = format!("touch tables/mine && {convert}/ --force");
    desk.says(2, &line, &["contains another file, mine"]);
    assert_eq!(names(&desk, "tables").len(), TABLES.len() + 1);
    let line = "wastenot convert trace.dat -o trace.dat/ --force";
    desk.says(2, line, &["is not a writable directory"]);
    let line = "wastenot convert trace.dat -o a/ --format csv";
    desk.says(2, line, &["a/: tables in a directory are always Parquet"]);
    desk.says(2, "wastenot convert trace.dat -o none/a/", &["cannot write none/a/"]);
}
