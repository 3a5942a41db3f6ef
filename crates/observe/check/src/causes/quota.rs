//! CPU bandwidth of cgroups.

use super::{Cause, LostTime};

/// CPU bandwidth of cgroups.
pub(super) static CAUSE: Cause = Cause {
    path: "configuration/quota",
    about: "quotas held tasks back",
    evidence: "The kernel marked the task's run queue as throttled while the task wanted to \
        run. Of waste: on every idle CPU that the waiting task may use, other tasks of its \
        cgroup were held back, so it would be held back there.",
    refuted_by: "The task waits on a run queue that is not throttled, and on an idle CPU that it \
        may use no task of its cgroup is held back.",
    advice: "Raise cpu.max of the cgroup or of one above it, allow bursts (cpu.max.burst), \
        or use fewer threads.",
    source: "kernel: Documentation/scheduler/sched-bwc.rst",
    missing: "When the quota was filled again: a recorder sees this when the task runs, so \
        the last wait is included.",
    named: true,
    holds: |it| it.loss == LostTime::Quota || it.held,
};
