//! The time that a wakeup takes.

use super::{Cause, LostTime};

/// The time that a wakeup takes.
pub(super) static CAUSE: Cause = Cause {
    path: "host/wakeup",
    about: "starting a task on an idle CPU takes time",
    evidence: "The CPU ran its idle task although a task was queued on it, for at most \
        --wake-grace.",
    refuted_by: "The CPU takes longer.",
    advice: "Only with very many wakeups: poll instead of sleeping, or shallower idle \
        states.",
    source: "kernel: kernel/sched/idle.c",
    missing: "Idle states and interrupts: record --interrupts.",
    named: true,
    holds: |it| it.loss == LostTime::WakeDelay && !it.over_grace,
};
