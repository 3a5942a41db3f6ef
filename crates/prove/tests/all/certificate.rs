//! Certificates: whatever one solver showed, another shows from the folder alone.

use std::fs;
use std::path::Path;
use std::time::Duration;

use wastenot_prove::Error;
use wastenot_prove::certificate::{Expected, Obligation, SCHEMA, manifest, recheck, write};
use wastenot_prove::wakeup::{Chain, Variant, invariant};

use crate::solvers::{solvers, two_differ};

const TIMEOUT: Duration = Duration::from_secs(60);

fn obligation(name: &str, limit: i64, expected: Expected) -> Obligation {
    let script = two_differ(limit);
    Obligation { name: name.to_owned(), label: "any n".to_owned(), script, expected }
}

fn pair() -> [Obligation; 2] {
    [obligation("none", 1, Expected::Unsat), obligation("some: a pair", 2, Expected::Sat)]
}

#[test]
fn one_solver_shows_what_another_showed_from_the_folder_alone() {
    let solvers = solvers("one_solver_shows_what_another_showed_from_the_folder_alone");
    for solver in &solvers {
        let folder = tempfile::tempdir().unwrap();
        let one = std::slice::from_ref(solver);
        let written = write(folder.path(), "two solvers", &pair(), one, TIMEOUT).unwrap();
        assert!(written.holds(), "{solver}");
        assert_eq!(manifest(folder.path()).unwrap(), written);
        assert_eq!(written.schema, SCHEMA);
        let proof = written.obligations[0].answers[0].proof.is_some();
        assert_eq!(proof, solver.gives_proofs(), "{solver}");
        let said = recheck(folder.path(), &solvers, TIMEOUT).unwrap();
        assert_eq!(said.len(), 2 * solvers.len());
        assert!(said.iter().all(|said| said.holds()), "{said:?}");
    }
}

#[test]
fn the_protocol_has_a_certificate() {
    let solvers = solvers("the_protocol_has_a_certificate");
    let variant = Variant { kick_first: false, no_rescan: false, chain: Chain::Each };
    let all: Vec<Obligation> = invariant::obligations(variant)
        .into_iter()
        .map(|shown| Obligation {
            name: shown.name,
            label: "any n".to_owned(),
            script: shown.script,
            expected: Expected::Unsat,
        })
        .collect();
    for (place, solver) in solvers.iter().enumerate() {
        let folder = tempfile::tempdir().unwrap();
        let one = std::slice::from_ref(solver);
        assert!(write(folder.path(), "wakeups", &all, one, TIMEOUT).unwrap().holds(), "{solver}");
        let other = &solvers[(place + 1) % solvers.len()];
        let said = recheck(folder.path(), std::slice::from_ref(other), TIMEOUT).unwrap();
        assert_eq!(said.len(), all.len());
        assert!(said.iter().all(|said| said.holds()), "{other}");
    }
}

/// What was written is known by its content, so nobody can turn it unnoticed.
#[test]
fn a_certificate_that_was_changed_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "nobody was asked", &pair(), &[], TIMEOUT).unwrap();
    assert_eq!(recheck(folder.path(), &[], TIMEOUT).unwrap(), []);
    assert!(!manifest(folder.path()).unwrap().holds(), "nobody showed anything");
    let again = write(folder.path(), "again", &pair(), &[], TIMEOUT).unwrap_err();
    assert!(matches!(again, Error::File { .. }), "{again}");

    let refused = |change: &dyn Fn(&Path)| {
        let copy = tempfile::tempdir().unwrap();
        for entry in fs::read_dir(folder.path()).unwrap() {
            let file = entry.unwrap();
            fs::copy(file.path(), copy.path().join(file.file_name())).unwrap();
        }
        change(copy.path());
        recheck(copy.path(), &[], TIMEOUT).unwrap_err()
    };
    let turn = |file: &'static str, from: &'static str, to: &'static str| {
        move |folder: &Path| {
            let text = fs::read_to_string(folder.join(file)).unwrap();
            assert!(text.contains(from));
            fs::write(folder.join(file), text.replacen(from, to, 1)).unwrap();
        }
    };
    let error = refused(&turn("001-none.smt2", "queued", "waiting"));
    assert!(matches!(error, Error::Altered { .. }), "{error}");
    let error = refused(&|folder| fs::remove_file(folder.join("001-none.smt2")).unwrap());
    assert!(matches!(error, Error::File { .. }), "{error}");
    for (from, to) in
        [("001-none.smt2", "../001-none.smt2"), (SCHEMA, "wastenot.certificate/2"), ("{", "[")]
    {
        let error = refused(&turn("manifest.json", from, to));
        assert!(matches!(error, Error::Manifest { .. }), "{error}");
    }
}

/// Solvers have commands that write files: a script from elsewhere has none of them.
#[test]
fn a_script_that_does_more_than_ask_is_refused() {
    for text in [
        "(set-option :regular-output-channel \"stolen\")(check-sat)",
        "(check-sat)(check-sat)",
        "(assert true)",
        "(check-sat",
        "check-sat",
    ] {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "", &pair()[..1], &[], TIMEOUT).unwrap();
        let mut listed = manifest(folder.path()).unwrap();
        let stored = &mut listed.obligations[0].script;
        fs::write(folder.path().join(&stored.file), text).unwrap();
        stored.sha256 = sha256(text);
        let json = serde_json::to_string(&listed).unwrap();
        fs::write(folder.path().join("manifest.json"), json).unwrap();
        let error = recheck(folder.path(), &[], TIMEOUT).unwrap_err();
        assert!(matches!(error, Error::Manifest { .. }), "{text}: {error}");
    }
}

fn sha256(text: &str) -> String {
    use sha2::Digest;
    sha2::Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}
