//! The largest kind of loss. It decides how a report begins, and which command the report suggests
//! next.

use std::cmp::Reverse;

use wastenot_model::{History, TaskId};

use super::beside::NOTABLE;
use crate::Check;
use crate::recorder::is_recorders;
use crate::waste::KeptTask;

/// What matters most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Matters {
    /// Waste. Also the answer where nothing was lost.
    Waste,
    /// Affinities kept more from tasks than was wasted.
    Affinity,
    /// Quotas held tasks back for longer.
    Quota,
    /// Little was wasted, but tasks waited for CPUs that ran others.
    Waits,
}

impl Check {
    pub(super) fn what_matters(&self) -> Matters {
        let waste = &self.waste;
        let notable = |ns: u64| ns as f64 > NOTABLE * waste.known_ns as f64;
        let kept = waste.kept.as_ref().map_or(0, |kept| kept.cpu_ns);
        let held = self.throttled.as_ref().map_or(0, |found| found.all.held_ns);
        let larger = |ns: u64| ns > waste.cpu_ns && notable(ns);
        match () {
            () if larger(kept) && kept >= held => Matters::Affinity,
            () if larger(held) => Matters::Quota,
            () if waste.share() < NOTABLE && notable(self.busy_wait_ns()) => Matters::Waits,
            () => Matters::Waste,
        }
    }

    /// For how long tasks waited while each CPU that they may use ran another one.
    pub(super) fn busy_wait_ns(&self) -> u64 {
        let idle = self.violations.total.idle_ns.saturating_add(self.waste.wake_delay.cpu_ns);
        self.waste.wait_ns.saturating_sub(idle)
    }

    /// The task that affinities kept from idle CPUs longest, where that matters most.
    pub(super) fn kept_most(&self) -> Option<&KeptTask> {
        let kept = self.waste.kept.as_ref().filter(|_| self.what_matters() == Matters::Affinity);
        kept.and_then(|kept| kept.tasks.first())
    }

    /// The task whose account says most, where waste is not what matters: the one that an affinity
    /// or a quota kept from running longest, or that waited longest.
    pub fn to_explain(&self, history: &History) -> Option<TaskId> {
        match self.what_matters() {
            Matters::Waste => None,
            Matters::Affinity => self.kept_most().map(|it| it.task),
            Matters::Quota => self.throttled.as_ref()?.by_task.first().map(|it| it.0),
            Matters::Waits => {
                let by_task = self.waits.by_task.iter().enumerate();
                let tasks = by_task.map(|(n, waited)| (waited.waits.sum, TaskId::nth(n)));
                let tasks = tasks.filter(|(ns, task)| *ns > 0 && !is_recorders(history, *task));
                tasks.max_by_key(|(ns, task)| (*ns, Reverse(*task))).map(|it| it.1)
            }
        }
    }
}
