//! Load balancing that does not move a task.

use super::{Cause, Rules};

/// Load balancing that does not move a task.
pub(super) static CAUSE: Cause = Cause {
    path: "scheduler/balancing",
    about: "load balancing did not move the waiting tasks to the idle CPUs",
    evidence: "The same CPU was idle, and the wait lasted, longer than an idle CPU lets pass \
        between two balancing passes at their common level: twice the number of CPUs \
        there in milliseconds, and a tick.",
    refuted_by: "The CPU became idle, or the wait began, less than that ago.",
    advice: "Look at the domains (/sys/kernel/debug/sched/domains) and at group averages: \
        autogroup, cgroup weights, CPUs that were offline.",
    source: "kernel/sched/fair.c: sched_balance_domains, get_sd_balance_interval; Lozi et \
        al., EuroSys 2016, section 3",
    missing: "Whether no pass ran or a pass left the task: the passes and their results \
       .",
    holds: |it| it.is_waste_under(Rules::Fair) && it.persisted,
};
