//! Load balancing that leaves a task for several passes.

use super::{Balancing, Cause, Onset, Rules};

/// Load balancing that leaves a task for several passes.
pub(super) static CAUSE: Cause = Cause {
    path: "scheduler/balancing/persistent",
    about: "several passes of load balancing left the tasks where they waited",
    evidence: "While one CPU was idle, there was waste for longer than four balancing passes of an \
        idle CPU take at most at the level that it shares with the waiting task's CPU: a pass \
        takes twice the CPUs of that level in milliseconds, and a tick. Of that CPU's idle time all \
        but the first pass counts.",
    refuted_by: "No CPU was idle for so long beside waste.",
    advice: "Look at the domains (/sys/kernel/debug/sched/domains) and at group averages: \
        autogroup, cgroup weights, CPUs that were offline.",
    source: "kernel/sched/fair.c: sched_balance_domains, get_sd_balance_interval; Lozi et \
        al., EuroSys 2016, section 3",
    missing: "Whether no pass ran or a pass left the task: the passes and their results \
       .",
    holds: |it| {
        it.is_waste_under(Rules::Fair)
            && it.balancing == Balancing::Failed
            && it.onset != Onset::AllBusy
    },
};
