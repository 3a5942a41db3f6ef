//! The policies that come with the project: the right ones are proved, the wrong ones refuted, by
//! every solver and, where small machines show it, by none.

use std::path::{Path, PathBuf};
use std::time::Duration;

use wastenot_prove::explore::Bounds;
use wastenot_prove::solver::Solver;
use wastenot_prove::{Options, Outcome, Scope, judge};
use wastenot_rota::ir::Program;

use crate::solvers::solvers;

pub(crate) fn texts(folder: &str) -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../policies").join(folder);
    let all = wastenot_needs::texts(folder, "rota");
    assert!(all.len() >= 11, "{}", all.len());
    all
}

fn program(text: &str) -> Program {
    wastenot_rota::compile(text).expect("it compiles")
}

fn options(solvers: Vec<Solver>, cpus: usize) -> Options {
    let bounds = Bounds { cpus, ..Bounds::default() };
    Options { patience: Duration::from_secs(60), ..crate::texts::options(solvers, bounds) }
}

#[test]
fn right_policies_are_proved_for_any_number_of_cpus() {
    let solvers = solvers("right_policies_are_proved_for_any_number_of_cpus");
    if solvers.is_empty() {
        return;
    }
    for (path, text) in texts("") {
        for policy in &program(&text).policies {
            assert!(policy.protocol.is_safe() && !policy.claims.is_empty(), "{}", path.display());
            for verdict in judge(policy, &options(solvers.clone(), 3)).expect("solvers answer") {
                let claim = verdict.claim.kind.name();
                let proved = matches!(verdict.outcome, Outcome::Proved(Scope::Any));
                assert!(proved, "{} {claim}: {:?}", path.display(), verdict.outcome);
            }
        }
    }
}

#[test]
fn nothing_goes_wrong_with_right_policies_on_small_machines() {
    for (path, text) in texts("") {
        for policy in &program(&text).policies {
            for verdict in judge(policy, &options(Vec::new(), 2)).expect("no solver runs") {
                let claim = verdict.claim.kind.name();
                let refuted =
                    matches!(verdict.outcome, Outcome::Refuted(_) | Outcome::Contradicted(_));
                assert!(!refuted, "{} {claim}: {:?}", path.display(), verdict.outcome);
            }
        }
    }
}

#[test]
fn wrong_policies_are_refuted_as_they_say() {
    for (path, text) in texts("wrong") {
        let program = program(&text);
        let [policy] = program.policies.as_slice() else { panic!("one policy a file") };
        let options = options(Vec::new(), 4);
        for verdict in judge(policy, &options).expect("no solver runs") {
            let by = match &verdict.outcome {
                Outcome::Refuted(found) => {
                    let (cpus, _) = found.size();
                    assert!(cpus <= 4, "{}", path.display());
                    assert!(!found.steps_in_words(policy).is_empty(), "{}", path.display());
                    let history = found.history(policy, verdict.claim.kind.name(), &text);
                    assert_eq!(history.cpu_count(), cpus, "{}", path.display());
                    assert!(history.annexes.iter().any(|annex| annex.table.name == "steps"));
                    "explorer"
                }
                Outcome::Contradicted(_) => "type",
                other => panic!("{}: {other:?}", path.display()),
            };
            let says = format!("// Refuted by: {by}.");
            assert!(text.contains(&says), "{} is refuted by the {by}", path.display());
        }
    }
}

#[test]
fn no_solver_proves_what_is_wrong() {
    for solver in solvers("no_solver_proves_what_is_wrong") {
        for (path, text) in texts("wrong") {
            let policy = &program(&text).policies[0];
            for verdict in judge(policy, &options(vec![solver.clone()], 4)).expect("an answer") {
                let refuted =
                    matches!(verdict.outcome, Outcome::Refuted(_) | Outcome::Contradicted(_));
                assert!(refuted, "{} {:?}", path.display(), verdict.outcome);
                let holds = verdict.obligations.iter();
                let holds = holds.filter(|it| it.finding == wastenot_prove::Finding::Holds);
                assert!(holds.count() < verdict.obligations.len(), "{}", path.display());
            }
        }
    }
}
