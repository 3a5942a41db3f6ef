//! Tests of the whole crate.

mod codes;
mod emit;
mod format;
mod hostile;
mod interpret;
mod mistakes;
mod page;
mod parse;
mod partitions;
mod policies;
mod schedule;
mod texts;

/// The folder of the policies that come with the project.
const POLICIES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../policies");

/// These policies by name, without the wrong ones.
fn policies() -> Vec<(String, String)> {
    let all = wastenot_needs::texts(POLICIES, "rota").into_iter();
    all.map(|(file, text)| (wastenot_needs::stem(&file), text)).collect()
}
