//! Affinities, cpusets, isolated CPUs.

use super::{Cause, LostTime};

/// Affinities, cpusets, isolated CPUs.
pub(super) static CAUSE: Cause = Cause {
    path: "configuration/affinity",
    about: "affinities excluded the waiting tasks from the idle CPUs",
    evidence: "If tasks had no affinities, more waiting tasks could run on idle CPUs.",
    refuted_by: "The task may use an idle CPU. Threads that serve one CPU or one interrupt do not \
        count.",
    advice: "Widen the CPU mask: use taskset(1), the cgroup's cpuset.cpus, or isolcpus=.",
    source: "sched_setaffinity(2); kernel: Documentation/admin-guide/cgroup-v2.rst, \
        cpuset.cpus",
    missing: "The origin of the mask: the task itself, its cpuset, or isolated CPUs. The trace \
        contains only the resulting mask.",
    named: true,
    holds: |it| it.loss == LostTime::Affinity,
};
