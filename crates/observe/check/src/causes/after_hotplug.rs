//! Balancing between nodes that ended when a CPU came online.

use super::{Balancing, Cause, Rules};

/// Balancing between nodes that ended when a CPU came online.
pub(super) static CAUSE: Cause = Cause {
    path: "scheduler/balancing/after-hotplug",
    about: "load balancing has moved no task between nodes since a CPU came back online",
    evidence: "The conditions of scheduler/balancing/persistent hold. In addition, the idle CPU is \
        on another node than the waiting task, and no task has moved between nodes since a CPU \
        came online. With decisions (record --decisions), another condition applies: no scheduling \
        domain of the idle CPU contains the CPU of the waiting task. Time then counts from the \
        next tick on. After that, waste between the same two nodes counts immediately, until a \
        task moves from the node of the waiting task to the node of the idle CPU.",
    refuted_by: "A task moved between nodes after the CPU came online.",
    advice: "Compare the domains before and after the hotplug (/sys/kernel/debug/sched/domains). \
        Update the kernel, or boot with all CPUs online.",
    source: "Lozi et al., EuroSys 2016, section 3.4 (missing scheduling domains); kernel \
        commit 8f37961cf223",
    missing: "The scheduling domains before and after the hotplug: record --decisions.",
    named: true,
    holds: |it| it.is_waste_under(Rules::Fair) && it.balancing == Balancing::FailedAfterHotplug,
};
