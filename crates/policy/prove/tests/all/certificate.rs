//! Certificates: whatever one solver showed, another shows from the folder alone, and nothing can
//! be left out of it.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use wastenot_host::sha256;
use wastenot_model::Help;
use wastenot_prove::certificate::{
    Again, Expected, Manifest, SCHEMA, Shown, manifest, recheck, write,
};
use wastenot_prove::solver::{Answer, Seek, Solver};
use wastenot_prove::{Error, Judgement, Options, judge};

use crate::solvers::solvers;
use crate::texts::{TWO, options};

const TIMEOUT: Duration = Duration::from_secs(60);
const WS: &str = include_str!("../../../../../policies/work-stealing.rota");

/// A certificate of all that a text claims.
fn certified(text: &str, solvers: &[Solver]) -> (TempDir, Manifest) {
    let program = wastenot_rota::compile(text).expect("it compiles");
    let options = Options { patience: TIMEOUT, ..options(solvers.to_vec(), TWO) };
    let judged = program.policies.iter().map(|policy| {
        let verdicts = judge(policy, &options).expect("an answer");
        Judgement { policy: Some(policy), verdicts, warnings: Vec::new() }
    });
    let judged: Vec<Judgement<'_>> = judged.collect();
    let folder = tempfile::tempdir().unwrap();
    let written = write(folder.path(), ("p.rota", text), &judged, solvers, TIMEOUT).unwrap();
    (folder, written)
}

fn standings(again: &Again) -> Vec<(&str, Option<bool>)> {
    again.claims.iter().map(|claim| (claim.claim.as_str(), claim.shown)).collect()
}

#[test]
fn one_solver_shows_what_another_showed_from_the_folder_alone() {
    let solvers = solvers("one_solver_shows_what_another_showed_from_the_folder_alone");
    for solver in &solvers {
        let (folder, written) = certified(WS, std::slice::from_ref(solver));
        assert!(written.holds(), "{solver}");
        assert_eq!(manifest(folder.path()).unwrap(), written);
        assert_eq!(written.schema, SCHEMA);
        let again = recheck(folder.path(), &solvers, TIMEOUT).unwrap();
        let count = written.claims.iter().flat_map(|claim| &claim.obligations);
        let asked = count.filter(|it| matches!(it.shown, Shown::Solvers(_))).count();
        assert_eq!(again.answers.len(), asked * solvers.len());
        assert!(again.answers.iter().all(|said| said.holds()), "{again:?}");
        let program = wastenot_rota::compile(WS).expect("it compiles");
        let claims = program.policies[0].claims.iter();
        let shown: Vec<_> = claims.map(|claim| (claim.kind.name(), Some(true))).collect();
        assert_eq!(standings(&again), shown);
    }
}

/// A user can check it with the folder and a solver, without wastenot.
#[test]
fn another_program_reads_from_the_manifest_which_files_have_to_be_unsat() {
    for solver in solvers("another_program_reads_from_the_manifest_which_files_have_to_be_unsat") {
        let (folder, _) = certified(WS, std::slice::from_ref(&solver));
        let read = |file: &str| fs::read_to_string(folder.path().join(file)).unwrap();
        let listed: Value = serde_json::from_str(&read("manifest.json")).unwrap();
        assert_eq!(read(listed["text"]["file"].as_str().unwrap()), WS);
        let all = |value: &Value, key: &str| value[key].as_array().expect(key).clone();
        let mut unsat = 0;
        for claim in all(&listed, "claims") {
            for obligation in all(&claim, "obligations") {
                match obligation["by"].as_str().expect("text") {
                    "text" => assert_eq!(obligation["holds"], true, "{obligation}"),
                    "solvers" => {
                        assert_eq!(obligation["expected"], "unsat", "{obligation}");
                        let script = &obligation["script"];
                        let text = read(script["file"].as_str().expect("a file"));
                        assert_eq!(script["sha256"], sha256(text.as_bytes()).as_str());
                        let reply = solver.ask_text(&text, Seek::Refutation, TIMEOUT).unwrap();
                        assert_eq!(reply.answer, Answer::Unsat);
                        unsat += 1;
                    }
                    other => panic!("{other}"),
                }
            }
        }
        assert!(unsat > 20, "{unsat}");
    }
}

#[test]
fn what_does_not_hold_has_a_certificate_too() {
    let wrong = WS.replace("queued(v.ready) >= 1", "queued(v.ready) >= 2");
    for solver in solvers("what_does_not_hold_has_a_certificate_too") {
        let one = std::slice::from_ref(&solver);
        let (folder, written) = certified(&wrong, one);
        assert!(!written.holds());
        let again = recheck(folder.path(), one, TIMEOUT).unwrap();
        assert!(again.answers.iter().all(|said| said.holds()), "{again:?}");
        assert!(again.answers.iter().any(|said| said.expected != Expected::Unsat));
        assert!(standings(&again).contains(&("work_conservation", Some(false))));
    }
}

/// Changes the manifest, and says why it is refused then.
fn refused(folder: &Path, change: impl FnOnce(&mut Value)) -> Error {
    let copy = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(folder).unwrap() {
        let file = entry.unwrap();
        fs::copy(file.path(), copy.path().join(file.file_name())).unwrap();
    }
    let place = copy.path().join("manifest.json");
    let mut listed: Value = serde_json::from_slice(&fs::read(&place).unwrap()).unwrap();
    change(&mut listed);
    fs::write(place, listed.to_string()).unwrap();
    recheck(copy.path(), &[], TIMEOUT).unwrap_err()
}

#[test]
fn what_a_claim_follows_from_cannot_be_left_out_or_changed() {
    let (folder, written) = certified(WS, &[]);
    let again = recheck(folder.path(), &[], TIMEOUT).unwrap();
    assert!(again.answers.is_empty() && !written.holds(), "no solver showed anything");
    let conserves =
        |claim: &wastenot_prove::certificate::Claimed| claim.claim == "work_conservation";
    let claim = written.claims.iter().position(conserves).expect("it is claimed");
    let count = written.claims[claim].obligations.len();
    let unlike = |change: &dyn Fn(&mut Vec<Value>)| {
        let error = refused(folder.path(), |listed| {
            change(listed["claims"][claim]["obligations"].as_array_mut().unwrap());
        });
        let Error::Unlike { faults, .. } = &error else { panic!("{error}") };
        assert!(!error.to_string().contains('\n'), "it is told on one line: {error}");
        assert!(error.help().contains("--certificate"), "{}", error.help());
        faults.clone()
    };
    for n in 0..count {
        let missing = &written.claims[claim].obligations[n];
        let says =
            format!("`ws`, work_conservation: {} is missing: {}", missing.name, missing.what);
        assert_eq!(unlike(&|all| drop(all.remove(n))), [says]);
    }
    assert_eq!(unlike(&Vec::clear).len(), count);
    assert!(unlike(&|all| all.push(all[0].clone()))[0].ends_with("does not belong to this claim"));
    // A question that shows more easily is another one.
    let asked = |of: &Value| of["by"] == "solvers";
    let other = unlike(&|all| {
        let n = all.iter().position(asked).expect("something is asked");
        let last = all.iter().rposition(asked).expect("something is asked");
        all[n]["script"] = all[last]["script"].clone();
    });
    assert!(other.len() == 1 && other[0].contains("is different"), "{other:?}");
    let text = unlike(&|all| {
        let n = all.iter().position(asked).expect("something is asked");
        let Value::Object(one) = &mut all[n] else { panic!("{all:?}") };
        one.insert("by".into(), "text".into());
        one.insert("holds".into(), true.into());
    });
    assert!(text[0].contains("is different"), "{text:?}");
    // A claim that is left out is one that is not spoken of.
    let error =
        refused(folder.path(), |listed| listed["claims"][claim]["claim"] = "settles".into());
    let Error::Unlike { faults, .. } = &error else { panic!("{error}") };
    assert!(faults[0].ends_with("settles: the policy does not have this claim"), "{faults:?}");
    let place = folder.path().join("manifest.json");
    // Another version words the obligations otherwise.
    let mut other = written.clone();
    let claims = other.claims.iter_mut();
    claims.flat_map(|claim| &mut claim.obligations).for_each(|it| it.what += ", in other words");
    fs::write(&place, serde_json::to_string(&other).unwrap()).unwrap();
    assert_eq!(recheck(folder.path(), &[], TIMEOUT).unwrap().claims, again.claims);
    let mut less = written;
    less.claims.remove(claim);
    fs::write(place, serde_json::to_string(&less).unwrap()).unwrap();
    let again = recheck(folder.path(), &[], TIMEOUT).unwrap();
    assert!(standings(&again).contains(&("work_conservation", None)));
}

/// Files are known by their contents, so no change goes unnoticed.
#[test]
fn a_certificate_that_was_changed_is_refused() {
    let (folder, written) = certified(WS, &[]);
    let again = write(folder.path(), ("again", WS), &[], &[], TIMEOUT).unwrap_err();
    assert!(matches!(again, Error::File { .. }), "{again}");
    let Some(script) = written.claims[0].obligations.iter().find_map(|it| match &it.shown {
        Shown::Solvers(asked) => Some(asked.script.file.clone()),
        _ => None,
    }) else {
        panic!("{written:?}")
    };
    for (from, to) in [(script.as_str(), "../a.smt2"), (SCHEMA, "wastenot.certificate/1")] {
        let error = refused(folder.path(), |listed| {
            let text = listed.to_string().replacen(from, to, 1);
            *listed = serde_json::from_str(&text).unwrap();
        });
        assert!(matches!(error, Error::Manifest { .. }), "{error}");
    }
    for file in [script.as_str(), "policy.rota"] {
        let place = folder.path().join(file);
        let whole = fs::read_to_string(&place).unwrap();
        fs::write(&place, format!("{whole}\n")).unwrap();
        let error = recheck(folder.path(), &[], TIMEOUT).unwrap_err();
        assert!(matches!(error, Error::Altered { .. }), "{error}");
        fs::remove_file(&place).unwrap();
        let error = recheck(folder.path(), &[], TIMEOUT).unwrap_err();
        assert!(matches!(error, Error::File { .. }), "{error}");
        fs::write(&place, whole).unwrap();
    }
    fs::write(folder.path().join("policy.rota"), "policy").unwrap();
    let error =
        refused(folder.path(), |listed| listed["text"]["sha256"] = sha256(b"policy").into());
    assert!(matches!(error, Error::Manifest { .. }), "{error}");
}

/// Solvers have commands that write files: a script from elsewhere has none of them.
#[test]
fn a_script_that_does_more_than_ask_is_refused() {
    let (folder, written) = certified(WS, &[]);
    let asked = |it: &wastenot_prove::certificate::Listed| matches!(it.shown, Shown::Solvers(_));
    let n = written.claims[0].obligations.iter().position(asked).expect("something is asked");
    for text in [
        "(set-option :regular-output-channel \"stolen\")(check-sat)",
        "(check-sat)(check-sat)",
        "(assert true)",
        "(check-sat",
        "check-sat",
    ] {
        fs::write(folder.path().join("more.smt2"), text).unwrap();
        let error = refused(folder.path(), |listed| {
            let script = &mut listed["claims"][0]["obligations"][n]["script"];
            script["file"] = "more.smt2".into();
            script["sha256"] = sha256(text.as_bytes()).into();
        });
        assert!(matches!(error, Error::Manifest { .. }), "{text}: {error}");
    }
}
