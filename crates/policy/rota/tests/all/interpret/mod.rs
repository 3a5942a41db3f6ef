//! The interpreter under the simulator.

mod known;
mod lag;
mod random;

use std::fs;
use std::path::{Path, PathBuf};

use wastenot_rota::compile;
use wastenot_rota::interpret::Interpreter;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../policies")
}

/// The policies that come with the project, by name.
fn policies() -> Vec<(String, String)> {
    let files = fs::read_dir(folder()).expect("policies").map(|file| file.expect("a file").path());
    let mut files: Vec<PathBuf> =
        files.filter(|file| file.extension().is_some_and(|ending| ending == "rota")).collect();
    files.sort();
    let read = |file: &PathBuf| {
        let name = file.file_stem().expect("a name").to_string_lossy().into_owned();
        (name, fs::read_to_string(file).expect("a text"))
    };
    files.iter().map(read).collect()
}

/// The text of one of them.
fn policy(name: &str) -> String {
    fs::read_to_string(folder().join(name).with_extension("rota")).expect("a policy")
}

#[track_caller]
fn interpreter(text: &str) -> Interpreter {
    let program = compile(text).unwrap_or_else(|faults| panic!("{faults:#?}"));
    Interpreter::new(program, &[]).expect("no parameters are set")
}
