//! `wastenot bounds sweep`, as those who ask it meet it.

use std::collections::BTreeMap;
use std::fs;

use wastenot_model::Help;
use wastenot_scenario::sweep::sweep;

use crate::reference::names_columns;
use crate::root;
use crate::shell::Desk;

/// Twelve points in some seconds.
const SMALL: &str = r#"schema = "wastenot.sweep/1"
about = "what overheads take"
sets = 5
overheads = "tables/${cpus}.csv"
[points]
cpus = [2, 3]
tasks_per_cpu = [2, 3]
total = [1, 1.5, 2]
utilizations = "randfixedsum"
periods = "log-uniform 10-100 ms"
[tests]
rta_step = "1ms"
[[curves]]
name = "free"
implementation = "none"
[[curves]]
name = "message passing, by mail"
implementation = "gedf-mp"
"#;

const TABLE: &str = "kind,at,max_us,average_us\nschedule,,50,5\nhandler,1,20,2\nhandler,5,30,3\n";

fn desk() -> Desk {
    let desk = Desk::new();
    desk.put("small.toml", SMALL);
    fs::create_dir(desk.path().join("tables")).expect("a folder");
    desk.put("tables/2.csv", TABLE);
    desk.put("tables/3.csv", TABLE);
    desk
}

#[test]
fn a_sweep_in_parts_gives_the_same_table_with_the_columns_of_the_page() {
    let desk = desk();
    desk.exits(0, "wastenot bounds sweep small.toml -o 1.csv");
    let csv = desk.read("1.csv");
    names_columns("sweep.md", "## CSV", &csv);
    assert!(csv.contains(",\"message passing, by mail\",soft,1,5,"), "{csv}");
    assert!(csv.contains(",none: observed maxima\n"), "{csv}");
    let part = "wastenot bounds sweep small.toml --resume rows --shard 1/3";
    desk.says(3, part, &["4 of 12 points are complete"]);
    assert_eq!(desk.read("rows").lines().count(), 4);
    desk.exits(0, "wastenot bounds sweep small.toml --resume rows -o - > whole.csv");
    assert_eq!((desk.read("rows").lines().count(), desk.read("whole.csv")), (12, csv));
}

#[test]
fn it_says_which_curve_is_above_which() {
    let desk = desk();
    desk.says(0, "wastenot bounds sweep small.toml --text", &["what overheads take", "below"]);
    let (answer, _) = desk.json("wastenot bounds sweep small.toml --json");
    assert_eq!(answer["schema"], "wastenot.bounds-sweep/1");
    assert_eq!((&answer["points"], &answer["missing"]), (&12.into(), &0.into()));
    assert_eq!(answer["curves"].as_array().map(Vec::len), Some(2 * 6), "{answer}");
    assert!(answer["assumptions"].to_string().contains("beyond the measured range"));
}

/// One point, and one curve, of global EDF or of partitions.
const ONE: &str = r#"schema = "wastenot.sweep/1"
sets = 5
overheads = "o.csv"
criteria = ["hard"]
cache_delay = 0
[points]
cpus = 2
tasks = 16
total = 1
utilizations = "randfixedsum"
periods = "log-uniform 10-100 ms"
[[curves]]
name = "it"
implementation = "gsn-edf"
"#;

#[test]
fn overheads_from_beyond_their_table_are_marked_whatever_the_verdict() {
    let desk = Desk::new();
    desk.put("global.toml", ONE);
    desk.put("parts.toml", format!("{ONE}cluster = 1\n"));
    let ask = |sweep: &str, rows: &str| {
        desk.put("o.csv", format!("kind,at,max_us\n{rows}"));
        let csv = desk.exits(0, &format!("wastenot bounds sweep {sweep} -o -"));
        let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<&str>>());
        let (header, line) = (lines.next().expect("a header"), lines.next().expect("a line"));
        let at = |name| line[header.iter().position(|column| *column == name).expect(name)];
        [at("accepted"), at("interrupts"), at("extrapolated")].map(str::to_owned)
    };
    for (rows, expected) in [
        // One point is no constant.
        ("schedule,8,9\n", ["5", "0", "5"]),
        ("schedule,16,9\n", ["5", "0", "0"]),
        ("schedule,,9\n", ["5", "0", "0"]),
        // Nobody sends messages under one lock.
        ("schedule,,9\nhandler,2,5\n", ["5", "0", "0"]),
        // Who is rejected is so because of what was not measured.
        ("release,8,90000\nrelease,12,90000\n", ["0", "5", "5"]),
        ("release,8,90000\nrelease,24,90000\n", ["0", "5", "0"]),
    ] {
        assert_eq!(ask("global.toml", rows), expected, "{rows}");
    }
    assert_eq!(ask("parts.toml", "schedule,,9\n"), ["5", "0", "0"]);
    assert_eq!(ask("parts.toml", "schedule,99,9\n"), ["5", "0", "5"]);
    assert_eq!(ask("parts.toml", "release,99,90000\n"), ["0", "5", "5"]);
}

#[test]
fn what_was_not_measured_is_told() {
    let desk = desk();
    let (answer, _) = desk.json("wastenot bounds sweep small.toml --json");
    let said = answer["assumptions"].to_string();
    let kinds = "switch, tick, release, ipi, latency, request, cache_delay, cache_load";
    assert!(said.contains(kinds) && said.contains("count as 0"), "{said}");
    assert!(said.contains("No table states its machine"), "{said}");
    assert!(!said.contains("schedule,"), "{said}");
}

#[test]
fn what_is_wrong_is_told_with_what_to_do() {
    let desk = desk();
    desk.put("lost.toml", SMALL.replace("tables/", "nowhere/"));
    desk.put("wrong.toml", SMALL.replace("\"gedf-mp\"", "\"gedf-m\""));
    desk.put("most.toml", SMALL.replace("tables/${cpus}", "tables/most"));
    desk.put("tables/most.csv", "kind,at,max_us\nschedule,,50\n");
    desk.refuses(
        "wastenot bounds sweep",
        &[
            ("", "`sweep` needs an experiment", "docs/reference/sweep.md"),
            ("no.toml", "cannot open no.toml: no such file", "scenarios/sweeps"),
            ("wrong.toml", "wrong.toml:18: there is no implementation `gedf-m`", "`gedf-mp`"),
            ("lost.toml", "nowhere/2.csv", "path"),
            ("most.toml", "tables/most.csv: the table of overheads has no averages", "criteria"),
            ("small.toml -o small.pdf", "small.pdf does not end in .csv", ".csv"),
            ("small.toml --shard 1/2", "--resume", "bounds sweep --help"),
            ("small.toml --resume r --shard 3/2", "`2/3`", "bounds sweep --help"),
            ("small.toml --resume small.toml", "not a results file", "new file"),
            ("small.toml -o tables/2.csv", "exists already", "--force"),
        ],
    );
}

#[test]
fn the_sweeps_that_come_along_can_be_read_and_have_their_tables() {
    let folder = root().join("scenarios/sweeps");
    let mut found = 0;
    for (path, text) in wastenot_needs::texts(&folder, "toml") {
        found += 1;
        let name = path.display().to_string();
        let sweep = sweep(&name, &text, &wastenot_realtime::sweep::NAMES);
        let sweep = sweep.unwrap_or_else(|e| panic!("{e}\nhelp: {}", e.help()));
        for point in &sweep.points {
            for curve in &sweep.curves {
                let Some(costs) = &curve.costs else { continue };
                let table = folder.join(costs.table(curve.cluster.unwrap_or(point.cpus)));
                assert!(table.is_file(), "{name}: {}", table.display());
            }
        }
    }
    assert!(found >= 4, "{found}");
}

#[test]
fn caps_of_the_published_set_up_rise_by_a_half_and_by_a_quarter_on_few_cpus() {
    let mut found = Vec::new();
    for name in ["rtas14-utilization.toml", "rtas14-utilization-8.toml"] {
        let text = fs::read_to_string(root().join("scenarios/sweeps").join(name)).expect(name);
        let sweep = sweep(name, &text, &wastenot_realtime::sweep::NAMES).expect(name);
        let mut totals: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        for point in &sweep.points {
            let total = point.recipe.total.expect("a cap");
            totals.entry(point.cpus).or_default().push((total * 4.0).round() as u64);
        }
        for (cpus, mut quarters) in totals {
            quarters.sort_unstable();
            quarters.dedup();
            let step = if cpus <= 8 { 1 } else { 2 };
            let all: Vec<u64> = (4..=4 * u64::from(cpus)).step_by(step).collect();
            assert_eq!(quarters, all, "{name}: {cpus} CPUs");
            found.push(cpus);
        }
    }
    found.sort_unstable();
    assert_eq!(found, [8, 16, 24, 32, 48, 64]);
}

#[test]
fn tables_come_from_the_simulated_machine_and_are_counted_with() {
    let desk = desk();
    let machine = "--machine 'pack:1 l3:1 core:4 pu:1'";
    let line = format!("{machine} --implementation gedf-mp --tasks 12,6,12 --length 50ms");
    desk.put("caches.csv", "kind,at,max_us,average_us\ntick,,2,1\nschedule,,9,9\n");
    let line = format!("wastenot bounds overheads {line} --with caches.csv -o t.csv");
    assert_eq!(desk.exits(0, &line), "");
    let table = desk.read("t.csv");
    assert!(table.starts_with("# simulated, not measured: gedf-mp on 4 CPUs"), "{table}");
    assert!(table.contains("that are not simulated are copied from caches.csv"), "{table}");
    let kinds = |kind: &str| table.lines().filter(|line| line.starts_with(kind)).count();
    assert_eq!(["handler,", "request,", "schedule,", "tick,"].map(kinds), [2, 2, 2, 1], "{table}");
    let six = "wcet_us,period_us\n".to_owned() + &"1000,10000\n".repeat(6);
    desk.put("six.csv", &six);
    let words = "--cpus 4 --implementation gedf-mp --overheads t.csv";
    desk.exits(0, &format!("wastenot bounds test six.csv {words}"));
    desk.refuses(
        "wastenot bounds overheads",
        &[
            (
                "--machine 'core:1 pu:1' --implementation gedf-mp",
                "gedf-mp leaves no CPU",
                "two CPUs",
            ),
            ("--machine nowhere", "--machine: ", "help:"),
            (
                &format!("{machine} --implementation gedfmp"),
                "did you mean `gedf-mp`",
                "bounds overheads --help",
            ),
            (&format!("{machine} --tasks 0"), "1..=4096", "bounds overheads --help"),
            (&format!("{machine} -o t.csv"), "t.csv exists already", "--force"),
            (&format!("{machine} --with no.csv --tasks 4"), "cannot open no.csv", "path"),
        ],
    );
}

/// Those of eight CPUs, which are made in a moment.
#[test]
fn tables_that_come_along_are_those_that_the_simulated_machine_gives() {
    let folder = root().join("scenarios/sweeps/x7550-assumed");
    for implementation in wastenot_realtime::Implementation::ALL {
        let name = implementation.name();
        let desk = Desk::new();
        let line = format!(
            "cd {} && wastenot bounds overheads --machine 'pack:1 numa:1 l3:1 core:8 pu:1' \
             --implementation {name} --with others.csv",
            folder.display()
        );
        let made = desk.exits(0, &line);
        let kept = fs::read_to_string(folder.join(format!("{name}-8.csv"))).expect("a table");
        assert_eq!(made, kept, "run {}/make", folder.display());
    }
}
