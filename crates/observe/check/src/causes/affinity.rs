//! Affinities, cpusets, isolated CPUs.

use super::{Cause, LostTime};

/// Affinities, cpusets, isolated CPUs.
pub(super) static CAUSE: Cause = Cause {
    path: "configuration/affinity",
    about: "affinities kept tasks that waited from the idle CPUs",
    evidence: "The matching between idle CPUs and waiting tasks would be larger without \
        affinities.",
    refuted_by: "The task may use an idle CPU. Threads that serve one CPU or interrupt do not \
        count.",
    advice: "Widen the mask: taskset(1), the cgroup's cpuset.cpus, isolcpus=.",
    source: "sched_setaffinity(2); kernel: Documentation/admin-guide/cgroup-v2.rst, \
        cpuset.cpus",
    missing: "Whether the task set its own mask, its cpuset did, or CPUs are isolated: \
        recordings hold the resulting mask only.",
    named: true,
    holds: |it| it.loss == LostTime::Affinity,
};
