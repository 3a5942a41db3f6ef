//! Balancing between nodes that are two hops apart.

use super::{Balancing, Cause, Rules};

/// Balancing between nodes that are two hops apart.
pub(super) static CAUSE: Cause = Cause {
    path: "scheduler/balancing/beyond-one-hop",
    about: "balancing did not move tasks between nodes that are two hops apart",
    evidence: "As for scheduler/balancing/persistent; and the task waited on a node two hops \
        away from the idle CPU or farther, while no task waited within one hop of that \
        CPU. With decisions: in the narrowest domain of the idle CPU that has both, the \
        task's CPU is in the local group, or in a group that has the idle CPU as well; the \
        time counts from the next tick. Later waste of that kind counts at once, until a \
        task moves from the one node to the other.",
    refuted_by: "Tasks waited within one hop of the idle CPU, or the hops are not known.",
    advice: "Look at the groups of the top level (/sys/kernel/debug/sched/domains): both \
        nodes are in all groups if these are built from one CPU's view. Pin such \
        programs to adjacent nodes.",
    source: "Lozi et al., EuroSys 2016, section 3.2 (scheduling group construction)",
    missing: "The groups of the domains: record --decisions.",
    named: true,
    holds: |it| it.is_waste_under(Rules::Fair) && it.balancing == Balancing::FailedBeyondOneHop,
};
