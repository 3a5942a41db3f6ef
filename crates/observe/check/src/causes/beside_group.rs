//! Balancing that compares averages of groups.

use super::{Balancing, Cause, Rules};

/// Balancing that compares averages of groups.
pub(super) static CAUSE: Cause = Cause {
    path: "scheduler/balancing/beside-group",
    about: "a task of another cgroup or session made the idle CPU's node seem busy",
    evidence: "As for scheduler/balancing/persistent; and on the node of the idle CPU ran a task \
        of another cgroup or session than the one that waited: its load is divided among fewer \
        tasks, so it counts for more in the average of the node. With decisions: a pass found \
        no group busier, or another one than that of the waiting task, and such a task ran in \
        the local group or in that one. Later waste of that kind, between the same nodes or \
        last-level caches of a node, counts at once, until a task moves that way.",
    refuted_by: "Tasks of one group only ran on that node.",
    advice: "Try noautogroup or equal cpu.weight; compare with a kernel that balances by \
        idle CPUs (5.5 and later).",
    source: "Lozi et al., EuroSys 2016, section 3.1 (group imbalance)",
    missing: "The groups that were compared (record --decisions), and their loads.",
    named: true,
    holds: |it| it.is_waste_under(Rules::Fair) && it.balancing == Balancing::FailedBesideGroup,
};
