//! Idle CPUs for which nothing balanced.

use super::{Balancing, Cause, Rules};

/// Idle CPUs for which nothing balanced.
pub(super) static CAUSE: Cause = Cause {
    path: "scheduler/balancing/no-pass",
    about: "no idle CPU ran a balancing pass that could have moved the task",
    evidence: "The trace contains the scheduling domains and the balancing passes. A domain of the \
        idle CPU contains the CPU where the task waited. No pass compared the two CPUs for longer \
        than the maximum interval between passes.",
    refuted_by: "A pass compared the two CPUs.",
    advice: "Compare with nohz=off, because ticks of busy CPUs start the passes of idle CPUs. \
        Compare the balancing intervals (/sys/kernel/debug/sched/domains).",
    source: "kernel/sched/fair.c: nohz_balancer_kick, sched_balance_domains, sched_balance_newidle",
    missing: "The reason why no pass ran: nohz_balancer_kick, max_newidle_lb_cost.",
    named: false,
    holds: |it| it.is_waste_under(Rules::Fair) && it.balancing == Balancing::NoPass,
};
