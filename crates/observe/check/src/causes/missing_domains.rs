//! Scheduling domains that lack CPUs.

use super::{Balancing, Cause, Rules};

/// Scheduling domains that lack CPUs.
pub(super) static CAUSE: Cause = Cause {
    path: "scheduler/balancing/missing-domains",
    about: "no scheduling domain of the idle CPUs has the CPUs where the tasks waited",
    evidence: "The source tells the scheduling domains of the idle CPU, and none of them has the \
        CPU where the task waited. The time counts from the next tick.",
    refuted_by: "A domain of the idle CPU has it.",
    advice: "Look at the domains (/sys/kernel/debug/sched/domains): isolcpus and partitions of \
        cpusets divide them, and kernels before 4.4 lose levels when a CPU goes off.",
    source: "Lozi et al., EuroSys 2016, section 3.4 (missing scheduling domains); \
        kernel/sched/topology.c: build_sched_domains",
    missing: "What divides the domains. Without decisions: the domains (record --decisions).",
    named: false,
    holds: |it| it.is_waste_under(Rules::Fair) && it.balancing == Balancing::FailedOutOfSight,
};
