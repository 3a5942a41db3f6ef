//! The policies of the project compile and are formatted.

use std::fs;
use std::path::{Path, PathBuf};

/// Every policy, right and wrong, and its text.
fn policies() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../policies");
    let folders = [root.clone(), root.join("wrong")];
    let entries = folders.iter().flat_map(|it| fs::read_dir(it).expect("the folder is there"));
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let paths = paths.filter(|path| path.extension().is_some_and(|ending| ending == "rota"));
    let read = |path: PathBuf| (path.clone(), fs::read_to_string(path).expect("a text"));
    paths.map(read).collect()
}

#[test]
fn every_policy_compiles_and_has_the_formatters_form() {
    let policies = policies();
    assert!(policies.len() > 20, "{}", policies.len());
    for (path, text) in policies {
        if let Err(found) = wastenot_rota::compile(&text) {
            panic!("{}: {found:#?}", path.display());
        }
        let formatted = wastenot_rota::format(&text).expect("it can be read");
        wastenot_golden::holds(&path, &formatted);
    }
}

#[test]
fn every_policy_fits_its_lines() {
    for (path, text) in policies() {
        for (number, line) in text.lines().enumerate() {
            assert!(line.chars().count() <= 100, "{}:{}", path.display(), number + 1);
        }
    }
}
