//! The scheduler, without more.

use super::{Cause, LostTime, Onset, Rules};

/// The scheduler, without more.
pub(super) static CAUSE: Cause = Cause {
    path: "scheduler",
    about: "the scheduler left CPUs idle while tasks waited",
    evidence: "The kernel put the task on an idle CPU, but this CPU ran another task first, and \
        another CPU was idle. Or a sched_ext scheduler was active for only some of the tasks or \
        some of the time.",
    refuted_by: "The trace has evidence for a cause below this one.",
    advice: "Record with the start state and all scheduling events: wastenot record.",
    source: "Lozi et al., EuroSys 2016",
    missing: "The content of the queue when the task was put there.",
    named: true,
    holds: |it| {
        it.loss == LostTime::Waste && (it.onset == Onset::OnIdle || it.rules == Rules::Several)
    },
};
