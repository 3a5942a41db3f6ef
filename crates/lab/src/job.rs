//! What a guest has to do, and what it sends back.

use serde::{Deserialize, Serialize};
use wastenot_runner::{Plan, Told};

/// Where a guest finds its job.
pub(crate) const FILE: &str = "/job.json";
/// Where a guest writes: the first disk.
pub(crate) const DISK: &str = "/dev/nvme0n1";
/// How the lines of a guest's console begin that are for the one who booted it.
pub(crate) const SAYS: &str = "wastenot:";

/// What a guest has to do.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) schedulers: Vec<Scheduler>,
    /// In the order of their schedulers.
    pub(crate) cells: Vec<Cell>,
}

/// A scheduler that is not the kernel's own.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Scheduler {
    pub(crate) name: String,
    pub(crate) how: How,
}

/// How a scheduler is loaded.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum How {
    /// A policy in Rota, with what clang made of its C.
    Policy { text: String, object: Vec<u8> },
    /// A program in the image that loads it, with its arguments, and unloads it on SIGINT.
    Command(Vec<String>),
}

/// A run.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Cell {
    pub(crate) plan: Plan,
    /// Which of the schedulers; none is the kernel's own.
    pub(crate) scheduler: Option<usize>,
    pub(crate) decisions: bool,
    /// The text of its policy, if the steps of the scheduler are kept.
    pub(crate) steps: Option<String>,
}

/// What came of a run. Its recording comes beside it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Done {
    /// What its tasks did, or why it came to no end, and what to do about that.
    pub(crate) told: Result<Told, (String, String)>,
}

impl Done {
    /// The files of cell `n`.
    pub(crate) fn files(n: usize) -> (String, String) {
        (format!("{n}.json"), format!("{n}.wn"))
    }
}
