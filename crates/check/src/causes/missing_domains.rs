//! Scheduling domains that lack CPUs.

use super::{Balancing, Cause, Rules};

/// Scheduling domains that lack CPUs.
pub(super) static CAUSE: Cause = Cause {
    path: "scheduler/balancing/missing-domains",
    about: "no scheduling domain of the idle CPUs has the CPUs where the tasks waited",
    evidence: "The recording has decisions. No balancing pass of the idle CPU, or of any CPU in \
        its widest domain, considered the CPU where the task waited, and one of them was idle for \
        so long that all its domains were balanced.",
    refuted_by: "A pass of one of these CPUs considered it.",
    advice: "Look at the domains (/sys/kernel/debug/sched/domains): isolcpus and partitions of \
        cpusets divide them, and kernels before 4.4 lose levels when a CPU goes off.",
    source: "Lozi et al., EuroSys 2016, section 3.4 (missing scheduling domains); \
        kernel/sched/topology.c: build_sched_domains",
    missing: "What divides the domains.",
    holds: |it| it.is_waste_under(Rules::Fair) && it.balancing == Balancing::FailedOutOfSight,
};
