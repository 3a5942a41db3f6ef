//! Genomes run, searches are the same again, and a published fault is found.

use wastenot_hunt::genome::{CPUS, Genome, KINDS, cross, smaller, vary};
use wastenot_hunt::search::{Outcome, Question, search};
use wastenot_hunt::trial::{self, Seen};
use wastenot_model::workload::Random;
use wastenot_scenario::scenario::Choice;
use wastenot_store::Store;

/// CFS of Linux 4.1 with all published fixes but that of scheduling groups.
fn core0() -> Choice {
    let set = [
        ("groups", "core0"),
        ("imbalance", "minimum"),
        ("numa-levels", "keep"),
        ("wakeup", "longest-idle"),
        ("wake-affine-idle", "after"),
    ];
    let tunables = set.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    Choice { tunables, ..Choice::named("cfs-4.1") }
}

fn runs(genome: &Genome) {
    let choice = core0();
    if let Err(error) = trial::variant(genome, &choice) {
        panic!("{error}\n{}", genome.text(&choice, ""));
    }
    assert!(genome.machine().cpus() <= CPUS && genome.kinds() <= KINDS + 1);
    assert!(genome.longest() <= 30, "{}", genome.text(&choice, ""));
}

#[test]
fn every_genome_is_a_scenario_that_runs() {
    let mut random = Random::stream(7, 0, 0);
    let mut last = Genome::random(&mut random);
    for n in 0..400 {
        let new = Genome::random(&mut random);
        runs(&new);
        last = match n % 4 {
            0 => cross(&last, &new, &mut random),
            _ => vary(&last, &mut random),
        };
        runs(&last);
        if n % 40 == 0 {
            for less in smaller(&last) {
                runs(&less);
                assert!(less.size() < last.size());
            }
            last = new;
        }
    }
}

#[test]
fn what_genomes_do_ends_and_is_seen() {
    let mut random = Random::stream(8, 0, 0);
    let (mut ended, mut wasted) = (0, 0);
    for _ in 0..60 {
        let genome = Genome::random(&mut random);
        let variant = trial::variant(&genome, &core0()).expect("a scenario");
        let seen = trial::look(&variant, 1).expect("a scheduler");
        ended += usize::from(seen.ended == trial::Ended::Done);
        wasted += usize::from(seen.waste_ns > 0);
        let of_causes: u64 = seen.causes.iter().map(|it| it.ns).sum();
        assert_eq!(of_causes, seen.waste_ns, "causes sum to the waste");
    }
    assert!(ended > 30 && wasted > 10, "{ended} ended, {wasted} wasted");
}

fn hunt(trials: u64, findings: usize, store: Option<&Store<Seen>>) -> Outcome {
    let question = Question { choice: core0(), seed: 1, trials, findings, cause: None };
    search(&question, store, &|| false, &|_| ()).expect("a search")
}

fn said(outcome: &Outcome) -> String {
    let found = |(it, trials): &(wastenot_hunt::finding::Finding, u64)| format!("{it:?} {trials}");
    let all = [&outcome.search, &outcome.random].into_iter().flat_map(|arm| &arm.found);
    let archive: Vec<String> = outcome
        .search
        .archive
        .iter()
        .map(|(niche, elite)| format!("{niche:?} {elite:?}"))
        .collect();
    format!("{:?} {archive:?} {:?}", all.map(found).collect::<Vec<_>>(), outcome.shrunk)
}

#[test]
fn a_search_is_the_same_again_with_any_number_of_threads_and_after_a_kill() {
    let with =
        |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    let first = with(1).install(|| said(&hunt(128, 1, None)));
    assert_eq!(with(3).install(|| said(&hunt(128, 1, None))), first);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("results");
    // It was killed after the first generation, within a line.
    hunt(64, 1, Some(&Store::open(&file).expect("a store")));
    let bytes = std::fs::read(&file).expect("lines");
    std::fs::write(&file, &bytes[..bytes.len() * 2 / 3]).expect("written");
    let store = Store::open(&file).expect("a store");
    assert_eq!(said(&hunt(128, 1, Some(&store))), first);
}

#[test]
fn groups_that_are_built_from_one_cpus_view_are_found_and_shrunk() {
    let outcome = hunt(400, 1, None);
    let finding = outcome.shrunk.first().expect("a finding");
    assert_eq!(finding.cause, "scheduler/balancing/beyond-one-hop");
    assert_eq!(finding.control.words(), "groups=own-balanced");
    let genome = &finding.genome;
    assert!(genome.machine().cpus() <= 8 && genome.machine().nodes == 3, "{:?}", genome.machine());
    assert!(genome.kinds() <= 4 && genome.longest() <= 10);
    // What is written shows it, as `wastenot run` reads it.
    let text = finding.text(&core0());
    let scenario = wastenot_experiment::scenario("found.toml", &text).expect("a scenario");
    let bench = wastenot_experiment::Sim;
    let grid = wastenot_experiment::Grid::new(&scenario, &bench, &Default::default());
    let experiment = grid.expect("a grid").run(|_| ()).expect("runs");
    let report = wastenot_experiment::report(&[experiment]);
    assert!(report.verdict.contains("lies in its band"), "{}", report.verdict);
}
