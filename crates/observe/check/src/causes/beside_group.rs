//! Balancing that compares averages of groups.

use super::{Balancing, Cause, Rules};

/// Balancing that compares averages of groups.
pub(super) static CAUSE: Cause = Cause {
    path: "scheduler/balancing/beside-group",
    about: "a task of another cgroup or session made the idle CPU's node seem busy",
    evidence: "The conditions of scheduler/balancing/persistent hold. In addition, a task of \
        another cgroup or session ran on the node of the idle CPU. The load of this other group is \
        divided among fewer tasks, so each of its tasks counts for more in the average load of the \
        node. With decisions (record --decisions), two other conditions apply. A pass found no \
        busier group, or found a group without the CPU of the waiting task. And a task of another \
        cgroup or session ran in the local group, or in the group that the pass found. After that, \
        waste between the same nodes, or the same last-level caches of a node, counts immediately, \
        until a task moves from the side of the waiting task to the side of the idle CPU.",
    refuted_by: "All tasks that ran on that node belong to one cgroup or session.",
    advice: "Try noautogroup or equal cpu.weight. Compare with a kernel that balances by idle CPUs \
        (5.5 and later).",
    source: "Lozi et al., EuroSys 2016, section 3.1 (group imbalance)",
    missing: "The groups that the pass compared (record --decisions), and their loads.",
    named: true,
    holds: |it| it.is_waste_under(Rules::Fair) && it.balancing == Balancing::FailedBesideGroup,
};
