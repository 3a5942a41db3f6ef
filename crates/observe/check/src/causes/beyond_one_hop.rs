//! Balancing between nodes that are two hops apart.

use super::{Balancing, Cause, Rules};

/// Balancing between nodes that are two hops apart.
pub(super) static CAUSE: Cause = Cause {
    path: "scheduler/balancing/beyond-one-hop",
    about: "load balancing did not move tasks between nodes that are two hops apart",
    evidence: "The conditions of scheduler/balancing/persistent hold. In addition, the task waited \
        on a node at least two hops away from the idle CPU, and no task waited within one hop of \
        that CPU. With decisions (record --decisions), another condition applies to the smallest \
        domain of the idle CPU that contains both CPUs: the CPU of the task is in the local group \
        of this domain, or in a group that also contains the idle CPU. Time then counts from the \
        next tick on. After that, waste between the same two nodes counts immediately, until a \
        task moves from the node of the waiting task to the node of the idle CPU.",
    refuted_by: "Tasks waited within one hop of the idle CPU, or the number of hops is unknown.",
    advice: "Look at the groups of the top-level domain (/sys/kernel/debug/sched/domains). If the \
        kernel built these groups from the view of one CPU, all groups contain both nodes. Pin \
        such programs to adjacent nodes.",
    source: "Lozi et al., EuroSys 2016, section 3.2 (scheduling group construction)",
    missing: "The groups of the domains: record --decisions.",
    named: true,
    holds: |it| it.is_waste_under(Rules::Fair) && it.balancing == Balancing::FailedBeyondOneHop,
};
