//! Rules that no other tool checks: sizes of files, places of code, paths in ARCHITECTURE.

use std::fs;
use std::path::{Path, PathBuf};

use crate::root;

/// A file this long lacks a noun.
const LINES: usize = 800;
/// rustfmt keeps code within this but leaves comments alone.
const COLUMNS: usize = 100;

/// Rows of tables in doc comments cannot be broken, texts in quotes should not be, and a golden
/// dump is as wide as it is.
fn may_be_wide(path: &Path, line: &str) -> bool {
    let row = ["//! |", "/// |"].iter().any(|row| line.trim_start().starts_with(row));
    row || line.contains('"') || line.ends_with('\\') || path.ends_with("draw/tests/all/golden.rs")
}

pub(crate) fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = match fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| entry.expect("an entry").path()).collect(),
        Err(_) => return,
    };
    entries.sort();
    for path in entries {
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if path.is_dir() && !hidden && !path.ends_with("target") {
            sources(&path, found);
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            found.push(path);
        }
    }
}

fn all_sources() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in ["crates", "testing", "fuzz", "bench", "xtask"] {
        sources(&root().join(folder), &mut found);
    }
    assert!(found.len() > 20, "the sources are found");
    found
}

#[test]
fn no_file_is_longer_than_800_lines_and_no_line_than_100_columns() {
    let mut broken = Vec::new();
    for path in all_sources() {
        let text = fs::read_to_string(&path).expect("a source file");
        let lines = text.lines().count();
        if lines > LINES {
            broken.push(format!("{}: {lines} lines", path.display()));
        }
        for (number, line) in text.lines().enumerate() {
            if line.chars().count() > COLUMNS && !may_be_wide(&path, line) {
                broken.push(format!("{}:{}: too wide", path.display(), number + 1));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn every_source_file_says_what_it_is_for() {
    let says = |path: &PathBuf| {
        // `tests.rs` beside `mod.rs`: its parent says it.
        path.ends_with("tests.rs") || fs::read_to_string(path).expect("a file").starts_with("//!")
    };
    let silent: Vec<PathBuf> = all_sources().into_iter().filter(|path| !says(path)).collect();
    assert!(silent.is_empty(), "no `//!` on the first line: {silent:#?}");
}

#[test]
fn unsafe_stands_in_one_file_only() {
    let word = ["uns", "afe {"].concat();
    let holders: Vec<PathBuf> = all_sources()
        .into_iter()
        .filter(|path| fs::read_to_string(path).expect("a file").contains(&word))
        .collect();
    let allowed = |path: &PathBuf| {
        // Benchmarks and fuzzers count allocations, which takes an allocator of their own.
        path.ends_with("crates/cli/src/map.rs") || !path.starts_with(root().join("crates"))
    };
    assert!(holders.iter().all(allowed), "{holders:?}");
}

/// The paths that a page names: text between backticks that contains a slash, outside of blocks.
fn paths(page: &str) -> Vec<&str> {
    let prose = page.split("```").step_by(2);
    let quoted = prose.flat_map(|text| text.split('`').skip(1).step_by(2));
    quoted.filter(|text| text.contains('/')).collect()
}

#[test]
fn every_path_that_architecture_names_exists() {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let named = paths(&page);
    assert!(named.len() > 100, "paths are found");
    let is_missing = |path: &&str| !root().join(path).exists();
    let missing: Vec<&str> = named.into_iter().filter(is_missing).collect();
    assert!(missing.is_empty(), "ARCHITECTURE.md names paths that do not exist: {missing:#?}");
}

#[test]
fn paths_are_found_in_prose_and_not_in_blocks() {
    let page = "`a/b.rs` and `c`, then\n```sh\nmake `no/path`\n```\n| `d/e` | `f` |\n";
    assert_eq!(paths(page), ["a/b.rs", "d/e"]);
}
