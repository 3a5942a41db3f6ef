//! Scheduling domains that lack CPUs.

use super::{Balancing, Cause, Rules};

/// Scheduling domains that lack CPUs.
pub(super) static CAUSE: Cause = Cause {
    path: "scheduler/balancing/missing-domains",
    about: "the scheduling domains of the idle CPUs did not contain the CPUs where tasks waited",
    evidence: "The trace contains the scheduling domains of the idle CPU, and none of these \
        domains contains the CPU where the task waited. Time counts from the next tick on.",
    refuted_by: "A domain of the idle CPU contains the CPU where the task waited.",
    advice: "Look at the domains (/sys/kernel/debug/sched/domains). isolcpus and cpuset partitions \
        divide domains, and kernels before 4.4 lose domain levels when a CPU goes offline.",
    source: "Lozi et al., EuroSys 2016, section 3.4 (missing scheduling domains); \
        kernel/sched/topology.c: build_sched_domains",
    missing: "The setting or event that divided the domains. Without decisions: the domains \
        (record --decisions).",
    named: false,
    holds: |it| it.is_waste_under(Rules::Fair) && it.balancing == Balancing::FailedOutOfSight,
};
