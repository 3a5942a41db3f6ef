//! The states of a CPU that the computation of waste distinguishes.

use wastenot_model::CpuId;

use crate::Scope;

/// What a counted CPU is, for waste.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Idle,
    Waking,
    /// Those who seem to wait on it may not be queued yet: it is idle until they are.
    IdleOrWaking,
    Busy,
    BusyIdlePolicy,
    Unknown,
    SilentUnknown,
    Offline,
    NotCounted,
}

/// How many kinds there are.
pub(super) const KINDS: usize = 9;

impl Kind {
    /// Whether it may be idle and not about to start a task.
    pub(super) fn may_be_free(self) -> bool {
        self.may_be_idle() && self != Kind::Waking
    }
    /// Whether nothing is known to run there.
    pub(super) fn may_be_idle(self) -> bool {
        matches!(self, Kind::Idle | Kind::Unknown | Kind::SilentUnknown) || self.is_waking()
    }
    /// Whether it is about to start a task, as far as is known.
    pub(super) fn is_waking(self) -> bool {
        matches!(self, Kind::Waking | Kind::IdleOrWaking)
    }
    /// Before State tells of it, no time of it counts.
    pub(super) fn at_first(scope: &Scope, cpu: CpuId) -> Kind {
        if scope.has_cpu(cpu) { Kind::Offline } else { Kind::NotCounted }
    }
}
