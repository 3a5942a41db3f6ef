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
    pub(crate) policies: Vec<Policy>,
    /// In the order of their policies.
    pub(crate) cells: Vec<Cell>,
}

/// A policy that schedules.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Policy {
    pub(crate) name: String,
    pub(crate) text: String,
    /// What clang made of its C.
    pub(crate) object: Vec<u8>,
}

/// A run.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Cell {
    pub(crate) plan: Plan,
    /// Which policy schedules; none is the scheduler of the kernel.
    pub(crate) policy: Option<usize>,
    pub(crate) decisions: bool,
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
