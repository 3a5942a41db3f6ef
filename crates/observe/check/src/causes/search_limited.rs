//! Wakeups that search one cache.

use super::{Cause, Onset, Rules};

/// Wakeups that search one cache.
pub(super) static CAUSE: Cause = Cause {
    path: "scheduler/placement/search-limited",
    about: "tasks were woken on a busy CPU while the idle ones did not share its last-level cache",
    evidence: "At the wakeup no allowed CPU that shares the selected CPU's last-level cache \
        was idle, and another one was.",
    refuted_by: "A CPU of that cache was idle.",
    advice: "Spread the threads, or try another scheduler (what-if).",
    source: "kernel/sched/fair.c: select_idle_sibling; Lozi et al., EuroSys 2016, section \
        3.3",
    missing: "The searched CPUs: record --decisions.",
    named: false,
    holds: |it| it.is_waste_under(Rules::Fair) && it.onset == Onset::OtherCache,
};
