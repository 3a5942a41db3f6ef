//! Sweeps: what is known of their shares, and that nothing changes them but the file.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::fs;
use std::path::Path;

use wastenot_bounds::overheads::{Curve, Overheads};
use wastenot_bounds::verdict::Reason;
use wastenot_bounds::{Answer, Budget, gedf};
use wastenot_host::store::Error as Kept;
use wastenot_model::Help;
use wastenot_realtime::Error;
use wastenot_realtime::sweep::{NAMES, Outcome, Plan, Shard, Swept, Wanted, Working};
use wastenot_scenario::sweep::{Criterion, Sweep, sweep};

/// Twelve points: 2 numbers of CPUs, 2 of tasks, 3 totals.
const TEXT: &str = r#"
schema = "wastenot.sweep/1"
sets = 10
overheads = "table"
[points]
cpus = [2, 3]
tasks_per_cpu = [2, 3]
total = [1, 1.5, 2]
utilizations = "randfixedsum"
periods = "log-uniform 1-100 ms"
[tests]
rta_step = "1ms"
[[curves]]
name = "free"
implementation = "none"
[[curves]]
name = "free, one CPU less"
implementation = "none"
spare = 1
[[curves]]
name = "one lock"
implementation = "gsn-edf"
[[curves]]
name = "message passing"
implementation = "gedf-mp"
"#;

fn twelve() -> Sweep {
    let sweep = sweep("twelve.toml", TEXT, &NAMES).unwrap_or_else(|e| panic!("{e}: {}", e.help()));
    assert_eq!(sweep.points.len(), 12);
    sweep
}

/// So many us for each thing, and some for each KiB of working set.
fn table(us: u64) -> Overheads {
    let each = || Curve::constant(us * 1_000);
    Overheads {
        schedule: each(),
        switch: each(),
        release: each(),
        ipi: each(),
        handler: each(),
        request: each(),
        cache_delay: Curve::through(vec![(0, 0), (512, 40 * us * 1_000)]).expect("a curve"),
        ..Overheads::default()
    }
}

/// Maxima are ten times the averages.
fn plan(sweep: &Sweep, us: u64) -> Plan<'_> {
    let read = |wanted: &Wanted| {
        assert_eq!(wanted.file, "table");
        let us = if wanted.criterion == Criterion::Hard { 10 * us } else { us };
        Ok::<_, Infallible>(table(us))
    };
    Plan::new(sweep, read).expect("it can be read")
}

fn whole<'s>(plan: &Plan<'s>, how: &Working) -> Swept<'s> {
    match plan.run(how, |_| {}).expect("worked out") {
        Outcome::Whole(swept) => swept,
        Outcome::Part { missing, .. } => panic!("{missing} points are missing"),
    }
}

fn kept(path: &Path) -> Working {
    Working { store: Some(path.to_owned()), shard: None }
}

#[test]
fn neither_threads_nor_shards_nor_a_kill_change_a_byte() {
    let sweep = twelve();
    let plan = plan(&sweep, 10);
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| whole(&plan, &Working::default()).csv())
    };
    let csv = with(1);
    assert_eq!(csv.lines().count(), 1 + 12 * (2 + 2 + 4 + 4));
    assert_eq!(csv, with(2));
    assert_eq!(csv, with(7));

    let folder = tempfile::tempdir().expect("a folder");
    let mut all = String::new();
    for index in 0..3 {
        let path = folder.path().join(format!("{index}.jsonl"));
        let shard = Some(Shard { index, of: 3 });
        let how = Working { store: Some(path.clone()), shard };
        match plan.run(&how, |_| {}).expect("worked out") {
            Outcome::Part { there: 4, missing: 8 } => {}
            other => panic!("{other:?}"),
        }
        all += &fs::read_to_string(&path).expect("rows");
    }
    let path = folder.path().join("all.jsonl");
    fs::write(&path, &all).expect("written");
    assert_eq!(whole(&plan, &kept(&path)).csv(), csv);
    assert_eq!(fs::read_to_string(&path).expect("rows"), all, "nothing is worked out again");
    // The last shard of one file has what the others left there.
    let how = Working { store: Some(path.clone()), shard: Some(Shard { index: 2, of: 3 }) };
    assert_eq!(whole(&plan, &how).csv(), csv);

    // Killed within the sixth row.
    let five: usize = all.split_inclusive('\n').take(5).map(str::len).sum();
    fs::write(&path, &all[..five + 60]).expect("written");
    assert_eq!(whole(&plan, &kept(&path)).csv(), csv);
    let again = fs::read_to_string(&path).expect("rows");
    assert!(again.starts_with(&all[..five]));
    assert_eq!(again.lines().count(), 5 + 1 + 7, "only what was lost is worked out again");
}

#[test]
fn another_experiment_has_other_rows() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("rows.jsonl");
    let mut sweep = twelve();
    let lines = || fs::read_to_string(&path).expect("rows").lines().count();
    whole(&plan(&sweep, 10), &kept(&path));
    assert_eq!(lines(), 12);
    whole(&plan(&sweep, 11), &kept(&path));
    assert_eq!(lines(), 24, "other overheads");
    sweep.seed = 2;
    whole(&plan(&sweep, 10), &kept(&path));
    assert_eq!(lines(), 36, "another seed");
    sweep.tests.budget = 1000;
    whole(&plan(&sweep, 10), &kept(&path));
    assert_eq!(lines(), 48, "another budget");
    // What goes into no row.
    sweep.about = "something else".into();
    sweep.points.truncate(4);
    whole(&plan(&sweep, 10), &kept(&path));
    assert_eq!(lines(), 48);
}

#[test]
fn a_row_that_was_changed_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("rows.jsonl");
    let sweep = twelve();
    let plan = plan(&sweep, 10);
    whole(&plan, &kept(&path));
    let text = fs::read_to_string(&path).expect("rows");
    let (_, letters) = text.split_once("\"verdicts\":[\"").expect("verdicts");
    fs::write(&path, text.replacen(&letters[..10], "A", 1)).expect("written");
    let error = plan.run(&kept(&path), |_| {}).expect_err("changed");
    assert!(matches!(error, Error::Store(Kept::Edited { line: 1, .. })), "{error}");
    assert!(error.help().contains("line"));
}

/// Verdicts of each curve: its letters over all points.
fn letters(swept: &Swept<'_>) -> Vec<String> {
    let curve = |n: usize| swept.rows.iter().map(|row| row.verdicts[n].as_str()).collect();
    (0..swept.rows[0].verdicts.len()).map(curve).collect()
}

#[test]
fn verdicts_are_those_of_the_tests() {
    let sweep = twelve();
    let swept = whole(&plan(&sweep, 10), &Working::default());
    let how = gedf::Rta { step_us: 1_000, fixpoint: false };
    let (mut accepted, mut rejected) = (0, 0);
    for (point, row) in sweep.points.iter().zip(&swept.rows) {
        let maker = point.recipe.maker().expect("a maker");
        for (number, letter) in row.verdicts[0].chars().enumerate() {
            let made = maker.make(point.seed(sweep.seed), number as u64).expect("a set");
            let (set, cpus, budget) = (&made.tasks, point.cpus, &mut Budget(200_000_000));
            let answers = [
                gedf::gfb(set, cpus),
                gedf::bak(set, cpus, budget),
                gedf::bcl(set, cpus, budget),
                gedf::bcli(set, cpus, budget),
                gedf::rta(set, cpus, &how, budget).answer,
                gedf::bar(set, cpus, budget),
                gedf::ff_dbf(set, cpus, budget),
                gedf::load(set, cpus, budget),
            ];
            let is_accepted = answers.contains(&Answer::Accept);
            assert_eq!(letter == 'A', is_accepted, "{point}, set {number}: {letter}");
            *(if is_accepted { &mut accepted } else { &mut rejected }) += 1;
        }
    }
    assert!(accepted > 20 && rejected > 20, "{accepted} and {rejected}");
}

#[test]
fn shares_that_are_known_without_a_test() {
    let sweep = twelve();
    let free = whole(&plan(&sweep, 0), &Working::default());
    let all = letters(&free);
    // In the order of the file: hard and soft without overheads, the same on a CPU less, then one
    // lock and message passing, each hard and soft by two cache delays.
    assert_eq!(all.len(), 12);
    for n in 4..8 {
        assert_eq!(all[n], all[usize::from(n >= 6)], "overheads of 0 are none: {n}");
    }
    for n in 8..12 {
        assert_eq!(all[n], all[2 + usize::from(n >= 10)], "nor are they on a CPU less: {n}");
    }
    for (point, row) in sweep.points.iter().zip(&free.rows) {
        assert_eq!(row.count(1, None), 10, "tardiness is bounded up to U = m");
        let total = point.recipe.total.expect("a total");
        // C is rounded down, so that a sum of 1 or 2 fits as many CPUs.
        let fits = total <= f64::from(point.cpus - 1);
        assert_eq!(row.count(3, None), if fits { 10 } else { 0 }, "{point}");
        assert_eq!(row.count(3, Some(Reason::Utilization)), if fits { 0 } else { 10 }, "{point}");
    }
}

#[test]
fn more_overheads_never_bound_tardiness_that_less_do_not() {
    let sweep = twelve();
    let swept: Vec<Swept<'_>> =
        [0, 5, 50, 500].map(|us| whole(&plan(&sweep, us), &Working::default())).into();
    let soft: Vec<usize> =
        (0..sweep.curves.len()).filter(|&n| sweep.curves[n].criterion == Criterion::Soft).collect();
    let accepted = |swept: &Swept<'_>, n: usize| -> Vec<bool> {
        swept.rows.iter().flat_map(|row| row.accepted(n)).collect()
    };
    let mut fewer = 0;
    for pair in swept.windows(2) {
        for &n in &soft {
            let both: Vec<_> =
                accepted(&pair[0], n).into_iter().zip(accepted(&pair[1], n)).collect();
            assert!(both.iter().all(|&(less, more)| less || !more), "curve {n}");
            fewer += usize::from(both.iter().any(|&(less, more)| less && !more));
        }
    }
    assert!(fewer > 4, "overheads count: {fewer}");
    // 5 ms each: releases alone take a CPU, unless one CPU takes them for all; then jobs are long.
    let last = &swept[3];
    let count = |n, reason| last.rows.iter().map(|row| row.count(n, reason)).sum::<u64>();
    let [one_lock, passing] = [4, 8];
    assert!(count(one_lock, Some(Reason::Interrupts)) > 90);
    assert_eq!(count(passing, Some(Reason::Interrupts)), 0);
    assert!(count(passing, Some(Reason::Density)) > 90);
}

#[test]
fn reports_say_which_curve_is_above_which() {
    let sweep = twelve();
    let swept = whole(&plan(&sweep, 10), &Working::default());
    let report = swept.report();
    assert_eq!(report.verdict, "The sweep judged 120 task sets at 12 points.");
    let curves = report.table("curves").expect("curves");
    assert_eq!(curves.rows.len(), 2 * 12);
    let pairs = report.table("pairs").expect("pairs");
    let show = |row: &[wastenot_model::Value]| {
        let shown = |value: &wastenot_model::Value| value.show(wastenot_model::report::Unit::None);
        row.iter().map(shown).collect::<Vec<_>>()
    };
    let rows: Vec<Vec<String>> = pairs.rows.iter().map(|row| show(row)).collect();
    // 2 numbers of CPUs, of 12 curves all but the first of each criterion.
    assert_eq!(rows.len(), 2 * 10);
    let less = rows.iter().find(|row| row[0] == "2" && row[1] == "free, one CPU less");
    let less = less.expect("a pair");
    assert_eq!((less[4].as_str(), less[5].as_str(), less[6].as_str()), ("free", "below", "0"));
}

#[test]
fn people_see_words_and_numbers_whole_however_long_names_are() {
    let names = [
        ("free, one CPU less", "no overheads, one CPU less"),
        ("one lock", "SCHED_DEADLINE v8"),
        ("message passing", "SCHED_DEADLINE, dedicated interrupts"),
    ];
    let long = |text: String, (name, long): (&str, &str)| text.replace(name, long);
    let text = names.into_iter().fold(TEXT.to_owned(), long);
    let sweep = sweep("long.toml", &text, &NAMES).expect("a sweep");
    let report = whole(&plan(&sweep, 10), &Working::default()).report();
    let text = report.text();
    assert!(text.lines().all(|line| line.chars().count() <= 72), "{text}");
    let heads = ["curve", "cache", "delay", "accepted", "95 % interval", "weighted", "compared"];
    let known: BTreeSet<&str> = names.iter().flat_map(|(_, name)| name.split(' ')).collect();
    for word in heads.into_iter().chain(known) {
        assert!(text.contains(&format!(" {word}")), "{word} is whole\n{text}");
    }
    for part in ["2 CPUs, hard", "2 CPUs, soft", "3 CPUs, hard", "3 CPUs, soft"] {
        assert!(
            text.contains(&format!("Accepted shares on {part}, of 60 sets\n")),
            "{part}\n{text}"
        );
        assert!(text.contains(&format!("Comparison of curves on {part}\n")), "{part}\n{text}");
    }
    // A row of a program's table is one of people's.
    let shown = |title: &str| {
        let tables = report.tables.iter().filter(|table| table.title.starts_with(title));
        tables.map(|table| table.rows.len()).sum::<usize>()
    };
    assert_eq!(shown("Accepted"), report.table("curves").expect("curves").rows.len());
    assert_eq!(shown("Comparison"), report.table("pairs").expect("pairs").rows.len());
}

#[test]
fn a_cluster_of_all_cpus_is_none_and_of_one_is_a_partition() {
    let curve = |name, cluster| {
        format!("[[curves]]\nname = \"{name}\"\nimplementation = \"gsn-edf\"\n{cluster}\n")
    };
    let curves = ["", "cluster = 4", "cluster = 2", "cluster = 1"];
    let curves =
        curves.map(|cluster| curve(if cluster.is_empty() { "all" } else { cluster }, cluster));
    let (head, _) = TEXT.split_once("[[curves]]").expect("curves");
    let text = format!("{head}{}", curves.concat())
        .replace("[2, 3]\ntasks", "4\ntasks")
        .replace("\"table\"", "\"table-${cpus}\"")
        .replace("[1, 1.5, 2]", "[1.5, 2, 3, 4]");
    let sweep = sweep("clusters.toml", &text, &NAMES).unwrap_or_else(|e| panic!("{e}"));
    let asked = RefCell::new(BTreeSet::new());
    let read = |wanted: &Wanted| {
        asked.borrow_mut().insert(wanted.file.clone());
        Ok::<_, Infallible>(table(10))
    };
    let plan = Plan::new(&sweep, read).expect("it can be read");
    let names: Vec<String> = asked.take().into_iter().collect();
    assert_eq!(names, ["table-1", "table-2", "table-4"], "a cluster has the table of its size");
    let swept = whole(&plan, &Working::default());
    let of = |name: &str| {
        let curves = sweep.curves.iter().enumerate().filter(|(_, curve)| curve.name == name);
        let rows = curves.map(|(n, _)| swept.rows.iter().map(move |row| row.verdicts[n].as_str()));
        rows.flatten().collect::<Vec<&str>>()
    };
    assert_eq!(of("all"), of("cluster = 4"));
    let accepted = |name| of(name).concat().matches('A').count();
    // What is sure to hold on one CPU is known best there; who may not move is lost where little
    // room is left, as are halves of tasks.
    let all = ["all", "cluster = 2", "cluster = 1"].map(accepted);
    assert!(all.iter().all(|&it| it > 0 && it < 2 * 8 * 10 * 2 * 2) && all[1] != all[2], "{all:?}");
}
