//! What happens on the way to what is wrong, step by step.

use wastenot_model::CpuId;
use wastenot_rota::ir::Event;

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The CPU looks into a queue that it takes from, and finds no task that may run there.
    Took {
        /// Which queue.
        queue: usize,
        /// Whose.
        group: usize,
    },
    /// The CPU reads what the filter asks of a candidate.
    Read {
        /// Whose queue.
        group: usize,
        /// Whether it passed the filter.
        passed: bool,
    },
    /// The CPU locks the queue of a candidate and finds no task that it may take.
    Tried {
        /// Whose queue.
        group: usize,
        /// Whether a task is there that may run on the CPU, but the re-check refuses it.
        refused: bool,
    },
    /// The CPU takes a task that it may not.
    Stole {
        /// Whose queue.
        group: usize,
        /// Which.
        task: usize,
    },
    /// Periodic balancing moves a task.
    Moved {
        /// Which CPU does it.
        by: CpuId,
        /// Which.
        task: usize,
        /// From which queue, and whose.
        from: (usize, usize),
        /// Into which, and whose.
        into: (usize, usize),
    },
    /// A handler sets the key of a task, or puts it into its queue.
    Sets {
        /// Of which event.
        event: Event,
        /// Which variable.
        var: usize,
        /// What it was, or the least key of the queue.
        before: i64,
        /// What it is.
        after: i64,
        /// Whether `before` is the least key of the queue.
        least: bool,
        /// What it was computed of.
        given: Given,
    },
    /// A task is woken, or put for another reason, and waits.
    Woken {
        /// Which.
        task: usize,
        /// By which event.
        event: Event,
        /// Where it was last.
        prev: CpuId,
        /// In which queue.
        queue: usize,
        /// Whose.
        group: usize,
    },
    /// The CPU goes to sleep.
    GivesUp,
}

/// What a handler computes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Given {
    /// Every variable of the task that some handler sets, unless it is new.
    pub var: i64,
    /// The least key of every queue into which a task is put.
    pub least: i64,
    /// How long the task ran, in ns.
    pub ran: i64,
    /// The time, in ns.
    pub now: i64,
    /// The weight of every task.
    pub weight: i64,
}
