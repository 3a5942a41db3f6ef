//! CPU bandwidth of cgroups.

use super::{Cause, LostTime};

/// CPU bandwidth of cgroups.
pub(super) static CAUSE: Cause = Cause {
    path: "configuration/quota",
    about: "quotas held tasks back",
    evidence: "The kernel marked the task's run queue as throttled while the task was runnable. \
        Waste has this cause if the quota held back other tasks of the same cgroup on every idle \
        CPU that the waiting task may use. The quota would hold back this task there, too.",
    refuted_by: "The run queue of the waiting task is not throttled, and the task may use an idle \
        CPU where no task of its cgroup is held back.",
    advice: "Raise cpu.max of the cgroup or of a cgroup above it, allow bursts (cpu.max.burst), or \
        use fewer threads.",
    source: "kernel: Documentation/scheduler/sched-bwc.rst",
    missing: "The time when the quota was refilled. A recorder sees the refill only when the task \
        runs, so the lost time includes the last wait.",
    named: true,
    holds: |it| it.loss == LostTime::Quota || it.held,
};
