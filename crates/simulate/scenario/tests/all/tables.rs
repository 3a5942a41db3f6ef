//! Task sets and overheads in CSV: they are read as intended, or refused.

use proptest::prelude::*;
use wastenot_model::Help;
use wastenot_model::sporadic::{Sporadic, TaskSet};
use wastenot_scenario::{Error, overheads, task_set};

fn read(text: &str) -> Result<TaskSet, Error> {
    task_set::read("t.csv", text.as_bytes())
}

#[test]
fn columns_come_in_any_order_and_may_be_left_out() {
    let expected = TaskSet::new(vec![
        Sporadic { wcet_us: 2, period_us: 10, deadline_us: 10, wss_kb: 0 },
        Sporadic { wcet_us: 30, period_us: 15, deadline_us: 9, wss_kb: 64 },
    ]);
    let expected = expected.expect("a task set");
    for text in [
        "wcet_us,period_us,deadline_us,wss_kb\n2,10,,\n30,15,9,64\n",
        "wss_kb,deadline_us,period_us,wcet_us\n0,10,10,2\n64,9,15,30",
        "\u{feff}# a set\r\n\r\nwcet_us , period_us,deadline_us,wss_kb\r\n  # one\n\"2\", 10,,\n \n\
         30,15,9,64\r\n",
    ] {
        assert_eq!(read(text).as_ref(), Ok(&expected), "{text:?}");
    }
    let short = read("period_us,wcet_us\n10,2\n").expect("a task set");
    assert_eq!(*short, [Sporadic::implicit(2, 10)]);
}

/// The message and the help are these.
fn says(error: &Error, what: &str, help: &str) {
    assert_eq!(error.to_string(), what);
    assert!(error.help().contains(help), "{what}: {}", error.help());
}

#[test]
fn what_is_wrong_is_told_with_line_and_column_and_what_to_write() {
    let head = "wcet_us,period_us,deadline_us\n";
    for (rows, what, help) in [
        ("\n# x\n5,0,3\n", "t.csv:4: period_us: the value is 0", "at least 1"),
        ("5,,3\n", "t.csv:2: period_us: the cell is empty", "a whole number of microseconds"),
        ("-5,8,3\n", "t.csv:2: wcet_us: `-5` is not a whole number", "1 or more"),
        ("NaN,8,3\n", "t.csv:2: wcet_us: `NaN` is not a whole number", "write only digits"),
        ("inf,8,3\n", "t.csv:2: wcet_us: `inf` is not a whole number", "write only digits"),
        ("1.5,8,3\n", "t.csv:2: wcet_us: `1.5` is not a whole number", "wcet_us up"),
        ("1e3,8,3\n", "t.csv:2: wcet_us: `1e3` is not a whole number", "1000 instead of 1e3"),
        ("5ms,8,3\n", "t.csv:2: wcet_us: `5ms` is not a whole number", "gives the unit"),
        ("5 # x,8,3\n", "t.csv:2: wcet_us: `5 # x` is not a whole number", "write only digits"),
        ("5,8\n", "t.csv:2: the row has 2 cells, but the header has 3 columns", "one cell"),
        ("5,8,3,1\n", "t.csv:2: the row has 4 cells, but the header has 3 columns", "one cell"),
        ("5;8;3\n", "t.csv:2: the row has 1 cell, but the header has 3 columns", "one cell"),
        (
            "5,9999999999999999999999,3\n",
            "t.csv:2: period_us: 9999999999999999999999 us is longer than 12 days",
            "less than 1099511627776 us",
        ),
        ("", "t.csv:2: the file has a header but no task", "one task per line"),
    ] {
        says(&read(&format!("{head}{rows}")).expect_err(rows), what, help);
    }
    let kb = "wcet_us,period_us,wss_kb\n1,2,4294967296\n";
    says(&read(kb).expect_err(kb), "t.csv:2: wss_kb: 4294967296 KiB is too large", "2^32");
}

#[test]
fn headers_are_told_what_they_lack() {
    for (text, what, help) in [
        ("", "t.csv:1: the file is empty", "names the columns: wcet_us, period_us"),
        ("# only\n\n", "t.csv:3: the file is empty", "names the columns"),
        ("wcet_us,deadline_us\n", "t.csv:1: there is no column `period_us`", "use the columns"),
        ("wcet_ms,period_us\n", "t.csv:1: unknown column `wcet_ms`", "mean `wcet_us`?"),
        ("C,T\n1,2\n", "t.csv:1: unknown column `C`", "use the columns wcet_us"),
        ("1,2\n", "t.csv:1: unknown column `1`", "begin the file with a line"),
        ("wcet_us;period_us\n", "t.csv:1: unknown column `wcet_us;period_us`", "commas"),
        (
            "wcet_us,period_us,wcet_us\n",
            "t.csv:1: two columns have the name `wcet_us`",
            "remove one",
        ),
    ] {
        says(&read(text).expect_err(text), what, help);
    }
}

#[test]
fn what_is_too_long_or_no_text_ends_soon() {
    let mut many = "wcet_us,period_us\n".to_owned();
    many += &"1,2\n".repeat(TaskSet::MOST_TASKS + 1);
    let line = TaskSet::MOST_TASKS + 2;
    says(
        &read(&many).expect_err("many"),
        &format!("t.csv:{line}: the set has more than 1048576 tasks"),
        "only the tasks",
    );
    // A file without end: the data after the line is not read.
    let endless = task_set::read("t.csv", std::io::repeat(b'7')).expect_err("one long line");
    says(&endless, "t.csv:1: the line is longer than 4096 bytes", "one row per line");
    let zeros = task_set::read("t.csv", std::io::repeat(0)).expect_err("one long line");
    says(&zeros, "t.csv:1: the line is longer than 4096 bytes", "one row per line");
    let latin = task_set::read("t.csv", &b"wcet_us,period_us\n1,2\n\xb5,2\n"[..]);
    says(&latin.expect_err("Latin-1"), "t.csv:3: the file is not UTF-8 text", "UTF-8");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_reads_as_it_was(
        tasks in prop::collection::vec(
            (1..TaskSet::MOST_US, 1..TaskSet::MOST_US, 1..TaskSet::MOST_US, any::<u32>()), 1..40,
        ),
    ) {
        let task = |(wcet_us, period_us, deadline_us, wss_kb)| {
            Sporadic { wcet_us, period_us, deadline_us, wss_kb }
        };
        let tasks = TaskSet::new(tasks.into_iter().map(task).collect()).expect("a task set");
        let mut bytes = Vec::new();
        task_set::write(&tasks, &mut bytes).expect("memory");
        prop_assert_eq!(task_set::read("t.csv", &bytes[..]), Ok(tasks));
    }
}

#[test]
fn overheads_are_points_of_curves() {
    let text = "kind,at,max_us,average_us\nschedule,40,22.5,3.125\nipi,,4,\nquantum,,1000,\n";
    let all = overheads::read("o.csv", text.as_bytes()).expect("overheads");
    assert_eq!((&all.implementation, all.cpus, all.is_told()), (&None, None, false));
    assert_eq!(all.stranger("gsn-edf", 4), None);
    let all = all.rows;
    assert_eq!(all.len(), 3);
    assert_eq!((all[0].kind, all[0].at, all[0].max_ns), ("schedule", Some(40), 22_500));
    assert_eq!((all[0].average_ns, all[1].average_ns), (Some(3_125), None));
    for (rows, what, help) in [
        ("shedule,1,2,\n", "o.csv:2: kind: there is no kind `shedule`", "`schedule`"),
        ("color,1,2,\n", "o.csv:2: kind: there is no kind `color`", "the kinds schedule"),
        (
            "ipi,1.5,2,\n",
            "o.csv:2: at: `1.5` is not a valid number of tasks or KiB",
            "whole number",
        ),
        ("ipi,1,,\n", "o.csv:2: max_us: the cell is empty", "longest"),
        ("ipi,1,-2,\n", "o.csv:2: max_us: `-2` is not a valid length in us", "digits"),
        ("ipi,1,NaN,\n", "o.csv:2: max_us: `NaN` is not a valid length in us", "digits"),
        (
            "ipi,1,2.0001,\n",
            "o.csv:2: max_us: `2.0001` is not a valid length in us",
            "three decimals",
        ),
        (
            "ipi,1,99999999999999999,\n",
            "o.csv:2: max_us: 99999999999999999 us is too long for an overhead",
            "",
        ),
        ("ipi,1,2,3\n", "o.csv:2: average_us: the average is above the maximum", "swapped"),
        ("ipi,1,2,\nipi,1,3,\n", "o.csv:3: at: another row of `ipi`", "remove one"),
        ("ipi,1,2,\nipi,,3,\n", "o.csv:3: at: some rows of ipi have a value", "every value"),
    ] {
        let text = format!("kind,at,max_us,average_us\n{rows}");
        let error = overheads::read("o.csv", text.as_bytes()).expect_err(rows);
        assert!(error.to_string().starts_with(what), "{error}");
        assert!(error.help().contains(help), "{}", error.help());
    }
}

#[test]
fn a_table_may_say_whose_it_is() {
    let read = |rows: &str| {
        let text = format!("kind,at,max_us,implementation,cpus\n{rows}");
        overheads::read("o.csv", text.as_bytes())
    };
    let whose = |rows: &str| read(rows).expect("overheads").stranger("gedf-mp", 8);
    assert_eq!(whose("ipi,,2,,\n"), None);
    assert_eq!(whose("ipi,,2,gedf-mp,8\nschedule,,2,,\n"), None);
    assert_eq!(whose("ipi,,2,,\nschedule,,2,gsn-edf,\n").as_deref(), Some("gsn-edf"));
    assert_eq!(whose("ipi,,2,,1\n").as_deref(), Some("1 CPU"));
    assert_eq!(whose("ipi,,2,gedf-mp,16\n").as_deref(), Some("gedf-mp on 16 CPUs"));
    for (rows, what) in [
        ("ipi,,2,a,\nswitch,,2,b,\n", "o.csv:3: implementation: the rows above belong to `a`"),
        ("ipi,,2,,4\nswitch,,2,,8\n", "o.csv:3: cpus: the rows above belong to `4`"),
        ("ipi,,2,,0\n", "o.csv:2: cpus: `0` is not a valid number of CPUs"),
        ("ipi,,2,,many\n", "o.csv:2: cpus: `many` is not a valid number of CPUs"),
    ] {
        let error = read(rows).expect_err(rows).to_string();
        assert!(error.starts_with(what), "{error}");
    }
    let table = read("ipi,,2,gedf-mp,16\n").expect("overheads");
    let text = overheads::write("", &table);
    assert_eq!(overheads::read("o.csv", text.as_bytes()).as_ref(), Ok(&table), "{text}");
}
