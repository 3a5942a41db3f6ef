//! Wakeups for which no CPU is selected.

use super::{Cause, Onset, Rules};

/// Wakeups for which no CPU is selected.
pub(super) static CAUSE: Cause = Cause {
    path: "scheduler/placement/no-selection",
    about: "tasks were woken while still queued, so that no CPU was selected",
    evidence: "The wakeup names a task that was still on the run queue (delayed dequeue, \
        Linux 6.12 and later), and another CPU was idle.",
    refuted_by: "The kernel selected a CPU for the task.",
    advice: "Try the scheduler feature NO_DELAY_DEQUEUE.",
    source: "kernel commit 152e11f6df29 (sched/fair: Implement delayed dequeue)",
    missing: "Why the task was still queued: it was about to sleep, or its dequeue was delayed.",
    named: false,
    holds: |it| it.is_waste_under(Rules::Fair) && it.onset == Onset::NoSelection,
};
