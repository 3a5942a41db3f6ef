//! The policies that come with the project mean something, and are in their one form.

use std::fs;
use std::path::Path;

#[test]
fn every_policy_compiles_and_is_formatted() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../policies");
    let mut count = 0;
    for folder in [root.clone(), root.join("wrong")] {
        for entry in fs::read_dir(folder).expect("the folder is there") {
            let path = entry.expect("an entry").path();
            if path.extension().is_none_or(|ending| ending != "rota") {
                continue;
            }
            let text = fs::read_to_string(&path).expect("a text");
            if let Err(found) = wastenot_rota::compile(&text) {
                panic!("{}: {found:#?}", path.display());
            }
            let formatted = wastenot_rota::format(&text).expect("it reads");
            assert!(formatted == text, "wastenot rota fmt {}", path.display());
            count += 1;
        }
    }
    assert!(count > 0);
}

#[test]
fn every_policy_has_the_formatters_form() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../policies");
    for entry in fs::read_dir(&root).expect("the folder is there") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|ending| ending == "rota") {
            let text = fs::read_to_string(&path).expect("a text");
            let formatted = wastenot_rota::format(&text).expect("it can be read");
            if std::env::var("SNAPSHOTS").is_ok_and(|value| value == "overwrite") {
                fs::write(&path, formatted).expect("policies are writable");
            } else {
                assert_eq!(text, formatted, "{}", path.display());
            }
        }
    }
}
