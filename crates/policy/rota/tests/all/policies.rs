//! The policies of the project compile and are formatted.

use std::path::{Path, PathBuf};

use wastenot_needs::texts;

use crate::POLICIES;

/// Every policy, right and wrong, and its text.
fn policies() -> Vec<(PathBuf, String)> {
    let root = Path::new(POLICIES);
    [root, &root.join("wrong")].into_iter().flat_map(|it| texts(it, "rota")).collect()
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
