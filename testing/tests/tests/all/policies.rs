//! Policies in Rota on the scenarios of the seeds.

use std::fs;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use wastenot_experiment::{Bench as _, Grid, Options, Sim};
use wastenot_model::Time;
use wastenot_needs::{files, stem};
use wastenot_scenario::scenario::{Choice, Variant};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn choice(file: &str) -> Choice {
    let mut choice = Choice::named(file);
    wastenot_experiment::resolve(&mut choice, &root()).unwrap_or_else(|error| panic!("{error}"));
    choice
}

/// Every machine and workload of the seeds once, under `scheduler`.
fn seeds(scheduler: &Choice) -> Vec<(String, Variant)> {
    let mut all: Vec<(String, Variant)> = Vec::new();
    for file in files(root().join("scenarios/seeds"), "toml") {
        let name = file.display().to_string();
        let text = fs::read_to_string(&file).expect("a scenario");
        let scenario =
            wastenot_experiment::scenario(&name, &text).unwrap_or_else(|e| panic!("{e}"));
        for variant in scenario.variants {
            let variant = Variant { scheduler: scheduler.clone(), ..variant };
            let is = |other: &Variant| {
                (&other.machine, &other.costs, &other.workload)
                    == (&variant.machine, &variant.costs, &variant.workload)
            };
            if !all.iter().any(|(_, other)| is(other)) {
                all.push((format!("{} {}", scenario.name, variant.name), variant));
            }
        }
    }
    all
}

/// The guarantee of `prove`, checked from outside: counted in attempts, not in ns. Only the
/// beginning of long runs is checked.
#[test]
fn every_violation_is_over_after_an_attempt_and_one_for_each_task_that_others_took() {
    for policy in ["policies/work-stealing.rota", "policies/fair-vtime.rota"] {
        let all = seeds(&choice(policy));
        assert!(all.len() > 43, "{} workloads", all.len());
        all.par_iter().for_each(|(name, variant)| {
            let run = |options: wastenot_sim::Options| {
                Sim.run(variant, &options).unwrap_or_else(|e| panic!("{name}: {e}"))
            };
            let limit = beginning(run);
            let ran = run(wastenot_sim::Options { limit, notes: true, ..Default::default() });
            let charged = wastenot_chance::attempts(&ran.history).expect("it tells its steps");
            assert_eq!(charged.wrong, Vec::<String>::new(), "{policy} {name}");
            let found = wastenot_check::check(&ran.history, &wastenot_check::Options::default());
            assert!(found.waste.cpu_ns == 0 || variant.costs.ipi.0 > 0, "{policy} {name}: waste");
        });
    }
}

/// The simulated time until there are as many rows as a test can handle.
fn beginning(run: impl Fn(wastenot_sim::Options) -> wastenot_experiment::Run) -> Time {
    const ROWS: u64 = 40_000;
    const PROBE: u64 = 50_000_000;
    let ran = run(wastenot_sim::Options { limit: Time(PROBE), ..Default::default() });
    Time((PROBE * ROWS / (ran.outcome.rows as u64 + 1)).min(600_000_000_000))
}

/// Each policy on its own scenario: it does what it is meant for.
#[test]
fn every_policy_has_a_scenario_whose_figures_lie_in_their_bands() {
    let policies: Vec<_> = files(root().join("policies"), "rota").iter().map(stem).collect();
    let scenarios = files(root().join("scenarios/rota"), "toml");
    assert_eq!(policies, scenarios.iter().map(stem).collect::<Vec<_>>());
    scenarios.par_iter().for_each(|file| {
        let name = file.display().to_string();
        let text = fs::read_to_string(file).expect("a scenario");
        let scenario =
            wastenot_experiment::scenario(&name, &text).unwrap_or_else(|e| panic!("{e}"));
        let grid = Grid::new(&scenario, &Sim, &Options::default()).expect("its schedulers exist");
        let experiment = grid.run(|_| {}).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(!experiment.figures.is_empty(), "{name} measures nothing");
        for worked in &experiment.figures {
            let (figure, value) = (&worked.figure.name, worked.value);
            assert_eq!(worked.in_band(), Some(true), "{name}: {figure} is {value:?}");
        }
    });
}
