//! What a guest has to do, and what it sends back.

use std::io::{self, Write as _};

use crate::runner::{Plan, Told};
use serde::{Deserialize, Serialize};

use crate::kmsg::Line;

/// Where a guest finds its job.
pub(crate) const FILE: &str = "/job.json";
/// Where a guest writes: the first disk.
pub(crate) const DISK: &str = "/dev/nvme0n1";
/// How the lines of a guest's console begin that are for the one who booted it.
pub(crate) const SAYS: &str = "wastenot:";

/// Tells the one who booted this.
pub(crate) fn say(what: &str) {
    let mut out = io::stdout();
    let _ = writeln!(out, "{SAYS} {what}");
    let _ = out.flush();
}

/// What a guest has to do.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) schedulers: Vec<Scheduler>,
    /// In the order of their schedulers.
    pub(crate) cells: Vec<Cell>,
}

impl Job {
    /// The name of the scheduler of cell `n`, if it is not the kernel's own.
    pub(crate) fn scheduler_of(&self, n: usize) -> Option<&str> {
        let scheduler = self.cells.get(n)?.scheduler?;
        Some(&self.schedulers.get(scheduler)?.name)
    }
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
    /// When it ends at the latest, since its start.
    pub(crate) limit_ns: u64,
}

/// What came of a run. Its recording comes beside it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Done {
    /// What its tasks did, or why it came to no end, and what to do about that.
    pub(crate) told: Result<Told, (String, String)>,
    /// What is known of the scheduler, if it was refused or ended: then `told` is of a run that
    /// went on under the kernel's own, or says why there is none.
    pub(crate) evidence: Option<Box<Evidence>>,
    /// Why its program loaded it again during the run, each time.
    pub(crate) reloads: Vec<String>,
}

/// What a guest knows of a scheduler that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Evidence {
    /// Which.
    pub(crate) scheduler: String,
    /// Whether it had begun to schedule, as far as this program saw.
    pub(crate) scheduled: bool,
    /// What went wrong, and what to do, where this program loaded it.
    pub(crate) ours: Option<(String, String)>,
    /// How its program ended, if it did: `exit code 1`.
    pub(crate) ended: Option<String>,
    /// For how long it was waited for, in s.
    pub(crate) waited_s: u64,
    /// What its program said: the beginning and the end.
    pub(crate) said: String,
    /// What the kernel's log says of schedulers.
    pub(crate) kernel: Vec<Line>,
}

impl Done {
    /// The files of cell `n`.
    pub(crate) fn files(n: usize) -> (String, String) {
        (format!("{n}.json"), format!("{n}.wn"))
    }
}
