//! The real recordings in `traces/`.

use std::path::PathBuf;

use wastenot_model::Silent;
use wastenot_read::{Options, read, read_from};
use wastenot_tests::reference::{self, Asked};

use crate::formats::{Pieces, identical};
use crate::waste::{measured, question};

/// Every recording, by name.
pub(crate) fn traces() -> Vec<PathBuf> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces");
    let files = std::fs::read_dir(folder).expect("traces/ is there");
    let mut files: Vec<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
    files.retain(|file| file.extension().is_some_and(|end| end != "md"));
    files.sort();
    assert!(files.len() > 50, "only {} recordings in {folder}", files.len());
    files
}

pub(crate) fn name(path: &std::path::Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

#[test]
fn waste_of_every_recording_is_what_the_slow_reference_measures() {
    let mut failed = Vec::new();
    for path in traces() {
        let bytes = std::fs::read(&path).expect("readable");
        let history = match read(&bytes, &Options::default()) {
            Ok(history) => history,
            Err(error) => {
                failed.push(format!("{}: {error}", name(&path)));
                continue;
            }
        };
        let all = Asked::ALL;
        let scopes = (1..=5).map(|seed| question(seed, &history));
        for asked in scopes.chain([Asked { silent: Silent::Idle, ..Asked::ALL }, all]) {
            let (ours, theirs) = (measured(&history, &asked), reference::measure(&history, &asked));
            if ours != theirs {
                let name = name(&path);
                failed.push(format!("{name} {asked:?}: {ours:?}, reference {theirs:?}"));
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn every_recording_reads_the_same_in_pieces_and_with_any_number_of_threads() {
    for path in traces() {
        let bytes = std::fs::read(&path).expect("readable");
        let Ok(whole) = read(&bytes, &Options::default()) else { continue };
        let pieces = read_from(Pieces(&bytes), &Options::default()).expect("as before");
        assert!(identical(&whole, &pieces), "{} in pieces", name(&path));
        for threads in [1, 7] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let other = pool.install(|| read(&bytes, &Options::default())).expect("as before");
            assert!(identical(&whole, &other), "{} with {threads} threads", name(&path));
        }
    }
}
