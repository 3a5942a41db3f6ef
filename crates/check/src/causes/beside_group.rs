//! Balancing that compares averages of groups.

use super::{Balancing, Cause, Rules};

/// Balancing that compares averages of groups.
pub(super) static CAUSE: Cause = Cause {
    path: "scheduler/balancing/beside-group",
    about: "a task of another cgroup or session made the idle CPU's node seem busy",
    evidence: "The evidence of scheduler/balancing/persistent, and: a task of another cgroup or \
        session than the waiting task's ran on the node of the idle CPU. The load of that group is \
        divided among fewer tasks, so each of its tasks counts for more in the node's average \
        load. With decisions: a pass found no busier group, or found another group than that of \
        the waiting task; and such a task ran in the local group or in the group that the pass \
        found. Later waste of this kind, between the same nodes or the same last-level caches of a \
        node, counts immediately, until a task moves in that direction.",
    refuted_by: "All tasks that ran on that node are of one cgroup or session.",
    advice: "Try noautogroup or equal cpu.weight. Compare with a kernel that balances by idle CPUs \
        (5.5 and later).",
    source: "Lozi et al., EuroSys 2016, section 3.1 (group imbalance)",
    missing: "The groups that the pass compared (record --decisions), and their loads.",
    named: true,
    holds: |it| it.is_waste_under(Rules::Fair) && it.balancing == Balancing::FailedBesideGroup,
};
