//! Real solvers, where there are any: those of this machine, and any that are named.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use wastenot_needs::skipped;
use wastenot_prove::Error;
use wastenot_prove::cache::Cache;
use wastenot_prove::smt::{
    Script, Sort, and, at_most, call, distinct, equal, exists, forall, int, less, name, not,
};
use wastenot_prove::solver::{Answer, Kind, Places, Seek, Solver, ask_all};

const TIMEOUT: Duration = Duration::from_secs(60);

/// Those that are there; says which are not.
pub(crate) fn solvers(test: &str) -> Vec<Solver> {
    let places = Places::from_environment();
    let mut found = Vec::new();
    for kind in [Kind::Z3, Kind::Cvc5] {
        match places.find(kind).unwrap() {
            Some(solver) => found.push(solver),
            None => skipped(test, &format!("no {}", kind.name()), kind.recipe()),
        }
    }
    found
}

/// Every CPU has less than `limit`, and two differ.
fn two_differ(limit: i64) -> Script {
    let mut script = Script::new("Can two counts differ?");
    let cpu = || Sort::named("Cpu");
    let queued = |cpu: &str| call("queued", [name(cpu)]);
    script.sort("Cpu").declare("queued", [cpu()], Sort::Int);
    script.declare("a", [], cpu()).declare("b", [], cpu());
    let counts = and([at_most(int(0), queued("c")), less(queued("c"), int(limit))]);
    script.assert("Counts are small.", forall([("c", cpu())], counts));
    script.assert("Two differ.", distinct([queued("a"), queued("b")]));
    script
}

#[test]
fn a_model_is_an_instance() {
    for solver in solvers("a_model_is_an_instance") {
        let reply = solver.ask(&two_differ(2), Seek::Model, TIMEOUT).unwrap();
        let Answer::Sat(model) = reply.answer else { panic!("{solver}: {:?}", reply.answer) };
        let count = |cpu| model.int("queued", &[model.value(cpu, &[]).unwrap()]).unwrap();
        let mut counts = [count("a"), count("b")];
        counts.sort();
        assert_eq!(counts, [0, 1], "{solver}");
    }
}

#[test]
fn what_cannot_hold_is_refuted_and_cvc5_says_why() {
    for solver in solvers("what_cannot_hold_is_refuted_and_cvc5_says_why") {
        for seek in [Seek::Model, Seek::Refutation, Seek::Proof] {
            let reply = solver.ask(&two_differ(1), seek, TIMEOUT).unwrap();
            assert_eq!(reply.answer, Answer::Unsat, "{solver} {seek:?}");
            let proved = seek == Seek::Proof && solver.gives_proofs();
            assert_eq!(reply.proof.is_some(), proved, "{solver} {seek:?}");
        }
    }
}

#[test]
fn solvers_agree() {
    let solvers = solvers("solvers_agree");
    for (limit, word) in [(1, "unsat"), (2, "sat")] {
        for reply in ask_all(&solvers, &two_differ(limit), |one| {
            one.ask(&two_differ(limit), Seek::Model, TIMEOUT)
        })
        .unwrap()
        {
            assert_eq!(reply.answer.word(), word);
        }
    }
}

#[test]
fn an_answer_is_kept_and_not_asked_for_again() {
    for solver in solvers("an_answer_is_kept_and_not_asked_for_again") {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path()).unwrap();
        let asked = |limit, seek| cache.ask(&solver, &two_differ(limit), seek, TIMEOUT).unwrap();
        let first = asked(2, Seek::Model);
        // The time that the solver took tells the kept answer from a new one.
        assert_eq!(asked(2, Seek::Model), first, "{solver}");
        assert_ne!(asked(1, Seek::Model).answer, first.answer, "{solver}");
        assert_eq!(asked(2, Seek::Model), first, "{solver}");
        let scripts = [two_differ(1), two_differ(2)];
        let each = || cache.ask_each(&solver, &scripts, Seek::Model, TIMEOUT).unwrap();
        let both = each();
        assert_eq!(both.len(), 2, "{solver}");
        assert_eq!(each(), both, "{solver}");
    }
}

#[test]
fn a_script_that_means_nothing_is_refused() {
    for solver in solvers("a_script_that_means_nothing_is_refused") {
        let mut script = Script::new("Who is foo?");
        script.assert("", name("foo"));
        let error = solver.ask(&script, Seek::Refutation, TIMEOUT).unwrap_err();
        assert!(matches!(&error, Error::Refused { why, .. } if why.contains("foo")), "{error}");
    }
}

/// Sums of cubes: no solver answers that soon.
#[test]
fn no_answer_in_time_is_an_answer() {
    for solver in solvers("no_answer_in_time_is_an_answer") {
        let script = "(set-logic ALL)(declare-fun x () Int)(declare-fun y () Int)\
            (declare-fun z () Int)(assert (= (+ (* x x x) (* y y y) (* z z z)) 114))\
            (check-sat)";
        let reply = solver.ask_text(script, Seek::Refutation, Duration::from_millis(500)).unwrap();
        assert!(matches!(reply.answer, Answer::Unknown(_)), "{solver}: {:?}", reply.answer);
        assert!(reply.took < Duration::from_secs(30), "{solver}");
    }
}

/// A program that says that it is a solver, and then does this.
fn fake(folder: &Path, kind: Kind, does: &str) -> Solver {
    let says = match kind {
        Kind::Z3 => "Z3 version 9.9 - 64 bit",
        Kind::Cvc5 => "This is cvc5 version 9.9 [git]",
    };
    let program = folder.join(kind.name());
    let script =
        format!("#!/bin/sh\nif [ \"$1\" = --version ]; then echo '{says}'; exit; fi\n{does}");
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let places = Places { path: folder.into(), ..Places::default() };
    let solver = places.find(kind).unwrap().unwrap();
    assert_eq!((solver.program(), solver.version.as_str()), (program.as_path(), "9.9"));
    solver
}

#[test]
fn a_solver_that_crashes_or_talks_nonsense_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let error = |does| {
        let solver = fake(folder.path(), Kind::Z3, does);
        solver.ask(&two_differ(1), Seek::Model, TIMEOUT).unwrap_err()
    };
    let crashed = error("echo ouch >&2; kill -SEGV $$");
    assert!(matches!(&crashed, Error::Crashed { signal: 11, said, .. } if said == "ouch"));
    let garbage = error("echo saturday");
    assert!(matches!(&garbage, Error::Garbage { said, .. } if said == "saturday"), "{garbage}");
    let endless = error("yes '(' | head -c 3000000");
    assert!(matches!(&endless, Error::Garbage { said, .. } if said.len() <= 200), "{endless}");
    assert!(matches!(error("echo sat; echo '((define-fun'"), Error::Garbage { .. }));
    assert!(matches!(error("exit 3"), Error::Garbage { .. }));
}

#[test]
fn solvers_that_contradict_each_other_are_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let unsat = fake(folder.path(), Kind::Z3, "echo unsat");
    let unknown = fake(folder.path(), Kind::Cvc5, "echo unknown");
    let both = |other: &Solver| {
        ask_all(&[unsat.clone(), other.clone()], &two_differ(1), |one| {
            one.ask(&two_differ(1), Seek::Refutation, TIMEOUT)
        })
    };
    assert_eq!(both(&unknown).unwrap().len(), 2);
    let sat = fake(folder.path(), Kind::Cvc5, "echo sat");
    let error = both(&sat).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("two solvers disagree: cvc5 9.9 answers sat, but z3 9.9 answers unsat"),
        "{error}"
    );
}

#[test]
fn unknown_sorts_of_any_size_are_no_hindrance() {
    let mut script = Script::new("Is there a first CPU that is not first?");
    let cpu = || Sort::named("Cpu");
    script.sort("Cpu").declare("first", [cpu()], Sort::Bool);
    let all = forall([("c", cpu())], call("first", [name("c")]));
    script.assert("", all);
    script.assert("", exists([("c", cpu())], not(call("first", [name("c")]))));
    script.assert("", equal(int(-1), int(-1)));
    for solver in solvers("unknown_sorts_of_any_size_are_no_hindrance") {
        let reply = solver.ask(&script, Seek::Refutation, TIMEOUT).unwrap();
        assert_eq!(reply.answer, Answer::Unsat, "{solver}");
    }
}
