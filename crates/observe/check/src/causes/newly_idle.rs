//! Newly-idle balancing that takes no task.

use super::{Cause, Onset, Rules};

/// Newly-idle balancing that takes no task.
pub(super) static CAUSE: Cause = Cause {
    path: "scheduler/balancing/newly-idle",
    about: "CPUs that became idle did not take the waiting tasks",
    evidence: "No CPU was idle when the wait began. Later, a CPU became idle and did not take the \
        task.",
    refuted_by: "A CPU that the task may use was idle when the wait began.",
    advice: "Try another kernel (what-if).",
    source: "kernel/sched/fair.c: sched_balance_newidle; kernel commits 155213a2aed4, \
        d206fbad9328, 33cf66d88306",
    missing: "The newly-idle passes: record --decisions.",
    named: false,
    holds: |it| {
        it.is_waste_under(Rules::Fair) && !it.balancing.failed() && it.onset == Onset::AllBusy
    },
};
