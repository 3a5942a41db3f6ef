//! Where handlers put tasks.

use std::collections::BTreeSet;

use wastenot_model::CpuId;
use wastenot_rota::ir::{Event, Level};

/// A place where a handler puts a task that may run on some CPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The queue.
    pub queue: usize,
    /// Whose.
    pub group: usize,
    /// Where the task was last.
    pub prev: CpuId,
    /// By which event.
    pub event: Event,
    /// Idle CPUs are looked for in this group of where it was last.
    pub wake: Level,
    /// Others that the handler kicks afterwards.
    pub kicked: Vec<CpuId>,
}

/// A queue of the policy, and whose.
pub(super) type Queue = (usize, usize);

/// Where tasks that may run on some CPUs come to wait.
#[derive(Clone, Debug, Default)]
pub(super) struct Placings {
    /// Where they are put, each by a path that some handler goes.
    pub(super) sure: Vec<Placed>,
    /// By a path of which that is not known.
    pub(super) doubtful: Vec<Placed>,
    /// All queues where they come to wait, put or moved there.
    pub(super) waits: BTreeSet<Queue>,
    /// More queues of which that is not known.
    pub(super) perhaps: BTreeSet<Queue>,
}
