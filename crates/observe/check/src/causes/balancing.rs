//! Load balancing that does not move a task.

use super::{Cause, Onset, Rules};

/// Load balancing that does not move a task.
pub(super) static CAUSE: Cause = Cause {
    path: "scheduler/balancing",
    about: "load balancing did not move the waiting tasks to the idle CPUs",
    evidence: "No CPU was idle when the wait began, so a CPU that became idle later did not take \
        the task. Since then, there was waste for longer than four balancing intervals.",
    refuted_by: "A CPU that the task may use was idle when the wait began, and no CPU stayed idle \
        for four balancing intervals while there was waste.",
    advice: "See the causes below this one: check --cause scheduler/balancing.",
    source: "kernel/sched/fair.c: sched_balance_rq; Lozi et al., EuroSys 2016, section 3",
    missing: "The balancing passes (record --decisions): either no pass ran, or a pass left the \
        task.",
    named: true,
    holds: |it| {
        it.is_waste_under(Rules::Fair) && (it.balancing.failed() || it.onset == Onset::AllBusy)
    },
};
