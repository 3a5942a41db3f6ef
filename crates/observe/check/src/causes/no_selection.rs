//! Wakeups for which no CPU is selected.

use super::{Cause, Onset, Rules};

/// Wakeups for which no CPU is selected.
pub(super) static CAUSE: Cause = Cause {
    path: "scheduler/placement/no-selection",
    about: "tasks were woken while they were still queued, so the kernel selected no CPU",
    evidence: "The task was still on the run queue when it was woken (delayed dequeue, Linux 6.12 \
        and later), and another CPU was idle.",
    refuted_by: "The kernel selected a CPU for the task.",
    advice: "Try the scheduler feature NO_DELAY_DEQUEUE.",
    source: "kernel commit 152e11f6df29 (sched/fair: Implement delayed dequeue)",
    missing: "The reason why the task was still queued: it was about to sleep, or its dequeue was \
        delayed.",
    named: false,
    holds: |it| it.is_waste_under(Rules::Fair) && it.onset == Onset::NoSelection,
};
