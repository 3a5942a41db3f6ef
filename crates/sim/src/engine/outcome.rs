//! How a simulation ended, beside the History that came out of it.

use wastenot_model::workload::MarkId;
use wastenot_model::{Span, TaskId, Time};

/// How it ended, and what tasks said.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// How.
    pub end: End,
    /// When.
    pub time: Time,
    /// At the limit: who can never go on, whatever the others do. A deadlock is told at once.
    pub stuck: Vec<Stuck>,
    /// Moments that programs marked, in the order of time.
    pub marks: Vec<Mark>,
    /// When each task ended, by [`TaskId::index`].
    pub ended: Vec<Option<Time>>,
    /// Rows that were put into the History.
    pub rows: usize,
}

/// Why a simulation ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// Every task that is waited for has ended.
    Done,
    /// The limit on simulated time was reached.
    Limit,
    /// Nobody can go on, or these tasks wait for one another: who waits for what.
    Deadlock(Vec<Stuck>),
    /// A task does steps for ever without time passing.
    Livelock {
        /// Which.
        task: TaskId,
    },
    /// Tasks go on forking: there are more than a History holds of simulated ones.
    Crowd {
        /// Who would have forked the next one.
        parent: TaskId,
    },
    /// The policy did what no scheduler may do.
    Fault(Fault),
}

/// A task that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// Which.
    pub task: TaskId,
    /// For what, in words: `the lock \`l\``, `CPU 3`.
    pub waits_for: String,
    /// Whether that is a CPU, whose task spins.
    pub for_cpu: bool,
    /// Who has it, where that is one task.
    pub held_by: Option<TaskId>,
}

/// What a policy did that no scheduler may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// When.
    pub time: Time,
    /// What.
    pub what: String,
}

/// A moment that a program marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// When.
    pub time: Time,
    /// Who.
    pub task: TaskId,
    /// What it is called.
    pub mark: MarkId,
    /// How long after the task's last beat; zero where it has none.
    pub late: Span,
}
