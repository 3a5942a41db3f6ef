//! Policies that are wrong in one place: a sample of what `make long-mutants` does with all.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use wastenot_prove::Options;
use wastenot_prove::cache::Cache;
use wastenot_prove::explore::Bounds;
use wastenot_prove::solver::{Kind, Places, Solver};
use wastenot_rota::ir::Policy;

use super::fate::{Fate, fate};
use super::{Family, Mutant, OPERATORS, Site, Standing, argument, fates, mutants, standing};

/// Small policies that are quickly explored.
const SAMPLE: [&str; 3] = ["global-fifo", "work-stealing", "fair-vtime"];
/// One mutant of so many is tried.
const EVERY: usize = 5;

/// The solver that is asked, if it is installed.
fn solver(test: &str) -> Option<Solver> {
    let found = Places::from_environment().find(Kind::Z3).expect("a solver, or none");
    if found.is_none() {
        wastenot_needs::skipped(test, "no z3", Kind::Z3.recipe());
    }
    found
}

fn policy(name: &str) -> Policy {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../policies");
    let text = fs::read_to_string(folder.join(name).with_extension("rota")).expect("a text");
    wastenot_rota::compile(&text).expect("it compiles").policies.remove(0)
}

#[test]
fn every_mutant_of_the_sample_is_explained() {
    let Some(solver) = solver("every_mutant_of_the_sample_is_explained") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let cache = Some(Cache::open(folder.path()).expect("a cache"));
    let bounds = Bounds { cpus: 3, tasks: 2, events: 1 };
    let patience = Duration::from_secs(60);
    let options = Options { solvers: vec![solver], cache, patience, bounds };
    let mut refuted = BTreeSet::new();
    for name in SAMPLE {
        let policy = policy(name);
        let made: Vec<Mutant> = mutants(&policy).into_iter().step_by(EVERY).collect();
        let fates = fates(&policy, &made, &options).expect("the solver answers");
        for (mutant, fate) in made.iter().zip(&fates) {
            let Mutant { operator, site, .. } = mutant;
            match standing(mutant, fate) {
                Standing::Unexplained(why) => panic!("{name}: {operator}, {}: {why}", site.text),
                Standing::Refuted(by) => {
                    refuted.insert((mutant.family, by));
                }
                _ => {}
            }
        }
    }
    let wrong = Family::ALL.into_iter().filter(|family| *family != Family::Choice);
    for family in wrong {
        assert!(refuted.iter().any(|(of, _)| *of == family), "{}", family.name());
    }
    assert!(refuted.iter().map(|(_, by)| by).collect::<BTreeSet<_>>().len() >= 2, "{refuted:?}");
}

/// What becomes of a policy if `from` is replaced by `to` in its text.
fn fate_of(name: &str, from: &str, to: &str, options: &Options) -> Fate {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../policies");
    let text = fs::read_to_string(folder.join(name).with_extension("rota")).expect("a text");
    let changed = text.replace(from, to);
    assert_ne!(text, changed, "{from}");
    let policy = |text: &str| wastenot_rota::compile(text).expect("it compiles").policies.remove(0);
    let (original, mutated) = (policy(&text), policy(&changed));
    let site = Site { text: from.to_owned(), span: original.span };
    let mutant = Mutant { operator: "by hand", family: Family::Steps, site, policy: mutated };
    fate(&original, &mutant, options).expect("the solver answers")
}

#[test]
fn only_what_the_original_may_do_is_contained_in_it() {
    let test = "only_what_the_original_may_do_is_contained_in_it";
    let Some(solver) = solver(test) else { return };
    let bounds = Bounds { cpus: 3, tasks: 2, events: 1 };
    let patience = Duration::from_secs(60);
    let options = Options { solvers: vec![solver], cache: None, patience, bounds };
    let contained = |name, from, to| fate_of(name, from, to, &options) == Fate::Contained;
    // A queue of some CPU that the task may use is one of those that `new` may choose.
    assert!(contained(
        "gang",
        "put t in home(t).ready slice until(slot)",
        "\
        let v = argmax v in allowed(t) : queued(v.ready)\nput t in v.ready slice until(slot)"
    ));
    assert!(!contained("gang", "in home(t).ready", "in t.prev.ready"));
    assert!(!contained("gang", "in v.ready", "in here.ready"));
    assert!(!contained("gang", "v in allowed(t)", "v in machine"));
    assert!(!contained(
        "work-stealing",
        "slice slice }\n    on block",
        "wake within llc }\n    on block"
    ));
    // No more is moved, and somebody is.
    assert!(contained("numa-aware", ">= 2 + apart", ">= 3 + apart"));
    assert!(contained("numa-aware", "steal half(queued(v.q) - queued(me.q))", "steal 1"));
    assert!(!contained("numa-aware", ">= 2 + apart", ">= 1 + apart"));
    assert!(!contained(
        "numa-aware",
        "queued(v.q) - queued(me.q) >= 2",
        "queued(v.q) - queued(v.q) >= 2"
    ));
    assert!(!contained("fair-vtime", "level node\n", "level machine\n"));
}

#[test]
fn mutants_differ_from_their_original_and_are_the_same_each_time() {
    for name in SAMPLE {
        let policy = policy(name);
        let made = mutants(&policy);
        assert!(made.iter().all(|mutant| mutant.policy != policy), "{name}");
        let again = mutants(&policy);
        assert!(made.iter().zip(&again).all(|(a, b)| a.policy == b.policy), "{name}");
        assert_eq!(made.len(), again.len(), "{name}");
    }
}

#[test]
fn right_policies_have_no_faults_of_plain_ir() {
    for name in ["cfs-like", "gang", "ule-like", "central-edf", "fair-vtime"] {
        assert_eq!(wastenot_rota::faults(&policy(name)), [], "{name}");
    }
}

#[test]
fn every_operator_has_a_site_in_some_policy() {
    let names = ["work-stealing", "cfs-like", "gang", "fair-vtime"];
    let made: Vec<Mutant> = names.iter().flat_map(|name| mutants(&policy(name))).collect();
    let mute = |name: &&str| !made.iter().any(|mutant| mutant.operator == *name);
    let idle: Vec<&str> = OPERATORS.iter().map(|it| it.name).filter(mute).collect();
    // No right policy joins conditions.
    assert_eq!(idle, ["connective"]);
    assert!(made.iter().any(|mutant| argument(mutant).is_none()));
}
