//! The time that a wakeup takes.

use super::{Cause, LostTime};

/// The time that a wakeup takes.
pub(super) static CAUSE: Cause = Cause {
    path: "host/wakeup",
    about: "starting a task on an idle CPU takes time",
    evidence: "The CPU ran its idle task for at most --wake-grace although a task was queued on \
        this CPU.",
    refuted_by: "The CPU needs longer than --wake-grace.",
    advice: "Act only if wakeups are very frequent: let the tasks poll instead of sleeping, or use \
        shallower idle states.",
    source: "kernel: kernel/sched/idle.c",
    missing: "Idle states and interrupts: record --interrupts.",
    named: true,
    holds: |it| it.loss == LostTime::WakeDelay && !it.over_grace,
};
