//! `wastenot bounds`, as those who ask it meet it: known answers, the object that programs read,
//! exit codes, and sets that are too large.

use serde_json::{Value, json};

use crate::shell::{Desk, said};

/// A task set in CSV: (C, T, D).
fn csv(tasks: &[(u64, u64, u64)]) -> String {
    let line = |(c, t, d): &(u64, u64, u64)| format!("{c},{t},{d}\n");
    "wcet_us,period_us,deadline_us\n".to_owned() + &tasks.iter().map(line).collect::<String>()
}

/// (C, T), due at the end of the period.
fn implicit(tasks: &[(u64, u64)]) -> Vec<(u64, u64, u64)> {
    tasks.iter().map(|&(c, t)| (c, t, t)).collect()
}

/// What is answered to `wastenot bounds test t.csv --json` and these words, and the exit code.
fn asked(tasks: &[(u64, u64, u64)], words: &str) -> (Value, i32) {
    let desk = Desk::new();
    desk.put("t.csv", csv(tasks));
    desk.json(&format!("wastenot bounds test t.csv --json {words}"))
}

/// In the order GFB BAK BCL BCLI RTA BAR FF-DBF LOAD; what does not apply does not accept.
fn accepts(answer: &Value) -> [u8; 8] {
    let of = |key| u8::from(answer["tests"][key] == "accept");
    ["gfb", "bak", "bcl", "bcli", "rta", "bar", "ffdbf", "load"].map(of)
}

/// Each test answers otherwise than any other in some row; crates/realtime/bounds has more answers.
#[test]
fn known_answers() {
    for (tasks, cpus, tests, verdict) in [
        (implicit(&[(2, 3); 3]), 2, [0; 8], "unschedulable"),
        (implicit(&[(2, 3); 3]), 3, [0, 0, 1, 1, 1, 0, 0, 0], "schedulable"),
        (implicit(&[(5, 10); 5]), 4, [1, 1, 1, 1, 1, 1, 0, 0], "schedulable"),
        (
            implicit(&[(20, 50), (30, 100), (40, 200), (10, 25)]),
            2,
            [1, 1, 0, 1, 1, 1, 1, 0],
            "schedulable",
        ),
        (vec![(3, 10, 6), (4, 15, 9), (5, 20, 12)], 2, [1, 0, 0, 1, 1, 1, 1, 1], "schedulable"),
        (
            vec![(10, 100, 100), (33, 200, 200), (10, 300, 100), (27, 28, 28)],
            2,
            [0, 0, 0, 0, 1, 1, 0, 0],
            "schedulable",
        ),
    ] {
        let (answer, code) = asked(&tasks, &format!("--cpus {cpus}"));
        assert_eq!(answer["verdict"], verdict, "{tasks:?} on {cpus}: {answer}");
        assert_eq!(code, i32::from(verdict == "unschedulable"), "{tasks:?} on {cpus}");
        assert_eq!(accepts(&answer), tests, "{tasks:?} on {cpus}");
    }
}

#[test]
fn bounded_tardiness_response_times_and_first_misses() {
    // Bounded on two CPUs, which they use up, and not on one.
    let full = implicit(&[(80, 100), (33, 66), (7, 10)]);
    let (two, _) = asked(&full, "--cpus 2");
    assert_eq!(two["tardiness"]["bounded"], true);
    let late = |answer: &Value, column: &str| -> Vec<Value> {
        let rows = answer["tasks"].as_array().expect("tasks").iter();
        rows.map(|row| row[column].clone()).collect()
    };
    // The lower of Devi and Anderson's responses 217, 136, 54 and of 180, 123, 54.
    assert_eq!(late(&two, "tardiness_us_max"), [80, 57, 44]);
    assert_eq!(two["witness"]["deadline_us"], 100);
    let (one, _) = asked(&full, "--cpus 1");
    assert_eq!(one["tardiness"]["bounded"], false);
    assert_eq!(one["cause"], "utilization");
    let (d23, _) = asked(&implicit(&[(10, 40), (15, 60), (24, 80), (30, 120)]), "--cpus 2");
    assert_eq!(late(&d23, "response_us_max"), [26, 45, 59, 81]);
}

#[test]
fn one_cpu_is_decided_exactly() {
    let (answer, code) = asked(&[(1, 5, 5), (6, 10, 9)], "--cpus 1");
    assert_eq!((&answer["tests"]["qpa"], code), (&json!("accept"), 0));
    let (answer, code) = asked(&[(331, 15_000, 2_688), (3_654, 77_000, 3_849)], "--cpus 1");
    assert_eq!((&answer["tests"]["qpa"], code), (&json!("reject"), 1));
    let witness = &answer["witness"];
    assert_eq!((&witness["kind"], &witness["window_us"]), (&json!("demand"), &json!(3_849)));
    assert_eq!(witness["demand_us"], 3_985);
    assert_eq!(answer["tests"]["ffdbf"], "not_applicable");
}

#[test]
fn one_cpu_has_other_policies_beside_edf() {
    let of = |answer: &Value| {
        let rows = answer["tasks"].as_array().expect("tasks").clone();
        let columns = ["response_us_max", "response_us_max_fp", "response_us_max_np"];
        columns.map(|column| rows.iter().map(|row| row[column].clone()).collect::<Vec<_>>())
    };
    let (answer, _) = asked(&[(1, 5, 5), (6, 10, 9)], "--cpus 1");
    let [edf, fixed, _] = of(&answer);
    assert_eq!((edf, fixed), (vec![json!(3), json!(7)], vec![json!(1), json!(8)]));
    let (answer, _) = asked(&[(79, 120, 100), (11, 34, 100), (1, 190, 100)], "--cpus 1");
    assert_eq!(of(&answer)[2], [91, 91, 91]);
    let (answer, _) = asked(&[(1, 5, 5), (6, 10, 9)], "--cpus 2");
    let [_, fixed, unpreempted] = of(&answer);
    assert!(fixed.iter().chain(&unpreempted).all(Value::is_null), "{answer}");
    let (answer, _) = asked(&[(5, 5, 5), (6, 10, 9)], "--cpus 1");
    assert!(of(&answer)[1].iter().all(Value::is_null), "{answer}");
}

#[test]
fn what_is_asked_is_answered_and_nothing_else() {
    let three = implicit(&[(2, 3); 3]);
    let (answer, code) = asked(&three, "--cpus 3 --test gfb,pedf");
    assert_eq!(answer["tests"], json!({ "gfb": "reject", "pedf": "accept" }));
    // Partitioned EDF is another scheduler; what no test shows, and no miss refutes, is unknown.
    assert_eq!((&answer["verdict"], code), (&json!("unknown"), 3));
    assert_eq!(answer["witness"], Value::Null);
    assert_eq!(answer["cause"], "test");
    let (answer, code) = asked(&three, "--cpus 2");
    let witness = json!({
        "kind": "miss", "overheads": false, "tie": "first", "ties": ["first", "last", "running"],
        "offsets_us": [0, 0, 0], "cpus": 2, "task": 3, "released_us": 0, "deadline_us": 3,
        "completed_us": 4,
    });
    assert_eq!((&answer["witness"], code), (&witness, 1));
    assert_eq!(answer["fit"]["cpus"], 3);
    assert_eq!(answer["fit"]["cpus_is_least"], true);
    assert_eq!(answer["schema"], "wastenot.bounds/1");
}

#[test]
fn a_tie_that_decides_is_named() {
    let (answer, code) = asked(&implicit(&[(1, 4), (1, 4), (4, 4)]), "--cpus 2 --test gfb");
    assert_eq!((&answer["witness"]["ties"], code), (&json!(["first", "running"]), 1));
    let summary = answer["summary"].as_str().expect("a sentence");
    assert!(summary.contains("With other tie-breaking rules no late job was found"), "{summary}");
}

#[test]
fn jobs_longer_than_their_deadline_or_period_are_no_errors() {
    let (answer, code) = asked(&[(5, 10, 3)], "--cpus 4");
    assert_eq!((&answer["witness"]["kind"], code), (&json!("alone"), 1));
    // 12 of every 10, due after 30: the tenth job is the first that is late.
    let (answer, _) = asked(&[(12, 10, 30)], "--cpus 4");
    let witness = &answer["witness"];
    assert_eq!((&witness["released_us"], &witness["deadline_us"]), (&json!(100), &json!(130)));
    assert_eq!((&witness["completed_us"], &answer["fit"]["cpus"]), (&json!(132), &Value::Null));
}

/// Both in time under global EDF on one CPU. Under SCHED_DEADLINE jobs would be late.
#[test]
fn tasks_that_linux_does_not_take_are_not_judged_under_its_scheduler() {
    let tasks = [(11_000, 30_000, 30_000), (8_000, 15_000, 43_000)];
    let (answer, code) = asked(&tasks, "--cpus 1");
    assert_eq!((&answer["verdict"], code), (&json!("schedulable"), 0));
    let desk = Desk::new();
    desk.put("o.csv", "kind,at,max_us,average_us\nschedule,,1,1\n");
    let table = format!("--overheads {}", desk.path().join("o.csv").display());
    for (name, cpus) in
        [("sched-deadline", 1), ("sched-deadline-v8", 1), ("sched-deadline-dedicated", 2)]
    {
        for table in ["", table.as_str()] {
            let words = format!("--cpus {cpus} --implementation {name} {table}");
            let (answer, code) = asked(&tasks, &words);
            let said = (&answer["verdict"], &answer["cause"], code);
            assert_eq!(said, (&json!("unknown"), &json!("deadline"), 3), "{words}");
            let tests = answer["tests"].as_object().expect("tests");
            assert!(tests.len() == 10, "{tests:?}");
            assert!(tests.values().all(|it| it == "not_applicable"), "{tests:?}");
            let late = ["bounded", "bounded_on_average", "gedf_us_max", "gfl_us_max"];
            assert!(late.iter().all(|it| answer["tardiness"][*it].is_null()), "{answer}");
            let fit = ["cpus", "work_per_mille"];
            assert!(fit.iter().all(|it| answer["fit"][*it].is_null()), "{answer}");
        }
        let words = format!("--cpus {cpus} --implementation {name}");
        let text = told(&csv(&tasks), &words);
        assert!(text.contains("EINVAL"), "{text}");
        assert!(text.contains("Jobs of task 2 are released every 15000"), "{text}");
        assert!(!text.contains("accept") && !text.contains("tardiness"), "{text}");
    }
    // No scheduler helps, Linux's neither.
    let over = [(9, 10, 11), (2, 10, 10)];
    let (answer, code) = asked(&over, "--cpus 1 --implementation sched-deadline");
    assert_eq!((&answer["witness"]["kind"], code), (&json!("utilization"), 1));
}

#[test]
fn what_is_shown_of_sched_deadline_is_shown_of_global_edf() {
    let assumed = |name: &str| {
        let words = format!("--cpus 2 --implementation {name}");
        let (answer, code) = asked(&implicit(&[(2, 10)]), &words);
        assert_eq!(code, 0, "{answer}");
        let all = answer["assumptions"].to_string();
        all.contains(&format!("{name} is not always global EDF: a CPU"))
    };
    assert!(["", "-v8", "-dedicated"].iter().all(|it| assumed(&format!("sched-deadline{it}"))));
    assert!(!["gsn-edf", "gsn-edf-dedicated", "gedf-mp"].into_iter().any(assumed));
}

#[test]
fn overheads_stand_beside_what_they_change() {
    let desk = Desk::new();
    desk.put("t.csv", csv(&implicit(&[(10_000, 100_000), (5_000, 50_000)])));
    let rows = "schedule,,20\nswitch,,5\nrelease,,15\ntick,,2\nipi,,4\nlatency,,30\nhandler,,6\n\
                request,,12\n";
    desk.put("o.csv", format!("kind,at,max_us\n{rows}"));
    desk.put("storm.csv", "kind,at,max_us\nrelease,,40000\n");
    let ask = |words: &str| desk.json(&format!("wastenot bounds test t.csv --json {words}"));
    let wcets = |answer: &Value| {
        [0, 1].map(|n: usize| answer["tasks"][n]["wcet_us_with_overheads"].as_u64())
    };
    for (implementation, cpus, expected) in [
        ("gsn-edf", 4, [10_143, 5_131]),
        ("sched-deadline", 4, [10_143, 5_131]),
        ("gsn-edf-dedicated", 5, [10_094, 5_084]),
        ("gedf-mp", 5, [10_137, 5_127]),
        ("gsn-edf", 1, [10_139, 5_127]),
    ] {
        let words = format!("--cpus {cpus} --overheads o.csv --implementation {implementation}");
        let (answer, code) = ask(&words);
        assert_eq!(wcets(&answer), expected.map(Some), "{implementation}");
        assert_eq!((&answer["verdict"], code), (&json!("schedulable"), 0), "{implementation}");
        assert_eq!(answer["without_overheads"]["verdict"], "schedulable");
    }
    // Nothing is left: that is no proof, since what was seen is no bound from below.
    let (answer, code) = ask("--cpus 4 --overheads storm.csv");
    assert_eq!(answer["verdict"], "unknown");
    assert_eq!(answer["cause"], "interrupts");
    assert_eq!(code, 3);
    assert_eq!((&answer["tests"], &answer["tardiness"]["bounded"]), (&Value::Null, &json!(false)));
    desk.put("o.csv", "kind,at,max_us\nschedule,10,2\nschedule,20,4\n");
    let (answer, code) = ask("--cpus 4 --overheads o.csv --extrapolate");
    assert_eq!((&answer["overheads"]["extrapolated"], code), (&json!(true), 0));
    assert!(answer["assumptions"].to_string().contains("extrapolated: schedule"), "{answer}");
}

#[test]
fn a_page_and_standard_input() {
    let desk = Desk::new();
    desk.put("t.csv", csv(&implicit(&[(2, 10)])));
    let line = "wastenot bounds test - --cpus 2 -o page.html < t.csv";
    desk.says(0, line, &["Schedulable: ", "Report: page.html"]);
    assert!(desk.read("page.html").contains("Goossens, Funk, Baruah"));
    let (text, _) = said(&desk.bash("wastenot bounds test t.csv --cpus 1 --text"));
    assert!(text.contains("qpa") && text.lines().all(|line| line.chars().count() <= 72), "{text}");
}

#[test]
fn sets_that_are_too_large_to_be_tested_are_unknown_soon() {
    let mut text = "wcet_us,period_us\n".to_owned();
    for n in 0..100_000_u64 {
        text += &format!("{},{}\n", 1 + n % 7, 100_000 + n);
    }
    let desk = Desk::new();
    desk.put("t.csv", text);
    let (answer, code) = desk.json("wastenot bounds test t.csv --cpus 4 --test rta,bar --json");
    assert_eq!(code, 3, "{answer}");
    assert_eq!((&answer["tests"]["rta"], &answer["cause"]), (&json!("unknown"), &json!("budget")));
}

/// What people are told.
fn told(tasks: &str, words: &str) -> String {
    let desk = Desk::new();
    desk.put("t.csv", tasks);
    let output = desk.bash(&format!("wastenot bounds test t.csv --text {words}"));
    let (text, code) = said(&output);
    assert!(output.stderr.is_empty() && code < 4, "{text}");
    // Lines are broken anywhere.
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn no_test_is_said_to_have_rejected_what_it_did_not() {
    let three = csv(&implicit(&[(2, 3); 3]));
    let text = told(&three, "--cpus 3 --test pedf");
    assert!(text.contains("No test of global EDF was selected"), "{text}");
    let text = told(&three, "--cpus 3 --test qpa,pedf");
    assert!(text.contains("None of the selected tests applies"), "{text}");
    assert!(text.contains("qpa n/a: the test is for one CPU"), "{text}");
    let text = told(&three, "--cpus 3 --test qpa,gfb");
    assert!(text.contains("No selected test of global EDF accepts the set"), "{text}");
    // Nobody asked for a test of one CPU, and this is about two.
    assert!(!told(&three, "--cpus 3").contains("qpa"), "{text}");
}

#[test]
fn nothing_is_said_to_have_been_tried_that_was_not() {
    let text = told(&csv(&[(5, 10, 3)]), "--cpus 4");
    assert!(
        text.contains("no number of CPUs, because a job is late even if it has a CPU for itself"),
        "{text}"
    );
    let three = csv(&implicit(&[(2, 3); 3]));
    let text = told(&three, "--cpus 2 --test pedf");
    let not_selected = "not tried, because no test of global EDF was selected";
    assert_eq!(text.matches(not_selected).count(), 2, "{text}");
    let text = told(&three, "--cpus 2 --test bak,pedf");
    assert!(
        text.contains(
            "accepted with not tried, because BAK may accept a set and reject the same set with \
             less work"
        ),
        "{text}"
    );
    let text = told(&csv(&implicit(&[(2, 3), (11, 10)])), "--cpus 2 --test gfb");
    assert!(!text.contains("were tried"), "{text}");
}

/// What a kernel takes that partitions, sweeps count.
#[test]
fn partitions_are_of_tasks_that_pay_under_global_edf() {
    let desk = Desk::new();
    desk.put("t.csv", csv(&implicit(&[(2_000, 10_000); 4])));
    desk.put("o.csv", "kind,at,max_us\nschedule,,9\n");
    let ask = |words: &str| {
        let line = format!("wastenot bounds test t.csv --text --cpus 3 {words}");
        let (text, _) = said(&desk.bash(&line));
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let text = ask("--implementation gedf-mp --overheads o.csv");
    assert!(text.contains("each task, on 2 CPUs and with C+ of gedf-mp"), "{text}");
    assert!(text.contains("Partitioned EDF itself has other overheads"), "{text}");
    let text = ask("");
    assert!(!text.contains("C+") && !text.contains("itself has other overheads"), "{text}");
    let line = "wastenot bounds test t.csv --cpus 2 --implementation p-edf";
    desk.says(2, line, &["N = 1 is partitioned EDF"]);
}

#[test]
fn load_decides_where_tasks_use_just_what_it_allows() {
    let (answer, code) = asked(&[(1, 2, 1), (1, 4, 12), (1, 4, 1)], "--cpus 1 --test load");
    assert_eq!((&answer["tests"]["load"], code), (&json!("reject"), 1), "{answer}");
    let (answer, code) = asked(&[(1, 2, 1), (1, 2, 2)], "--cpus 1 --test load");
    assert_eq!((&answer["tests"]["load"], code), (&json!("accept"), 0), "{answer}");
    // Only after 2^60 us demand is repeated.
    let primes = [1_048_573, 1_048_571, 1_048_559, 1_048_549];
    let tasks = primes.map(|prime| (prime, 4 * prime, 4 * prime - 1));
    let (answer, _) = asked(&tasks, "--cpus 1 --test load");
    assert_eq!(answer["tests"]["load"], "not_applicable", "{answer}");
    let text = told(&csv(&tasks), "--cpus 1 --test load");
    assert!(text.contains("load n/a: tasks need exactly as much as the test"), "{text}");
}

#[test]
fn one_cpu_and_sets_too_large_to_search_are_spoken_of_as_they_are() {
    let text = told(&csv(&[(10, 100, 5), (9, 100, 10)]), "--cpus 1");
    assert!(!text.contains("1 CPU provide "), "{text}");
    let text = told(&csv(&[(5, 20, 10), (6, 20, 10)]), "--cpus 1");
    assert!(text.contains("but 1 CPU provides only 10 us"), "{text}");
    let text = told(&csv(&implicit(&[(9, 10), (2, 10)])), "--cpus 1");
    assert!(
        text.contains("the utilization of the tasks is 1.100, but the machine has 1 CPU."),
        "{text}"
    );
    let many = "wcet_us,period_us\n".to_owned() + &"1,1000000\n".repeat(100_001);
    let text = told(&many, "--cpus 1 --test ffdbf");
    assert!(text.contains("tardiness bounded, but the bound was not computed"), "{text}");
}

#[test]
fn what_a_table_does_not_tell_the_report_does() {
    let desk = Desk::new();
    desk.put("t.csv", csv(&implicit(&[(5_000, 10_000), (5_000, 10_000), (9, 10_000)])));
    desk.put("o.csv", "kind,at,max_us,average_us\nschedule,,9,2\nipi,,4,\nhandler,,3,1\n");
    let ask =
        |words: &str| desk.json(&format!("wastenot bounds test t.csv --overheads o.csv {words}")).0;
    let answer = ask("--cpus 1 --json");
    let all = answer["assumptions"].to_string();
    let kinds = "o.csv has no switch, tick, release, latency, cache_delay, cache_load: these overheads count as 0";
    assert!(all.contains(kinds), "{all}");
    assert!(all.contains("so it is assumed to be for gsn-edf on 1 CPU"), "{all}");
    let missing = ["switch", "tick", "release", "latency", "cache_delay", "cache_load"];
    assert_eq!(answer["overheads"]["not_measured"], json!(missing));
    assert_eq!(answer["fit"]["cpus"], 2);
    let all = ask("--cpus 3 --implementation gedf-mp --json")["assumptions"].to_string();
    assert!(all.contains("o.csv has no switch, tick, release, latency, request,"), "{all}");
    assert!(all.contains("no averages of ipi"), "{all}");
    assert!(all.contains("so it is assumed to be for gedf-mp on 3 CPUs"), "{all}");
    let (text, _) =
        said(&desk.bash("wastenot bounds test t.csv --cpus 1 --overheads o.csv --text"));
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("2 CPUs (fewest; by"), "{text}");
    assert!(text.contains("with the overheads on 1)"), "{text}");
    assert!(!text.contains("Next: "), "{text}");
}

#[test]
fn a_table_of_another_implementation_does_not_count() {
    let desk = Desk::new();
    desk.put("t.csv", csv(&implicit(&[(5_000, 10_000)])));
    desk.put("o.csv", "kind,at,max_us,implementation,cpus\nschedule,,9,gsn-edf,4\n");
    let ask = |words: &str| {
        let (text, _) = said(&desk.bash(&format!("wastenot bounds {words}")));
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let text = ask("test t.csv --overheads o.csv --cpus 4 --text");
    assert!(text.contains("Schedulable") && !text.contains("assumed to be for"), "{text}");
    let sweep = include_str!("../../../../scenarios/sweeps/small.toml");
    desk.put("s.toml", sweep.replace("../tasksets/overheads.csv", "o.csv"));
    for (words, whom) in [
        ("test t.csv --overheads o.csv --cpus 8", "gsn-edf on 8 CPUs"),
        ("test t.csv --overheads o.csv --cpus 4 --implementation gedf-mp", "gedf-mp on 4 CPUs"),
        ("sweep s.toml", "gsn-edf on 2 CPUs"),
        ("overheads --machine smp4 --with o.csv --implementation gedf-mp", "gedf-mp on 4 CPUs"),
    ] {
        let text = ask(words);
        let what =
            format!("o.csv: the table of overheads is for gsn-edf on 4 CPUs, not for {whom}");
        assert!(text.contains(&what) && text.contains("wastenot bounds overheads"), "{text}");
    }
}
