//! Load balancing that leaves a task for several passes.

use super::{Balancing, Cause, Onset, Rules};

/// Load balancing that leaves a task for several passes.
pub(super) static CAUSE: Cause = Cause {
    path: "scheduler/balancing/persistent",
    about: "several passes of load balancing did not move the waiting tasks",
    evidence: "The rule looks at the CPU that had been idle longest. While this CPU stayed idle, \
        there was waste for more than half of the time, and for longer than four balancing \
        intervals. A balancing interval is one tick plus 2 ms for each CPU of a topology level: \
        the lowest level that contains this CPU and the CPU of the waiting task. Time counts after \
        the first interval. With decisions (record --decisions), another condition applies: four \
        passes after ticks compared the CPU of the waiting task with an idle CPU and took no task. \
        Time then counts from the first of these passes on.",
    refuted_by: "No CPU stayed idle for four balancing intervals while there was waste, or there \
        was waste for less than half of that time.",
    advice: "Record the passes and domains: record --decisions.",
    source: "kernel/sched/fair.c: sched_balance_domains, get_sd_balance_interval; Lozi et \
        al., EuroSys 2016, section 3",
    missing: "The balancing passes (record --decisions): either no pass ran, or a pass left the \
        task.",
    named: false,
    holds: |it| {
        it.is_waste_under(Rules::Fair)
            && it.balancing == Balancing::Failed
            && it.onset != Onset::AllBusy
    },
};
