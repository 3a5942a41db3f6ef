//! Which tasks run before which, whatever a scheduler decides.

/// What the scheduling policy of a task says of when it gives way (`kernel/sched/sched.h`): a task
/// of a greater class preempts one of a lesser at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SchedClass {
    /// `SCHED_IDLE`: of the fair class, but it gives way like one below.
    Idle,
    /// `SCHED_OTHER`, `SCHED_BATCH`, `SCHED_EXT`, and any other.
    Fair,
    /// `SCHED_FIFO`, `SCHED_RR`.
    RealTime,
    /// `SCHED_DEADLINE`.
    Deadline,
}

impl SchedClass {
    /// The class of a policy, numbered as in `sched_setscheduler(2)` (include/uapi/linux/sched.h).
    pub fn of(policy: u8) -> SchedClass {
        match policy {
            6 => SchedClass::Deadline,
            1 | 2 => SchedClass::RealTime,
            5 => SchedClass::Idle,
            _ => SchedClass::Fair,
        }
    }
    /// Whether a task of this class runs before all fair ones.
    pub fn is_above_fair(self) -> bool {
        self > SchedClass::Fair
    }
}
