//! How far searches go.

use std::time::Instant;

/// How far the search goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// CPUs.
    pub cpus: usize,
    /// Tasks.
    pub tasks: usize,
    /// Tasks that are woken, or moved by periodic balancing, during an attempt.
    pub events: usize,
}

impl Bounds {
    /// No counterexample goes beyond these.
    pub(crate) const FARTHEST: Bounds = Bounds { cpus: 8, tasks: 100, events: 1 };

    /// What is within these and others.
    pub(crate) fn narrower(self, other: Bounds) -> Bounds {
        let (cpus, tasks) = (self.cpus.min(other.cpus), self.tasks.min(other.tasks));
        Bounds { cpus, tasks, events: self.events.min(other.events) }
    }
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { cpus: 4, tasks: 3, events: 1 }
    }
}

/// How much is done at most.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Situations that are looked at.
    pub situations: u64,
    /// No later than that.
    pub until: Option<Instant>,
}

impl From<u64> for Effort {
    fn from(situations: u64) -> Effort {
        Effort { situations, until: None }
    }
}

impl Effort {
    /// Whether it is done. The clock is asked now and then.
    pub(super) fn is_spent(&self, looked: u64) -> bool {
        let late = |until| looked.is_multiple_of(16) && Instant::now() >= until;
        looked >= self.situations || self.until.is_some_and(late)
    }
}
