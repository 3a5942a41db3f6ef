//! Balancing between nodes that ended when a CPU came online.

use super::{Balancing, Cause, Rules};

/// Balancing between nodes that ended when a CPU came online.
pub(super) static CAUSE: Cause = Cause {
    path: "scheduler/balancing/after-hotplug",
    about: "since a CPU came online again, balancing has moved no task between nodes",
    evidence: "As for scheduler/balancing/persistent; and the idle CPU is on another node than \
        the waiting task, and no task has moved between nodes since a CPU came online. \
        With decisions: no domain of the idle CPU has the task's CPU; the time counts \
        from the next tick. Later waste of that kind counts at once, until a task moves \
        from the one node to the other.",
    refuted_by: "A task moved between nodes after the CPU came online.",
    advice: "Compare the domains before and after (/sys/kernel/debug/sched/domains); update \
        the kernel, or boot with all CPUs online.",
    source: "Lozi et al., EuroSys 2016, section 3.4 (missing scheduling domains); kernel \
        commit 8f37961cf223",
    missing: "The scheduling domains before and after: record --decisions.",
    named: true,
    holds: |it| it.is_waste_under(Rules::Fair) && it.balancing == Balancing::FailedAfterHotplug,
};
