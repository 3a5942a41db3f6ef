//! What went wrong with a scheduler in a real kernel. It is a result, not a failed run.

use serde::{Deserialize, Serialize};

/// How a scheduler that was to be loaded came to no good end: the kernel refused it or ended it,
/// or a task waited for it until the run was over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// In a sentence without its full stop: `the kernel ended scx_nest after 20 ms: ...`.
    pub what: String,
    /// What to do next.
    pub help: String,
    /// How long it had scheduled, if it did.
    pub after_ns: Option<u64>,
    /// What the kernel's dump shows, if there is one, in sentences.
    pub dump: Option<String>,
    /// The lines that decide, of its program and of the kernel.
    pub lines: Vec<String>,
}
