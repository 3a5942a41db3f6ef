//! Why a set is not schedulable, or not known to be: declared once, for reports and for sweeps.

use super::Witness;
use crate::overheads::TooMuch;

/// Why a set is not schedulable, or not known to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// Interrupts alone take all of a CPU.
    Interrupts,
    /// A release may be late by more than a period or deadline.
    Latency,
    /// A job is not complete in time even on a CPU of its own.
    Density,
    /// Tasks use more than the CPUs.
    Utilization,
    /// Jobs within a window need more than the CPUs give in it.
    Demand,
    /// A job was late in a simulation.
    Miss,
    /// The scheduler allows no deadline beyond a period, and a task has one.
    Deadline,
    /// No test accepts, and one exceeded its budget.
    Budget,
    /// No test accepts.
    Test,
}

impl Reason {
    /// All.
    pub const ALL: [Reason; 9] = [
        Reason::Interrupts,
        Reason::Latency,
        Reason::Density,
        Reason::Utilization,
        Reason::Demand,
        Reason::Miss,
        Reason::Deadline,
        Reason::Budget,
        Reason::Test,
    ];

    /// In JSON.
    pub const fn word(self) -> &'static str {
        match self {
            Reason::Interrupts => "interrupts",
            Reason::Latency => "latency",
            Reason::Density => "density",
            Reason::Utilization => "utilization",
            Reason::Demand => "demand",
            Reason::Miss => "miss",
            Reason::Deadline => "deadline",
            Reason::Budget => "budget",
            Reason::Test => "test",
        }
    }
    /// In the row of a sweep. A set that is accepted has [`Reason::NONE`].
    pub const fn letter(self) -> char {
        match self {
            Reason::Interrupts => 'I',
            Reason::Latency => 'L',
            Reason::Density => 'D',
            Reason::Utilization => 'U',
            Reason::Demand => 'W',
            Reason::Miss => 'M',
            Reason::Deadline => 'E',
            Reason::Budget => '?',
            Reason::Test => 'T',
        }
    }
    /// The letter of a set that is accepted.
    pub const NONE: char = 'A';

    pub(super) fn of_witness<M>(witness: &Witness<M>) -> Reason {
        match witness {
            Witness::Alone(_) => Reason::Density,
            Witness::Overuse => Reason::Utilization,
            Witness::Demand { .. } => Reason::Demand,
            Witness::Missed(_) => Reason::Miss,
        }
    }
}

impl From<&TooMuch> for Reason {
    fn from(why: &TooMuch) -> Reason {
        match why {
            TooMuch::Interrupts => Reason::Interrupts,
            TooMuch::Latency { .. } => Reason::Latency,
            TooMuch::Long { .. } => Reason::Density,
            TooMuch::Close => Reason::Budget,
        }
    }
}
