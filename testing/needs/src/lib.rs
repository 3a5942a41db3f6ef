//! What tests need: files, programs of the machine, and work, of which randomised tests do some
//! amount.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// The files of a folder whose names end in a dot and `ending`, in order.
///
/// # Panics
/// The folder cannot be read.
pub fn files(folder: impl AsRef<Path>, ending: &str) -> Vec<PathBuf> {
    let folder = folder.as_ref();
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|it| it.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|it| it == ending));
    files.sort();
    files
}

/// Each of these files, and its text.
///
/// # Panics
/// The folder or a text cannot be read.
pub fn texts(folder: impl AsRef<Path>, ending: &str) -> Vec<(PathBuf, String)> {
    let read = |file: PathBuf| (file.clone(), fs::read_to_string(file).expect("a text"));
    files(folder, ending).into_iter().map(read).collect()
}

/// What a file is called, without its folder and its ending.
///
/// # Panics
/// It has no name.
pub fn stem(file: impl AsRef<Path>) -> String {
    file.as_ref().file_stem().expect("a name").to_string_lossy().into_owned()
}

/// Prints that a test was not run, why, and what would let it run.
#[expect(clippy::print_stdout, reason = "`make test` collects these lines")]
pub fn skipped(test: &str, why: &str, how: &str) {
    println!("SKIPPED {test}: {why}: {how}");
}

/// Whether there is such a program in `PATH`.
pub fn has(program: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| {
        let found = folder.join(program).metadata();
        found.is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
    })
}

/// Whether there is a program that `test` needs; if not, prints which Debian package has it.
pub fn program(test: &str, program: &str, package: &str) -> bool {
    let there = has(program);
    if !there {
        skipped(test, &format!("no {program}"), &format!("apt install {package}"));
    }
    there
}

/// Returns true if the solver z3 is installed. Otherwise it prints that `test` is skipped, and how
/// to install z3.
pub fn z3(test: &str) -> bool {
    program(test, "z3", "z3")
}

/// The number of cases that a randomised test runs: `usual`, times the variable `WASTENOT_EFFORT`.
/// `make test` runs the usual number (1), `make long-soak-NAME` a hundred times as many (100).
///
/// # Panics
/// `WASTENOT_EFFORT` is not a number.
pub fn effort(usual: u64) -> u64 {
    let factor = std::env::var("WASTENOT_EFFORT").ok();
    usual * factor.map_or(1, |text| text.parse().expect("WASTENOT_EFFORT is a number"))
}
