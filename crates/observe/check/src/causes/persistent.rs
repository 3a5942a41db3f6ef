//! Load balancing that leaves a task for several passes.

use super::{Balancing, Cause, Onset, Rules};

/// Load balancing that leaves a task for several passes.
pub(super) static CAUSE: Cause = Cause {
    path: "scheduler/balancing/persistent",
    about: "several passes of load balancing left the tasks where they waited",
    evidence: "While the CPU that was idle longest stayed idle, there was waste for more than half \
        of the time, and in all for longer than four of its balancing passes take at most. A pass \
        takes twice the CPUs of the level that it shares with the waiting task's CPU in \
        milliseconds, and a tick. All but the first pass of that time counts. With decisions: four \
        passes after ticks compared the CPU of the waiting task with an idle one and took nothing; \
        the time from the first of them counts.",
    refuted_by: "No CPU was idle for so long beside waste, or waste was rare in that time.",
    advice: "Record the passes and domains: record --decisions.",
    source: "kernel/sched/fair.c: sched_balance_domains, get_sd_balance_interval; Lozi et \
        al., EuroSys 2016, section 3",
    missing: "Whether no pass ran or a pass left the task: record --decisions.",
    named: false,
    holds: |it| {
        it.is_waste_under(Rules::Fair)
            && it.balancing == Balancing::Failed
            && it.onset != Onset::AllBusy
    },
};
