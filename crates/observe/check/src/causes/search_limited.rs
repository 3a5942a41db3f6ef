//! Wakeups that search one cache.

use super::{Cause, Onset, Rules};

/// Wakeups that search one cache.
pub(super) static CAUSE: Cause = Cause {
    path: "scheduler/placement/search-limited",
    about: "tasks were woken on a busy CPU while only CPUs with another last-level cache were idle",
    evidence: "At the wakeup, an allowed CPU was idle. But all allowed CPUs that share a \
        last-level cache with the selected CPU were busy.",
    refuted_by: "An allowed CPU with that cache was idle.",
    advice: "Spread the threads, or try another scheduler (what-if).",
    source: "kernel/sched/fair.c: select_idle_sibling; Lozi et al., EuroSys 2016, section \
        3.3",
    missing: "The CPUs that the kernel searched: record --decisions.",
    named: false,
    holds: |it| it.is_waste_under(Rules::Fair) && it.onset == Onset::OtherCache,
};
