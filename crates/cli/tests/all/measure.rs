//! `wastenot bounds measure` and `calibrate`, as those who ask meet them. How long things take here
//! is no business of a test.

use std::fs;

use serde_json::Value;

use crate::reference::names_columns;
use crate::root;
use crate::shell::{Desk, said};

/// A table that nobody measured: on 2 CPUs a coarse lock of a certain profile.
fn table(machine: &str) -> String {
    let line = |design: &str, cpus: u32, ns: u32| {
        format!(
            "{machine},2,1,6.1 x86_64,0.1.0,{design},{cpus},1,SCHED,1000,20,100000,{ns},{ns},{ns},\
             {ns},{ns}\n"
        )
    };
    let header = "machine,machine_cpus,machine_sockets,kernel,wastenot,design,cpus,sockets,kind,\
                  span_ms,clock_ns,samples,mean_ns,median_ns,p99_ns,p999_ns,max_ns\n";
    // 300 ns of work and 20 lines of 3 ns, or of 50 and the lock's, fetched twice.
    let lines = [
        line("coarse-ticket", 1, 3 + 300 + 60),
        line("coarse-queued", 2, 2 * (300 + 50 * 21)),
        line("coarse-ticket", 2, 2 * (300 + 50 * 23)),
    ];
    header.to_owned() + &lines.concat()
}

#[test]
fn a_table_has_the_columns_of_the_page_and_grows_only_if_asked() {
    let desk = Desk::new();
    let line =
        "wastenot bounds measure --span 5ms --cpus 1 --design coarse-ticket,per-cpu -o here.csv";
    desk.says(0, line, &["the figures do not include interrupts and context switches"]);
    let first = desk.read("here.csv");
    names_columns("profile.md", "## The table", &first);
    assert_eq!(first.lines().count(), 3, "{first}");
    desk.says(2, line, &["exists already", "--append"]);
    assert_eq!(desk.read("here.csv"), first);
    desk.exits(0, &format!("{line} --append"));
    let both = desk.read("here.csv");
    assert!(both.starts_with(&first) && both.lines().count() == 5, "{both}");
    desk.exits(0, &format!("{line} --force"));
    assert_eq!(desk.read("here.csv").lines().count(), 3);
    // Others may add theirs with nothing but cat.
    desk.put("all.csv", first + &both);
    let (text, code) = said(&desk.bash("wastenot bounds calibrate all.csv --within 100%"));
    assert!(code < 2, "{text}");
}

#[test]
fn figures_are_one_object_or_a_table_on_standard_output() {
    let desk = Desk::new();
    let (answer, _) = desk.json("wastenot bounds measure --span 5ms --json");
    assert_eq!(answer["schema"], "wastenot.bounds-measure/1");
    let figures = answer["figures"].as_array().expect("figures");
    let of = |design: &str| figures.iter().filter(|row| row["design"] == design).count();
    assert!(of("coarse-ticket") > 0 && of("coarse-queued") > 0 && of("per-cpu") > 0);
    for row in figures {
        let ns = ["median_ns", "p99_ns", "p999_ns", "max_ns"].map(|name| row[name].as_u64());
        assert!(ns.is_sorted() && ns[0].is_some() && row["samples"].as_u64() > Some(0), "{row}");
    }
    let line = "wastenot bounds measure --span 5ms --cpus 1 --design coarse-queued -o -";
    let text = desk.exits(0, line);
    assert!(text.starts_with("machine,") && text.lines().count() == 2, "{text}");
}

#[test]
fn what_cannot_be_measured_is_told_with_what_to_do() {
    let desk = Desk::new();
    desk.put("other.csv", "kind,at,max_us\n");
    desk.put("turned.csv", table("m").replace("kernel,wastenot,", "wastenot,kernel,"));
    desk.refuses(
        "wastenot bounds measure --span 5ms",
        &[
            ("--cpus 4000", "requests 4000 CPUs, but this process may use", "taskset"),
            ("--cpus 0", "expected numbers of CPUs", "bounds measure --help"),
            ("--cpus 1-", "expected numbers of CPUs", "bounds measure --help"),
            ("--cpus 1 --design line", "cannot be measured on one CPU", ""),
            ("--design message", "did you mean `messages`?", "bounds measure --help"),
            ("-o here.txt", "here.txt does not end in .csv", ".csv"),
            ("--append", "--output", ""),
            ("-o other.csv --append", "other.csv:1: unknown column `at`", ""),
            ("-o turned.csv --append", "the wrong order", "machine,machine_cpus"),
        ],
    );
    desk.says(2, "wastenot bounds measure --span three", &["expected a duration"]);
}

#[test]
fn of_one_cpu_that_it_may_use_it_asks_no_more() {
    let desk = Desk::new();
    if said(&desk.bash("taskset -c 0 true")).1 != 0 {
        let how = "apt install util-linux, allow CPU 0";
        return wastenot_needs::skipped("one CPU", "taskset may not", how);
    }
    let line = "taskset -c 0 wastenot bounds measure --span 5ms";
    desk.says(0, line, &["messages and lines are not measured, because they need two CPUs"]);
    desk.says(2, &format!("{line} --cpus 2"), &["this process may use 1", "at most 1 CPU (0)"]);
}

#[test]
fn pairs_that_fit_are_told_and_make_a_profile_that_can_be_read() {
    let desk = Desk::new();
    desk.put("m.csv", table("m"));
    let line = "wastenot bounds calibrate m.csv --within 1% -o m.toml";
    desk.says(0, line, &["Only pairs with 2 fetches and 20 lines fit within 1 %"]);
    let profile = desk.read("m.toml");
    assert!(profile.contains("fetches = 2\n"), "{profile}");
    assert!(profile.contains("coarse = { work = \"300ns\", lines = 20 }"), "{profile}");
    // What it is from stays what it is.
    let text = desk.exits(0, "wastenot bounds calibrate m.csv --within 1% --profile m.toml --json");
    let answer: Value = serde_json::from_str(&text).expect("one object");
    assert_eq!(answer["schema"], "wastenot.bounds-calibrate/1");
    assert_eq!((&answer["determined"], &answer["pairs"]), (&true.into(), &1.into()));
    assert_eq!(answer["nearest"]["lines"], 20);
    assert_eq!(answer["residuals"].as_array().map(Vec::len), Some(3));
    let line = "wastenot bounds calibrate --point 4=40us --within 5%";
    desk.says(0, line, &["do not determine a pair"]);
}

#[test]
fn a_profile_of_the_machine_at_hand_is_made_as_the_page_says() {
    let page = fs::read_to_string(root().join("docs/reference/profile.md")).expect("the page");
    let steps = page.split("```sh\n").nth(1).and_then(|rest| rest.split("```").next());
    let steps: Vec<&str> = steps.expect("three steps").lines().collect();
    let [measure, calibrate, simulate] = steps[..] else { panic!("{steps:?}") };
    let desk = Desk::laid();
    desk.exits(0, &measure.replace("10s", "20ms"));
    // That something fits what is measured in a moment beside other tests, nobody promises.
    let (text, code) = said(&desk.bash(&calibrate.replace("measured-here", "tried")));
    assert!(code < 2 && text.contains("pairs that fit"), "{text}");
    desk.put("here.csv", fs::read(root().join("scenarios/measured/epyc-2.csv")).expect("a table"));
    desk.exits(0, calibrate);
    let profile = desk.read("measured-here.toml");
    assert!(profile.contains("figures of AMD EPYC (virtual)"), "{profile}");
    let text = desk.exits(0, &format!("{simulate} --json"));
    let other = simulate.replace("measured-here.toml", "x7550-assumed");
    assert_ne!(desk.exits(0, &format!("{other} --json")), text);
}

#[test]
fn where_nothing_fits_it_says_so_and_writes_nothing() {
    let desk = Desk::new();
    desk.put("m.csv", table("m").replace(",2700,2700,", ",900,900,"));
    let line = "wastenot bounds calibrate m.csv --within 5% -o m.toml";
    desk.says(1, line, &["fits the figures within 5 %", "no profile is written"]);
    assert!(!desk.path().join("m.toml").exists());
}

#[test]
fn what_cannot_be_fitted_is_told_with_what_to_do() {
    let desk = Desk::new();
    desk.put("two.csv", table("m") + &table("n"));
    desk.put("per.csv", table("m").replace("coarse-ticket", "per-cpu").replace("queued", "q"));
    desk.put("bad.toml", "schema = \"wastenot.profile/1\"\nline_near = 4\n");
    desk.put("latin.toml", b"schema = \"wastenot.profile/1\"\nabout = \"f\xfcr uns\"\n");
    desk.put("ft.csv", "1, 2, 1\n");
    desk.put("overheads_m=4_overhead=SCHED.csv", "1, 2, 1\n");
    desk.refuses(
        "wastenot bounds calibrate",
        &[
            ("", "`calibrate` needs a table of measured figures", "bounds measure"),
            ("no.csv", "cannot open no.csv: no such file", "path"),
            ("two.csv", "the figures come from 2 machines: m, n", "--machine"),
            (
                "two.csv --machine m --design per-cpu",
                "the figures describe SCHED of coarse-queued",
                "SCHED",
            ),
            ("two.csv --machine x", "no figure describes a single lock for all CPUs", "SCHED"),
            ("per.csv", "all CPUs; the figures describe SCHED of coarse-q", "SCHED"),
            ("two.csv --profile x7550", "there is no profile `x7550`", "x7550-assumed"),
            ("two.csv --profile bad.toml", "bad.toml:2: `line_near` cannot be `4`", "`4us`"),
            (
                "two.csv --profile latin.toml",
                "latin.toml:2: the file is not text: byte 0xfc is not valid UTF-8",
                "UTF-8",
            ),
            ("ft.csv", "lacks the number of CPUs", "m=64"),
            (
                "overheads_m=4_overhead=SCHED.csv",
                "the file counts cycles, and the clock rate is unknown",
                "--cycles-per-us",
            ),
            ("two.csv --point 8=1ms --machine m", "some come from a kernel", "separately"),
            ("--point 8", "`64=3ms`", ""),
            ("--point 5000=3ms", "5000 CPUs; at most 1024 CPUs can be simulated", ""),
            ("two.csv --within 200%", "0% to 100%", ""),
            ("two.csv -o p.csv", "p.csv does not end in .toml", ".toml"),
            ("two.csv -o bad.toml", "exists already", "--force"),
        ],
    );
    desk.exits(0, "wastenot bounds calibrate two.csv --machine n --within 1%");
}

/// Two tasks a CPU under one lock, whose profile is a name or a file.
fn scenario(profile: &str) -> String {
    format!(
        r#"schema = "wastenot.scenario/1"
machine = "core:2 pu:1"
limit = "50ms"
seeds = 1
[scheduler]
name = "gsn-edf"
profile = "{profile}"
[[tasks]]
name = "t"
count = 4
background = true
program = ["loop forever", "every 5ms", "compute 1ms", "end"]
"#
    )
}

#[test]
fn scenarios_run_with_profiles_from_files() {
    let desk = Desk::new();
    fs::create_dir(desk.path().join("mine")).expect("a folder");
    desk.put("m.csv", table("m"));
    desk.exits(0, "wastenot bounds calibrate m.csv --within 1% -o mine/fitted.toml");
    let schema = "schema = \"wastenot.profile/1\"\n";
    desk.put("mine/same.toml", format!("{schema}base = \"x7550-assumed\"\n"));
    desk.put("mine/wrong.toml", format!("{schema}line_neer = \"9ns\"\n"));
    // How long the longest job took.
    let takes = |profile: &str, words: &str| {
        desk.put("mine/s.toml", scenario(profile));
        let (answer, code) = desk.json(&format!("wastenot run mine/s.toml --json {words}"));
        assert_eq!(code, 0, "{answer}");
        answer["deadlines"][0]["response_ns_max"].as_u64().expect("a length")
    };
    let [free, assumed, same, fitted] =
        ["free", "x7550-assumed", "same.toml", "fitted.toml"].map(|profile| takes(profile, ""));
    assert_eq!(same, assumed);
    assert!(free < fitted && fitted < assumed, "{free} {fitted} {assumed}");
    assert_eq!(takes("free", "--scheduler gsn-edf,profile=mine/fitted.toml"), fitted);
    // What is kept is of what the file said.
    assert_eq!(takes("same.toml", "--resume kept"), assumed);
    let text = desk.read("mine/fitted.toml");
    desk.put("mine/same.toml", text);
    assert_eq!(takes("same.toml", "--resume kept"), fitted);
    for (profile, what, help) in [
        (
            "lost.toml",
            "mine/s.toml:7: cannot read the profile lost.toml: no such file",
            "profile.md",
        ),
        ("wrong.toml", "mine/s.toml:7: wrong.toml:2: ", "`line_near`"),
        ("mine", "cannot be `mine`", "free | x7550-assumed, or the path"),
    ] {
        desk.put("mine/s.toml", scenario(profile));
        desk.says(2, "wastenot run mine/s.toml --json", &[what, help]);
    }
}
