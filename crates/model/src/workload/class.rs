//! The scheduling classes of Linux, as tasks ask for them (sched(7)).

use std::fmt;

use crate::Span;

/// A scheduling policy of Linux with what it takes. The default is that of ordinary tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Class {
    /// `SCHED_OTHER`.
    #[default]
    Other,
    /// `SCHED_BATCH`: as `Other`, but it does not preempt when it wakes.
    Batch,
    /// `SCHED_IDLE`: the least weight.
    Idle,
    /// `SCHED_FIFO`: it runs until it blocks, or one of a higher priority is there.
    Fifo {
        /// From 1 to 99, the highest.
        priority: u8,
    },
    /// `SCHED_RR`: as `Fifo`, in turns with those of its priority.
    RoundRobin {
        /// From 1 to 99, the highest.
        priority: u8,
    },
    /// `SCHED_DEADLINE`: in each period it gets its runtime before the deadline, and no more.
    Deadline {
        /// CPU time in each period.
        runtime: Span,
        /// From the beginning of the period.
        deadline: Span,
        /// From the beginning of one to that of the next, at least.
        period: Span,
    },
}

impl Class {
    /// Its number (include/uapi/linux/sched.h).
    pub fn policy(self) -> u8 {
        match self {
            Class::Other => 0,
            Class::Fifo { .. } => 1,
            Class::RoundRobin { .. } => 2,
            Class::Batch => 3,
            Class::Idle => 5,
            Class::Deadline { .. } => 6,
        }
    }
    /// Its priority among real-time tasks; 0 for others.
    pub fn priority(self) -> u8 {
        match self {
            Class::Fifo { priority } | Class::RoundRobin { priority } => priority,
            _ => 0,
        }
    }
}

/// As scenarios write it.
impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Class::Other => f.write_str("other"),
            Class::Batch => f.write_str("batch"),
            Class::Idle => f.write_str("idle"),
            Class::Fifo { priority } => write!(f, "fifo {priority}"),
            Class::RoundRobin { priority } => write!(f, "rr {priority}"),
            Class::Deadline { .. } => f.write_str("deadline"),
        }
    }
}
