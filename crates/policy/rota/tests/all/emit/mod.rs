//! Emitted C: that it compiles, properties of its text, and its behaviour.

mod compiles;
mod native;
mod numbers;
mod protocol;
mod refused;
mod text;
mod vocabulary;

use std::path::{Path, PathBuf};

use wastenot_rota::ir::Program;

/// The policies that come with the project, by name.
fn policies() -> Vec<(String, Program)> {
    let compiled = |text: &str| wastenot_rota::compile(text).expect("it means something");
    crate::policies().into_iter().map(|(name, text)| (name, compiled(&text))).collect()
}

/// A folder for the files of a test.
fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}
