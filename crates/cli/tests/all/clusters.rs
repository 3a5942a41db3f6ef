//! `wastenot bounds --cluster`, as those who ask it meet it.

use serde_json::{Value, json};

use crate::shell::{Desk, said};

/// What is answered on this desk to `wastenot bounds ... --json`, and the exit code.
fn asked(desk: &Desk, words: &str) -> (Value, i32) {
    desk.json(&format!("wastenot bounds test {words} --json"))
}

/// A column of a table, in its order.
fn column<'a>(answer: &'a Value, table: &str, name: &str) -> Vec<&'a Value> {
    let rows = answer[table].as_array().expect("a table");
    rows.iter().map(|row| row.get(name).expect("a column")).collect()
}

/// By worst fit one third is left over; by first fit halves go to halves and thirds to thirds.
const HALVES_AND_THIRDS: &str = "wcet_us,period_us\n50,100\n50,100\n34,100\n33,100\n33,100\n";

#[test]
fn what_worst_fit_does_not_find_first_fit_may() {
    let desk = Desk::new();
    desk.put("t.csv", HALVES_AND_THIRDS);
    let (answer, code) = asked(&desk, "t.csv --cpus 2 --cluster 1");
    assert_eq!((&answer["verdict"], code), (&json!("schedulable"), 0));
    assert_eq!(answer["partitioned_by"], "first_fit");
    assert_eq!(column(&answer, "tasks", "cluster"), [0, 0, 1, 1, 1]);
    assert_eq!(column(&answer, "clusters", "task_count"), [2, 3]);
    let (text, _) = said(&desk.bash("wastenot bounds test t.csv --cpus 2 --cluster 1 --text"));
    assert!(text.contains("5 tasks on 2 CPUs, partitioned"), "{text}");
    // Spread wide they fit at once.
    let (answer, code) = asked(&desk, "t.csv --cpus 4 --cluster 2");
    assert_eq!((&answer["partitioned_by"], code), (&json!("worst_fit"), 0));
    assert_eq!((&answer["cpus"], &answer["cluster_cpus"]), (&json!(4), &json!(2)));
}

#[test]
fn what_no_partition_shows_is_unknown_and_what_no_scheduler_does_has_a_witness() {
    let desk = Desk::new();
    desk.put("t.csv", "wcet_us,period_us\n2,3\n2,3\n2,3\n");
    let (answer, code) = asked(&desk, "t.csv --cpus 2 --cluster 1");
    assert_eq!((&answer["verdict"], code), (&json!("unknown"), 3));
    assert_eq!((&answer["cause"], &answer["witness"]), (&json!("utilization"), &Value::Null));
    assert_eq!(column(&answer, "clusters", "by"), [&Value::Null, &json!("qpa")]);
    let text = answer["summary"].as_str().expect("a sentence");
    let why = "With worst fit, CPU 0 is the first CPU that no test accepts: the utilization of its \
               tasks (1.333) exceeds 1 CPU. First fit finds no partition that the tests accept.";
    assert!(text.contains(why), "{text}");
    desk.put("t.csv", "wcet_us,period_us\n".to_owned() + &"3,3\n".repeat(5));
    let (answer, code) = asked(&desk, "t.csv --cpus 4 --cluster 2");
    assert_eq!((&answer["verdict"], code), (&json!("unschedulable"), 1));
    assert_eq!(answer["witness"]["kind"], "utilization");
    assert_eq!((&answer["witness"]["cpus"], &answer["cause"]), (&json!(4), &json!("utilization")));
}

/// Each cluster is judged as `bounds` judges a machine that has its tasks only.
#[test]
fn a_cluster_is_a_machine_of_its_own() {
    let desk = Desk::laid();
    let tables = "scenarios/sweeps/x7550-assumed";
    let lines: Vec<String> = (1..=24_u32)
        .map(|n| format!("{},{},{},{}\n", 700 * n, 20_000 + 1_000 * n, 19_000 + 900 * n, 8 * n))
        .collect();
    let header = "wcet_us,period_us,deadline_us,wss_kb\n";
    desk.put("t.csv", header.to_owned() + &lines.concat());
    for (cpus, size, name) in [(24_u32, 8, "gsn-edf"), (24, 8, "gedf-mp"), (24, 1, "gsn-edf")] {
        let how =
            format!("--implementation {name} --overheads {tables}/{name}-{size}.csv --extrapolate");
        let (answer, code) = asked(&desk, &format!("t.csv --cpus {cpus} --cluster {size} {how}"));
        assert_eq!(code, 0, "{answer}");
        let of = column(&answer, "tasks", "cluster");
        let of: Vec<u64> = of.into_iter().map(|it| it.as_u64().expect("a number")).collect();
        for cluster in 0..u64::from(cpus / size) {
            let members = || (0..lines.len()).filter(|&n| of[n] == cluster);
            let own: String = members().map(|n| lines[n].as_str()).collect();
            desk.put("own.csv", header.to_owned() + &own);
            let (alone, code) = asked(&desk, &format!("own.csv --cpus {size} {how}"));
            let by = column(&answer, "clusters", "by")[cluster as usize];
            assert_eq!((&alone["by"], code), (by, 0), "{alone}");
            for name in ["wcet_us", "wcet_us_with_overheads", "response_us_max"] {
                let all = column(&answer, "tasks", name);
                let together: Vec<&Value> = members().map(|n| all[n]).collect();
                assert_eq!(column(&alone, "tasks", name), together, "{name} of {cluster}");
            }
        }
    }
}

#[test]
fn what_cannot_be_asked_of_clusters_is_told_with_what_to_do() {
    let desk = Desk::new();
    desk.put("t.csv", "wcet_us,period_us,deadline_us\n2,10,20\n");
    desk.put("o.csv", "kind,at,max_us,implementation,cpus\nschedule,,1,gsn-edf,4\n");
    desk.refuses(
        "wastenot bounds test t.csv",
        &[
            (
                "--cpus 64 --cluster 7",
                "64 CPUs cannot be divided into clusters of 7",
                "divides `--cpus`",
            ),
            ("--cpus 4 --cluster 1 --implementation gedf-mp", "no CPU for tasks", "`--cluster 2`"),
            ("--cpus 8 --cluster 2 --overheads o.csv", "gsn-edf on 4 CPUs", "on 2 CPUs"),
        ],
    );
    let (answer, code) = asked(&desk, "t.csv --cpus 8 --cluster 4 --overheads o.csv");
    assert_eq!((code, &answer["overheads"]["file"]), (0, &json!("o.csv")), "{answer}");
    // Linux takes no such deadline, divided or not: no test is about it.
    let words = "t.csv --cpus 2 --cluster 1 --implementation sched-deadline";
    let (answer, code) = asked(&desk, words);
    assert_eq!((code, &answer["cause"]), (3, &json!("deadline")), "{answer}");
    assert_eq!(column(&answer, "clusters", "by"), [&Value::Null; 2]);
    assert_eq!(column(&answer, "tasks", "response_us_max"), [&Value::Null]);
}

/// Of one CPU the exact test comes first: others would spend what it needs.
#[test]
fn what_first_fit_by_qpa_finds_is_found() {
    let desk = Desk::new();
    for (count, cpus, used) in [(60_u64, 16_u64, 15_u64), (256, 64, 57), (640, 64, 60)] {
        // Periods without a common multiple; deadlines of some are shorter.
        let task = |n: u64| {
            let period = 10_000 + 7_919 * (n * n % 97) + n;
            let wcet = (period * used * (1 + 2 * (n % 5)) / (5 * count)).max(1);
            format!("{wcet},{period},{}\n", period - (period - wcet) * (n % 3) / 10)
        };
        let lines: String = (0..count).map(task).collect();
        desk.put("t.csv", "wcet_us,period_us,deadline_us\n".to_owned() + &lines);
        let (alone, _) = asked(&desk, &format!("t.csv --cpus {cpus} --test pedf"));
        assert_eq!(alone["tests"]["pedf"], "accept", "{count} on {cpus}");
        for tests in ["", "--test pedf"] {
            let (answer, code) = asked(&desk, &format!("t.csv --cpus {cpus} --cluster 1 {tests}"));
            assert_eq!(code, 0, "{count} on {cpus}: {}", answer["summary"]);
        }
    }
}

/// First fit begins with few tasks, of which a table need not tell.
#[test]
fn only_the_partition_that_is_reported_has_to_be_measured() {
    let desk = Desk::new();
    desk.put("t.csv", HALVES_AND_THIRDS.replace(",100\n", "000,100500\n"));
    let table = |first: u32| format!("kind,at,max_us\nschedule,{first},0\nschedule,10,0\n");
    desk.put("o.csv", table(2));
    let (answer, code) = asked(&desk, "t.csv --cpus 2 --cluster 1 --overheads o.csv");
    assert_eq!((code, &answer["partitioned_by"]), (0, &json!("first_fit")), "{answer}");
    assert_eq!(answer["overheads"]["extrapolated"], false);
    desk.put("o.csv", table(3));
    let line = "wastenot bounds test t.csv --cpus 2 --cluster 1 --overheads o.csv";
    let what = "schedule was measured at 3 to 10 tasks, but the task set has 2 in CPU 0";
    desk.says(2, line, &[what]);
    // Of averages nothing is told, and nothing is asked.
    desk.put("o.csv", "kind,at,max_us,average_us\nschedule,1,9,\nschedule,9,9,2\n");
    let (answer, code) = asked(&desk, "t.csv --cpus 8 --cluster 2 --overheads o.csv");
    let said = answer["assumptions"].to_string();
    assert!(code == 0 && !said.contains("averages"), "{answer}");
}

#[test]
fn one_cluster_of_all_cpus_is_the_machine() {
    let desk = Desk::new();
    // Global EDF misses, though neither load nor windows tell.
    desk.put("t.csv", "wcet_us,period_us\n2,10\n2,10\n10,11\n");
    let ((global, code), (one, same)) =
        (asked(&desk, "t.csv --cpus 2"), asked(&desk, "t.csv --cpus 2 --cluster 2"));
    assert_eq!((code, same), (1, 1), "{global} {one}");
    assert_eq!((&global["witness"], &one["witness"]["kind"]), (&one["witness"], &json!("miss")));
    // Whatever keeps it from being schedulable has one name.
    desk.put("o.csv", "kind,at,max_us\nschedule,,1\n");
    // A tick that leaves a millionth of the time: jobs get too long for a number.
    desk.put("long.csv", "kind,at,max_us\ntick,,999.999\n");
    for (tasks, words, cause) in [
        ("2,10\n2,10\n10,11\n", "--cpus 2", json!("miss")),
        ("9,10\n9,10\n", "--cpus 2 --overheads o.csv", json!("density")),
        ("4,10\n4,10\n4,10\n4,10\n", "--cpus 2 --overheads o.csv", json!("utilization")),
        ("1200000,2000000\n", "--cpus 2 --overheads long.csv", json!("density")),
        ("2,3\n2,3\n2,3\n", "--cpus 3 --test gfb", json!("test")),
        ("1,2\n1,3\n", "--cpus 1 --test pedf", Value::Null),
    ] {
        desk.put("t.csv", format!("wcet_us,period_us\n{tasks}"));
        let (global, code) = asked(&desk, &format!("t.csv {words}"));
        let size = words.split(' ').nth(1).expect("CPUs");
        let (one, same) = asked(&desk, &format!("t.csv {words} --cluster {size}"));
        let both = (&global["verdict"], &global["cause"], code);
        assert_eq!(both, (&one["verdict"], &cause, same), "{words}: {global} {one}");
        assert_eq!(one["cause"], cause, "{words}: {one}");
    }
    let (answer, code) = asked(&desk, "t.csv --cpus 4 --cluster 1");
    assert_eq!(code, 0, "{answer}");
    let empty = column(&answer, "clusters", "utilization")[3].to_string();
    assert_eq!(empty, "0.0");
    // A CPU of each that runs no task is no reason that none could.
    desk.put("t.csv", "wcet_us,period_us\n9,10\n9,10\n9,10\n");
    let words = "t.csv --cpus 4 --cluster 2 --implementation gedf-mp";
    let text = asked(&desk, words).0["summary"].to_string();
    assert!(
        text.contains("but 2 CPUs run tasks. No scheduler meets all deadlines on these CPUs."),
        "{text}"
    );
}

#[test]
fn what_overheads_leave_nothing_of_is_told_as_without_clusters() {
    let desk = Desk::new();
    desk.put("t.csv", "wcet_us,period_us\n10,1000\n10,1000\n");
    desk.put("o.csv", "kind,at,max_us\nlatency,,2000\n");
    for words in ["--cpus 2", "--cpus 4 --cluster 2"] {
        let (answer, code) = asked(&desk, &format!("t.csv --overheads o.csv {words}"));
        assert_eq!((code, &answer["cause"]), (3, &json!("latency")), "{answer}");
    }
}
