//! Emitted C: that it compiles, properties of its text, and its behaviour.

mod compiles;
mod native;
mod numbers;
mod protocol;
mod refused;
mod text;
mod vocabulary;

use std::fs;
use std::path::{Path, PathBuf};

use wastenot_rota::ir::Program;

/// The policies that come with the project, by name.
fn policies() -> Vec<(String, Program)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../policies");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "rota"))
        .collect();
    paths.sort();
    let read = |path: PathBuf| {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).expect("a text");
        (name, wastenot_rota::compile(&text).expect("it means something"))
    };
    paths.into_iter().map(read).collect()
}

/// A folder for the files of a test.
fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}
