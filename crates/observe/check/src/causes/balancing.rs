//! Load balancing that does not move a task.

use super::{Cause, Onset, Rules};

/// Load balancing that does not move a task.
pub(super) static CAUSE: Cause = Cause {
    path: "scheduler/balancing",
    about: "load balancing did not move the waiting tasks to the idle CPUs",
    evidence: "No CPU was idle when the wait began, so a CPU that became idle did not take the \
        task; and since then there was waste for longer than four balancing passes take.",
    refuted_by: "A CPU that the task may use was idle when its wait began, and no CPU was idle for \
        four balancing passes beside waste.",
    advice: "See the causes below this one: check --cause scheduler/balancing.",
    source: "kernel/sched/fair.c: sched_balance_rq; Lozi et al., EuroSys 2016, section 3",
    missing: "Whether no pass ran or a pass left the task: record --decisions.",
    named: true,
    holds: |it| {
        it.is_waste_under(Rules::Fair) && (it.balancing.failed() || it.onset == Onset::AllBusy)
    },
};
