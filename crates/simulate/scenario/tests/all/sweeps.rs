//! Sweeps: how a file is read, and which errors are reported.

use std::collections::BTreeSet;

use wastenot_model::Help;
use wastenot_scenario::Error;
use wastenot_scenario::sweep::{Criterion, MOST_POINTS, Names, Scheduler, Sweep, Tests, sweep};

const NAMES: Names = Names {
    tests: &["gfb", "bak", "rta"],
    implementations: &[
        Scheduler { name: "gsn-edf", takes: 0, takes_late_deadlines: true },
        Scheduler { name: "gedf-mp", takes: 1, takes_late_deadlines: true },
        Scheduler { name: "linux", takes: 0, takes_late_deadlines: false },
    ],
};

const TEXT: &str = r#"schema = "wastenot.sweep/1"
about = "two machines"
seed = 7
sets = 20
overheads = "table-${cpus}.csv"

[points]
cpus = [2, 4]
tasks_per_cpu = { from = 1, to = 2, step = 0.5 }
total = { from = 0.5, step = 0.5 }
utilizations = "randfixedsum"
periods = ["uniform 1-1000 ms", "log-uniform 1-1000 ms"]

[tests]
hard = ["rta", "gfb"]
rta_step = "1ms"
budget = 1000

[[curves]]
name = "no overheads"
implementation = "none"
[[curves]]
name = "message passing"
implementation = "gedf-mp"
[[curves]]
name = "other table"
implementation = "gsn-edf"
overheads = "other.csv"
"#;

fn read(text: &str) -> Result<Sweep, Error> {
    sweep("folder/two.toml", text, &NAMES)
}

fn good(text: &str) -> Sweep {
    read(text).unwrap_or_else(|e| panic!("{e}\nhelp: {}\n{text}", e.help()))
}

#[test]
fn axes_are_multiplied_to_points() {
    let sweep = good(TEXT);
    assert_eq!((sweep.name.as_str(), sweep.seed, sweep.sets), ("two", 7, 20));
    // 2 CPUs: 2, 3, 4 tasks of 0.5 to 2; 4 CPUs: 4, 6, 8 tasks of 0.5 to 4; each by 2 periods.
    assert_eq!(sweep.points.len(), 3 * 4 * 2 + 3 * 8 * 2);
    let words: Vec<String> = sweep.points.iter().map(ToString::to_string).collect();
    for (n, should) in [
        (0, "2 CPUs, 2 tasks of 0.5, randfixedsum, uniform 1-1000 ms, implicit, 4-512 KiB"),
        (1, "2 CPUs, 2 tasks of 0.5, randfixedsum, log-uniform 1-1000 ms, implicit, 4-512 KiB"),
        (10, "2 CPUs, 3 tasks of 1, randfixedsum, uniform 1-1000 ms, implicit, 4-512 KiB"),
        (71, "4 CPUs, 8 tasks of 4, randfixedsum, log-uniform 1-1000 ms, implicit, 4-512 KiB"),
    ] {
        assert_eq!(words[n].replace(" by 1 ms", ""), should, "{n}");
    }
    assert_eq!(words.iter().collect::<BTreeSet<_>>().len(), words.len(), "no two are the same");
    let tests = Tests { hard: vec!["gfb", "rta"], rta_step_us: 1000, budget: 1000 };
    assert_eq!(sweep.tests, tests, "in the order of their cost");
}

#[test]
fn curves_are_multiplied_by_criterion_and_cache_delay() {
    let sweep = good(TEXT);
    let curves: Vec<String> = sweep.curves.iter().map(ToString::to_string).collect();
    assert_eq!(
        curves,
        [
            "no overheads, hard",
            "no overheads, soft",
            "message passing, hard, cache delay x 0",
            "message passing, hard, cache delay x 1",
            "message passing, soft, cache delay x 0",
            "message passing, soft, cache delay x 1",
            "other table, hard, cache delay x 0",
            "other table, hard, cache delay x 1",
            "other table, soft, cache delay x 0",
            "other table, soft, cache delay x 1",
        ]
    );
    let spare: Vec<u32> = sweep.curves.iter().map(|curve| curve.spare).collect();
    assert_eq!(spare, [0, 0, 1, 1, 1, 1, 0, 0, 0, 0]);
    let table = |n: usize| sweep.curves[n].costs.as_ref().map(|costs| costs.table(4));
    assert_eq!(table(0), None);
    assert_eq!(table(2).as_deref(), Some("table-4.csv"));
    assert_eq!(table(6).as_deref(), Some("other.csv"));
    let few = TEXT.replace("seed = 7", "criteria = \"soft\"\ncache_delay = [0.25]");
    let few = good(&few);
    assert_eq!(few.curves.len(), 3);
    assert!(few.curves.iter().all(|curve| curve.criterion == Criterion::Soft));
    assert!((few.curves[1].cache_delay() - 0.25).abs() < 1e-12);
    let clusters = good(&TEXT.replace("= \"gedf-mp\"", "= \"gedf-mp\"\ncluster = 2"));
    let [whole, divided] = [0, 2].map(|n| (clusters.curves[n].cluster, clusters.curves[n].spare));
    assert_eq!((whole, divided), ((None, 0), (Some(2), 1)), "one CPU of each cluster");
}

#[test]
fn what_is_not_said_is_as_the_page_says() {
    let least = r#"schema = "wastenot.sweep/1"
        points = { cpus = 4, tasks = 8, utilizations = "uni-light", periods = "uniform 1-9 ms" }
        curves = [{ name = "one", implementation = "none" }]"#;
    let sweep = good(least);
    assert_eq!((sweep.seed, sweep.sets, sweep.points.len()), (1, 100, 1));
    let tests = NAMES.tests.to_vec();
    assert_eq!(sweep.tests, Tests { hard: tests, rta_step_us: 1, budget: 200_000_000 });
    assert_eq!(sweep.curves.len(), 2);
}

#[test]
fn a_point_keeps_its_seed_when_others_come() {
    let seeds = |text: &str| -> Vec<(String, u64)> {
        let sweep = good(text);
        let seed = |point: &wastenot_scenario::sweep::Point| point.seed(sweep.seed);
        sweep.points.iter().map(|point| (point.to_string(), seed(point))).collect()
    };
    let before = seeds(TEXT);
    let after = seeds(
        &TEXT
            .replace("cpus = [2, 4]", "cpus = [1, 2, 3, 4]")
            .replace("implementation = \"gedf-mp\"", "implementation = \"gsn-edf\"")
            .replace("from = 1, to = 2, step = 0.5", "from = 1, to = 2, step = 1"),
    );
    let same = after.iter().filter(|point| before.contains(point)).count();
    assert_eq!(same, 2 * 4 * 2 + 2 * 8 * 2, "those of 2 and 4 CPUs with 1 and 2 tasks a CPU");
    let different: BTreeSet<u64> = before.iter().map(|(_, seed)| *seed).collect();
    assert_eq!(different.len(), before.len());
    let other = seeds(&TEXT.replace("seed = 7", "seed = 8"));
    assert!(other.iter().all(|point| !before.contains(point)));
}

/// Rows: a part of `TEXT`, its replacement, and the line, message and help of the resulting error.
const WRONG: &[(&str, &str, usize, &str, &str)] = &[
    (
        "sweep/1",
        "sweep/9",
        1,
        "the file is not a sweep, or it has another schema",
        "wastenot.sweep/1",
    ),
    ("sets = 20", "sets = 0", 4, "`sets` cannot be `0`", "1 to 100000"),
    ("sets = 20", "set = 20", 4, "no key `set`", "did you mean `sets`"),
    ("[points]", "[point]", 7, "no key `point`", "did you mean `points`"),
    ("cpus = [2, 4]", "cpus = []", 8, "`cpus` has no value", "write a value"),
    ("cpus = [2, 4]", "cpus = [2, 9000]", 8, "9000 CPUs", "1 to 8192"),
    (
        "[2, 4]\ntasks_per_cpu = { from = 1, to = 2, step = 0.5 }",
        "[1, 4]\ntasks_per_cpu = 1",
        22,
        "`message passing` leaves no CPU",
        "larger",
    ),
    ("cpus = [2, 4]", "cpus = [3]", 9, "4.5 tasks", "a whole number"),
    ("step = 0.5 }\ntotal", "step = 0 }\ntotal", 9, "`step` is 0 or negative", "above 0"),
    ("to = 2", "to = 0.5", 9, "range from 1 to 0.5 is empty", "`to`"),
    ("to = 2, ", "", 9, "the range has no end", "to = 10"),
    ("to = 2", "to = 1e9", 9, "too many steps", "make `step` larger"),
    (
        "from = 0.5, step = 0.5",
        "from = 0.5, to = 3, step = 0.5",
        10,
        "cannot have the sum 2.5",
        "2",
    ),
    ("tasks_per_cpu", "tasks = 4\ntasks_per_cpu", 7, "set twice", "tasks_per_cpu"),
    ("\"randfixedsum\"", "\"randfixed\"", 11, "randfixed", "did you mean `randfixedsum`"),
    ("[\"uniform 1-1000 ms\"", "[\"uniform 1-1000\"", 12, "uniform 1-1000", "log-uniform"),
    ("\"gfb\"]", "\"gfp\"]", 15, "no test `gfp`", "did you mean `gfb`"),
    ("\"1ms\"", "\"1ns\"", 16, "is not valid", "1us"),
    ("= \"gedf-mp\"", "= \"gedfmp\"", 24, "implementation `gedfmp`", "did you mean `gedf-mp`"),
    ("= \"gedf-mp\"", "= \"gedf-mp\"\nspare = 0", 25, "`spare` cannot be `0`", "from 1 to 1"),
    (
        "= \"gedf-mp\"",
        "= \"gedf-mp\"\ncluster = 3",
        25,
        "2 CPUs cannot be divided into clusters of 3",
        "divides",
    ),
    ("= \"gedf-mp\"", "= \"gedf-mp\"\ncluster = 1", 22, "leaves no CPU", "larger `cluster`"),
    (
        "overheads = \"table-${cpus}.csv\"\n",
        "",
        21,
        "the implementation `gedf-mp` has no table of overheads",
        "FILE.csv",
    ),
    ("= \"none\"", "= \"none\"\noverheads = \"x\"", 19, "`none` has no overheads", "remove"),
    (
        "\"other table\"",
        "\"no overheads\"",
        25,
        "cannot have the name `no overheads`",
        "different name",
    ),
    ("seed = 7", "criteria = [\"hard\", \"hard\"]", 3, "`criteria` cannot be `hard`", "both"),
    ("seed = 7", "cache_delay = [1, 1.0]", 3, "`cache_delay` contains 1 twice", "remove one"),
    (
        "seed = 7",
        "cache_delay = { from = 0, to = 99, step = 0.01 }",
        3,
        "`cache_delay` has more than 100 values",
        "make `step` larger",
    ),
    ("seed = 7", "cache_delay = 0.0001", 3, "`cache_delay` is 0.0001", "decimals"),
];

#[test]
fn what_is_wrong_is_named_with_its_line_and_what_to_write() {
    for &(from, to, line, what, help) in WRONG {
        assert!(TEXT.contains(from), "{from}");
        let error = read(&TEXT.replacen(from, to, 1)).expect_err(to);
        let (message, advice) = (error.to_string(), error.help());
        let place = format!("folder/two.toml:{line}: ");
        assert!(message.starts_with(&place) && message.contains(what), "{to}: {message}");
        assert!(advice.contains(help), "{to}: {advice}");
    }
}

#[test]
fn deadlines_beyond_periods_are_for_those_who_take_them() {
    let late = TEXT.replace("cpus = [2, 4]", "cpus = [2, 4]\ndeadlines = \"uni-arbitrary\"");
    good(&late);
    let on = |text: &str| read(&text.replace("= \"gsn-edf\"", "= \"linux\""));
    let error = on(&late).expect_err("refused");
    let message = error.to_string();
    let what = "folder/two.toml:28: the implementation `linux` does not support deadlines that are \
                longer than the period";
    assert_eq!(message, what);
    assert!(error.help().contains("`uni-arbitrary`"), "{}", error.help());
    assert!(on(&late.replace("uni-arbitrary", "uni-constrained")).is_ok());
}

#[test]
fn sweeps_that_are_too_large_are_refused_before_they_are_made() {
    let huge = TEXT.replace("cpus = [2, 4]", "cpus = { from = 2, to = 8192, step = 2 }");
    let error = read(&huge).expect_err("too many");
    assert!(error.to_string().contains(&format!("more than {MOST_POINTS} points")), "{error}");
    let wide = TEXT.replace("sets = 20", "sets = 100000").replace("[2, 4]", "[2, 32]");
    let error = read(&wide).expect_err("too many");
    assert!(
        error.to_string().contains("and 10 curves, and each point has 100000 task sets"),
        "{error}"
    );
}
