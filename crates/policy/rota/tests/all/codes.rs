//! The table of codes: every example has exactly the error that it shows.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use wastenot_rota::emit::emit;
use wastenot_rota::{Diagnostic, codes, compile, parse};

/// The codes that a checker finds, each once.
fn found(text: &str, checker: impl Fn(&str) -> Vec<Diagnostic>) -> Vec<&'static str> {
    let found: BTreeSet<&str> = checker(text).iter().map(|fault| fault.code).collect();
    found.into_iter().collect()
}

/// The examples of a family that do not have exactly their error.
fn broken(family: char, checker: impl Fn(&str) -> Vec<Diagnostic>) -> Vec<String> {
    let of_family = |code: &&codes::Code| code.code[1..].starts_with(family);
    let mut broken = Vec::new();
    for code in codes::all().filter(of_family) {
        let (wrong, right) = (found(code.wrong, &checker), found(code.right, &checker));
        if wrong != [code.code] || !right.is_empty() {
            broken.push(format!("{}: wrong {wrong:?}, right {right:?}", code.code));
        }
    }
    broken
}

#[test]
fn wrong_examples_have_their_fault_and_right_ones_none() {
    let compiled = |text: &str| compile(&codes::whole(text));
    let mut all = broken('0', |text| parse(text).1);
    for family in ['1', '2', '3', '4', '5', '6'] {
        all.extend(broken(family, |text| compiled(text).err().unwrap_or_default()));
    }
    all.extend(broken('7', |text| {
        compiled(text).and_then(|program| emit(&program)).err().unwrap_or_default()
    }));
    assert!(all.is_empty(), "{all:#?}");
}

#[test]
fn codes_are_in_order_and_in_their_family() {
    let all: Vec<&str> = codes::all().map(|code| code.code).collect();
    assert!(all.is_sorted_by(|a, b| a < b), "{all:?}");
    for (number, (_, family)) in codes::families().enumerate() {
        assert!(family.iter().all(|code| code.code[1..].starts_with(&number.to_string())));
    }
    assert_eq!(codes::named("r008").map(|code| code.code), Some("R008"));
    assert_eq!(codes::named("R999"), None);
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("readable").path());
    entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

#[test]
fn every_code_that_is_told_is_explained_and_the_other_way_round() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut told = BTreeSet::new();
    for path in sources(&folder).iter().filter(|path| !path.starts_with(folder.join("codes"))) {
        let text = fs::read_to_string(path).expect("a source");
        for piece in text.split("\"R").skip(1).filter(|piece| piece.get(3..4) == Some("\"")) {
            told.insert(format!("R{}", &piece[..3]));
        }
    }
    let explained: BTreeSet<String> = codes::all().map(|code| code.code.to_string()).collect();
    assert_eq!(told, explained);
}
