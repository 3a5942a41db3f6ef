//! Schedulers that fail in real kernels, and those that are compared.

use std::fs;

use wastenot_experiment::{
    Bench, Change, Error, Experiment, Fault, Grid, Options, Run, Sim, compared, report_with,
};
use wastenot_scenario::scenario::{Scenario, Variant};

use crate::Double;

/// A task whose time the bench sets, by the seed.
const TEXT: &str = r#"
schema = "wastenot.scenario/1"
machine = "flat(1,2)"
limit = "10s"
scheduler = { name = "global-fifo" }

[[tasks]]
name = "one"
program = ["compute 5ms +-50%"]

[[figures]]
name = "completion"
measure = "completion"
"#;

fn scenario() -> Scenario {
    wastenot_scenario::scenario("one.toml", TEXT).expect("a scenario")
}

/// A bench that has run all before. Its scheduler was ended with the seed `fault`, the run of the
/// seed `lost` was lost, and `other` is added to each seed.
fn ended(name: &'static str, fault: u64, lost: u64, other: u64) -> impl Bench {
    let run = move |variant: &Variant, options: &wastenot_sim::Options| {
        if options.seed == lost {
            return Err(Error::Bench { what: "lost".into(), help: String::new() });
        }
        if options.seed == fault {
            let fault = Fault {
                what: "the kernel ended foo".into(),
                help: "mend it".into(),
                after_ns: Some(7),
                dump: None,
                lines: vec!["disabled".into()],
            };
            return Ok(Run::faulty(variant.machine.clone(), fault));
        }
        let seed = options.seed + other;
        Sim.run(variant, &wastenot_sim::Options { seed, ..options.clone() })
    };
    Double { name, fits: |variant| Sim.fits(variant), run }
}

fn ran(bench: &dyn Bench, seeds: u64) -> Result<Experiment, Error> {
    let options = Options { seeds: (1..=seeds).collect(), ..Options::default() };
    Grid::new(&scenario(), bench, &options).expect("a grid").run(|_| ())
}

#[test]
fn a_scheduler_that_was_ended_is_a_result_and_the_other_runs_give_the_figures() {
    let bench = ended("7.2 foo", 2, 0, 0);
    let experiment = ran(&bench, 3).expect("a result");
    assert!(experiment.has_fault());
    let figure = experiment.figure("completion").expect("a figure");
    let known: Vec<bool> = figure.values.iter().map(Option::is_some).collect();
    assert_eq!(known, [true, false, true]);
    assert!(figure.value.is_some());
    let report = report_with(&[experiment], &[]);
    assert!(
        report.verdict.starts_with("Linux 7.2 foo: the kernel ended foo (in 1 of 3 runs). "),
        "{}",
        report.verdict
    );
    assert!(!report.verdict.contains("limit"), "{}", report.verdict);
    let faults = report.tables.iter().find(|it| it.name == "faults").expect("a table");
    assert_eq!((faults.rows.len(), faults.rows[0][2].int()), (1, Some(2)));
}

#[test]
fn a_run_that_is_lost_does_not_lose_those_that_came_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("cells.jsonl");
    let store = Some(path.clone());
    let options = Options { seeds: (1..=4).collect(), store, ..Options::default() };
    let bench = ended("7.2 foo", 3, 1, 0);
    let scenario = scenario();
    let grid = Grid::new(&scenario, &bench, &options).expect("a grid");
    grid.run(|_| ()).expect_err("one is lost");
    let stored = fs::read_to_string(&path).expect("the cells");
    assert_eq!(stored.lines().count(), 3, "{stored}");
}

#[test]
fn figures_of_two_schedulers_are_told_apart_by_their_ranks() {
    let of = |name, other| ran(&ended(name, 0, 0, other), 6).expect("a result");
    let (before, same) = (of("7.2", 0), of("7.2 foo", 0));
    let alike = compared(&before, &same);
    assert_eq!((alike[0].change, alike[0].chance), (Change::NotTold, 1.0));
    let mut worse = of("7.2 foo", 0);
    let figure = &mut worse.figures[0];
    figure.values.iter_mut().flatten().for_each(|value| *value *= 10.0);
    figure.value = figure.value.map(|value| value * 10.0);
    let found = compared(&before, &worse);
    assert_eq!(found[0].change, Change::Worse);
    assert!(found[0].sentence().ends_with(", worse (p = 0.002)"), "{}", found[0].sentence());
    let verdict = report_with(&[before, worse], &[(0, 1)]).verdict;
    assert!(verdict.contains("7.2 foo compared with 7.2: completion: "), "{verdict}");
    assert_eq!(compared(&same, &of("7.2 bar", 0)).len(), 1);
    let few = [of("7.2", 0), of("7.2 foo", 9)].map(|mut it| {
        it.variants[0].cells.truncate(3);
        it.figures[0].values.truncate(3);
        it
    });
    let said = report_with(&few, &[(0, 1)]).assumptions;
    assert!(said.iter().any(|it| it.contains("needs at least 4 runs per scheduler")), "{said:?}");
}
