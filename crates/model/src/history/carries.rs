//! The kinds of data that a source records.

use std::fmt;
use std::ops::{BitAnd, BitOr, BitOrAssign};

/// A set of abilities. Two Histories are compared under the AND of theirs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Carries(u32);

macro_rules! carries {
    ($($bit:literal $name:ident $word:literal $doc:literal;)*) => {
        impl Carries {
            $(#[doc = $doc] pub const $name: Carries = Carries(1 << $bit);)*
            /// Every ability with its word for JSON, and what it means.
            pub const ALL: &'static [(Carries, &'static str, &'static str)] =
                &[$((Carries::$name, $word, $doc)),*];
        }
    };
}

carries! {
    0 WAKINGS "wakings" "`sched_waking`: the start of a wakeup, in the waker's context.";
    1 WAKEUPS "wakeups" "`sched_wakeup`: the moment when a task is queued.";
    2 NEW "wakeups_new" "`sched_wakeup_new`: the moment when a new task is queued.";
    3 PLACEMENT "placement" "The CPU where a waiting task is queued.";
    4 WAKERS "wakers" "The current task at a wakeup.";
    5 CONTEXT "irq_context" "The context of an event: interrupt or task.";
    6 MIGRATIONS "migrations" "Migrations of queued tasks.";
    7 FORKS "forks" "The parent of each new task.";
    8 EXECS "execs" "Program changes (`exec`).";
    9 EXITS "exits" "Exits.";
    10 LEFT "prev_state" "The state in which a task left its CPU.";
    11 PRIO "priority" "Kernel priorities.";
    12 NAMES "names" "Command names.";
    13 TGID "processes" "The process of each thread.";
    14 TOPOLOGY "topology" "Cores, caches, nodes, packages.";
    15 START "start_state" "The state of each CPU and task at the start of the trace.";
    16 AFFINITY "affinity" "The CPUs that a task may use.";
    17 THROTTLING "throttling" "The times when a quota holds a task back.";
    18 POLICY "policy" "Scheduling policy and nice value.";
    19 CGROUPS "cgroups" "The cgroup of each task.";
    20 HOTPLUG "hotplug" "CPUs that go online or offline.";
    21 FREQ "frequency" "CPU frequency.";
    22 NO_SELECTION "no_selection" "Wakeups that selected no CPU, because the task was still queued.";
    23 LOSSES "losses" "The number of lost events of each CPU.";
}

impl Carries {
    /// Nothing.
    pub const NONE: Carries = Carries(0);
    /// Whether all of `other` is carried.
    pub fn has(self, other: Carries) -> bool {
        self.0 & other.0 == other.0
    }
    /// Whether places of waiting tasks are told, and not that tasks are moved from them.
    pub fn lacks_moves(self) -> bool {
        self.has(Carries::PLACEMENT) && !self.has(Carries::MIGRATIONS)
    }
    /// Whether places of waiting tasks are told, and not where a new task is queued.
    pub fn lacks_new(self) -> bool {
        self.has(Carries::PLACEMENT) && !self.has(Carries::NEW)
    }
    /// Without `other`.
    pub fn without(self, other: Carries) -> Carries {
        Carries(self.0 & !other.0)
    }
    /// As bits, for the own file format. Bits keep their meaning for ever.
    pub fn bits(self) -> u32 {
        self.0
    }
    /// From bits; unknown ones are dropped.
    pub fn from_bits(bits: u32) -> Carries {
        let known = Carries::ALL.iter().fold(0, |all, (carry, _, _)| all | carry.0);
        Carries(bits & known)
    }
    /// The words of what is carried.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        Carries::ALL.iter().filter(move |(carry, _, _)| self.has(*carry)).map(|(_, word, _)| *word)
    }
}

impl BitOr for Carries {
    type Output = Carries;
    fn bitor(self, other: Carries) -> Carries {
        Carries(self.0 | other.0)
    }
}
impl BitOrAssign for Carries {
    fn bitor_assign(&mut self, other: Carries) {
        self.0 |= other.0;
    }
}
impl BitAnd for Carries {
    type Output = Carries;
    fn bitand(self, other: Carries) -> Carries {
        Carries(self.0 & other.0)
    }
}
impl fmt::Display for Carries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.words().collect::<Vec<_>>().join(", "))
    }
}
