//! The scenarios of the seeds: the same History everywhere, and the properties that must hold at
//! every seed. docs/results/seeds.md compares their results with the published numbers.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use wastenot_experiment::{Bench as _, Experiment, Grid, Options, Sim};
use wastenot_model::{CpuId, Decision, Span, Time};

const GOLDEN: &str = "golden/simulate.txt";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every scenario of the seeds by name, run with seed 1.
fn experiments() -> Vec<Experiment> {
    let files = wastenot_needs::files(root().join("scenarios/seeds"), "toml");
    files.iter().map(|file| run(file, &Options { seeds: vec![1], ..Options::default() })).collect()
}

fn run(file: &Path, options: &Options) -> Experiment {
    let name = file.display().to_string();
    let text = fs::read_to_string(file).expect("a scenario");
    let scenario = match wastenot_scenario::scenario(&name, &text) {
        Ok(scenario) => scenario,
        Err(error) => panic!("{error}"),
    };
    let grid = Grid::new(&scenario, &Sim, options).expect("its scheduler exists");
    grid.run(|_| {}).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// One pass over all scenarios, since running them takes a while.
#[test]
fn every_scenario_gives_the_history_it_always_gave_and_the_required_orderings() {
    let all = experiments();
    golden(&all);
    let value = |scenario: &str, figure: &str| -> f64 {
        let found = all.iter().find(|experiment| experiment.scenario == scenario);
        let figure = found.and_then(|experiment| experiment.figure(figure));
        let value = figure.and_then(|worked| worked.value);
        value.unwrap_or_else(|| panic!("{scenario}: no value"))
    };
    // spec of the seeds, 2.5: the finer the grain, the more a fault costs.
    for family in ["scheduling-groups", "missing-domains"] {
        let ratio = |app: &str| value(&format!("{family}-{app}"), "ratio");
        let (lu, ua, cg, bt) = (ratio("lu"), ratio("ua"), ratio("cg"), ratio("bt"));
        assert!(lu > ua && ua > cg && cg > bt, "{family}: lu {lu} ua {ua} cg {cg} bt {bt}");
        assert!(bt > 0.97 * ratio("ep"), "{family}: bt {bt} ep {}", ratio("ep"));
    }
    each_fix_takes_the_waste_away(&all);
    for name in ["overload-on-wakeup-q18", "overload-on-wakeup-full"] {
        assert!(value(name, "busy-wakeups") > 0.0, "{name}: the fault does not show");
        assert_eq!(value(name, "busy-wakeups-left"), 0.0, "{name}");
    }
    assert_eq!(value("wake-affine-ua", "prev-idle-wakeups-left"), 0.0);
}

/// Each fix removes nine tenths of the waste. With all fixes together, a program takes almost as
/// little time as with a CPU for each thread.
fn each_fix_takes_the_waste_away(all: &[Experiment]) {
    // Jobs that return from I/O wait until an idle CPU of another node balances: the fault of
    // wakeups, which is not fixed there.
    const KNOWN: &[(&str, f64)] = &[("group-imbalance-make", 0.3)];
    let (mut faults, mut apps) = (0, 0);
    for experiment in all {
        let name = experiment.scenario.as_str();
        let value = |figure| experiment.figure(figure).and_then(|worked| worked.value);
        if let Some(left) = value("waste-left") {
            let known = KNOWN.iter().find(|known| known.0 == name);
            let most = known.map_or(0.1, |known| known.1);
            assert!(left <= most, "{name}: {left} of the waste is left");
            faults += 1;
        }
        if let Some(ratio) = value("all-fixes") {
            assert!((0.97..=1.03).contains(&ratio), "{name}: {ratio} of the time when pinned");
            apps += 1;
        }
    }
    assert_eq!((faults, apps), (22, 18), "figures that say so");
}

/// Compares the digests of all Histories with the committed ones. The file holds for every profile:
/// `make long-seeds` compares the same in release builds.
fn golden(all: &[Experiment]) {
    let mut text = String::new();
    for experiment in all {
        for variant in &experiment.variants {
            let digest = variant.cells[0].digest;
            let _ = writeln!(text, "{digest:016x} {} {}", experiment.scenario, variant.name);
        }
    }
    wastenot_golden::holds(Path::new(env!("CARGO_MANIFEST_DIR")).join(GOLDEN), &text);
}

/// A decision of a CPU: its time, the CPUs that it considered, and its result.
type Decided = (u64, String, String);

/// What CPU 0 decided up to 0.7 s.
fn decisions(scenario: &str, variant: &str) -> Vec<Decided> {
    let file = root().join("scenarios/seeds").join(scenario).with_extension("toml");
    let text = fs::read_to_string(file).expect("a scenario");
    let scenario = wastenot_scenario::scenario(scenario, &text).expect("a scenario");
    let variant = scenario.variants.iter().find(|it| it.name == variant).expect("a variant");
    let limit = Time(Span::ms(700).0);
    let options = wastenot_sim::Options { limit, notes: true, ..Default::default() };
    let ran = Sim.run(variant, &options).expect("it runs");
    let all = ran.history.decisions().expect("decisions");
    let of_0 = all.filter(|it| it.cpu == CpuId(0) && it.what != Decision::DOMAIN);
    of_0.map(|it| (it.time.0, it.considered.to_string(), it.outcome.to_owned())).collect()
}

/// Figure 5 of "A Decade of Wasted Cores": core 0 balances every 4 ms in vain, since it considers
/// only its sibling and its node.
#[test]
fn without_levels_between_nodes_a_cpu_looks_at_its_own_node_only() {
    let mut lost = decisions("missing-domains-bt", "bug");
    lost.retain(|(time, ..)| *time >= 200_000_000); // from when all threads exist
    for (time, cpus, outcome) in &lost {
        assert!(["0-1", "0-7"].contains(&cpus.as_str()), "at {time} ns: {cpus}");
        assert_eq!(outcome, "balanced", "at {time} ns");
    }
    let sibling = lost.iter().filter(|(_, cpus, _)| cpus == "0-1").map(|(time, ..)| *time);
    let sibling: Vec<u64> = sibling.collect();
    let each_tick = sibling.windows(2).filter(|two| two[1] - two[0] == 4_000_000).count();
    assert!(each_tick * 10 > sibling.len() * 8, "{each_tick} of {} after 4 ms", sibling.len());
    let kept = decisions("missing-domains-bt", "fix");
    assert!(kept.iter().any(|(_, cpus, _)| cpus == "0-63"), "all nodes where levels are kept");
}
