//! The scheduler, without more.

use super::{Cause, LostTime, Onset, Rules};

/// The scheduler, without more.
pub(super) static CAUSE: Cause = Cause {
    path: "scheduler",
    about: "the scheduler left CPUs idle while tasks waited",
    evidence: "The task was put on an idle CPU, which ran another one first, and another CPU \
        was idle. Or a scheduler of sched_ext had the tasks for a part of the time, or some of \
        them.",
    refuted_by: "Any evidence for a cause below this one.",
    advice: "Record with the start state and all scheduling events: wastenot record.",
    source: "Lozi et al., EuroSys 2016",
    missing: "What the queue held when the task was put there.",
    named: true,
    holds: |it| {
        it.loss == LostTime::Waste && (it.onset == Onset::OnIdle || it.rules == Rules::Several)
    },
};
