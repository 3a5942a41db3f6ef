//! How a simulation ended, in addition to the resulting History.

use wastenot_model::workload::MarkId;
use wastenot_model::{Span, TaskId, Time};

/// How it ended, and what tasks marked.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// How.
    pub end: End,
    /// When.
    pub time: Time,
    /// At the limit: the tasks that can never continue, whatever the others do. A deadlock is
    /// reported at once.
    pub stuck: Vec<Stuck>,
    /// Moments that programs marked, in order of time.
    pub marks: Vec<Mark>,
    /// When each task ended, by [`TaskId::index`].
    pub ended: Vec<Option<Time>>,
    /// Rows that were put into the History.
    pub rows: usize,
}

/// Why a simulation ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// Every awaited task has ended.
    Done,
    /// The limit on simulated time was reached.
    Limit,
    /// No task can continue, or these tasks wait for one another: which task waits for what.
    Deadlock(Vec<Stuck>),
    /// A task does steps for ever while time stands still.
    Livelock {
        /// Which task.
        task: TaskId,
    },
    /// Tasks fork without end: there are more than a History holds of simulated ones.
    Crowd {
        /// The task that would have forked the next one.
        parent: TaskId,
    },
    /// The policy did something that no scheduler may do.
    Fault(Fault),
}

/// A task that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// Which task.
    pub task: TaskId,
    /// What it waits for, in words: `the lock \`l\``, `CPU 3`.
    pub waits_for: String,
    /// Whether it waits for a CPU, whose running task spins.
    pub for_cpu: bool,
    /// The task that has what it waits for, if it is one task.
    pub held_by: Option<TaskId>,
}

/// An act of a policy that no scheduler may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// When.
    pub time: Time,
    /// What it did.
    pub what: String,
}

/// A moment that a program marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// When.
    pub time: Time,
    /// Which task.
    pub task: TaskId,
    /// The name of the mark.
    pub mark: MarkId,
    /// The span since the task's last beat; zero if the task has none.
    pub late: Span,
}
