//! What happened on some CPUs in a stretch of time, in a few numbers.

use std::ops::AddAssign;

use wastenot_model::{Activity, TaskId};

use crate::Doing;

/// The sum of what CPUs did in a stretch of time: CPU time in ns, unless it says otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// Some task ran.
    pub busy_ns: u64,
    /// There was nothing to run.
    pub idle_ns: u64,
    /// A task was queued there and about to start.
    pub waking_ns: u64,
    /// Nothing is known.
    pub unknown_ns: u64,
    /// It was down.
    pub offline_ns: u64,
    /// The part of `idle_ns` in which a task that could have run there waited elsewhere.
    pub wanted_ns: u64,
    /// Task time: how long tasks waited there, summed over tasks.
    pub waiting_ns: u64,
    /// The most tasks that waited on one CPU at once.
    pub waiting_max: u32,
    /// A task that ran: the one that ran for more than half of `busy_ns`, if there is one.
    pub task: Option<TaskId>,
    /// How much longer it ran than what was set off against it (Boyer and Moore, 1981).
    lead_ns: u64,
}

impl Sum {
    /// A CPU did so for `ns`, of which it was wanted elsewhere for `wanted_ns`.
    #[inline]
    pub(crate) fn add(&mut self, is: Doing, ns: u64, wanted_ns: u64) {
        let part = match is.activity {
            Activity::Run(task) => {
                self.vote(task, ns);
                &mut self.busy_ns
            }
            Activity::Idle => &mut self.idle_ns,
            Activity::Waking => &mut self.waking_ns,
            Activity::Unknown => &mut self.unknown_ns,
            Activity::Offline => &mut self.offline_ns,
        };
        *part += ns;
        self.wanted_ns += wanted_ns;
        self.waiting_ns = self.waiting_ns.saturating_add(ns.saturating_mul(is.waiting.into()));
        self.waiting_max = self.waiting_max.max(is.waiting);
    }

    fn vote(&mut self, task: TaskId, ns: u64) {
        if self.task == Some(task) {
            self.lead_ns += ns;
        } else if self.lead_ns >= ns && self.task.is_some() {
            self.lead_ns -= ns;
        } else {
            (self.task, self.lead_ns) = (Some(task), ns - self.lead_ns);
        }
    }

    /// All of its time.
    pub fn ns(&self) -> u64 {
        [self.idle_ns, self.waking_ns, self.unknown_ns, self.offline_ns]
            .into_iter()
            .fold(self.busy_ns, u64::saturating_add)
    }
}

impl AddAssign for Sum {
    fn add_assign(&mut self, other: Sum) {
        let each = [
            (&mut self.busy_ns, other.busy_ns),
            (&mut self.idle_ns, other.idle_ns),
            (&mut self.waking_ns, other.waking_ns),
            (&mut self.unknown_ns, other.unknown_ns),
            (&mut self.offline_ns, other.offline_ns),
            (&mut self.wanted_ns, other.wanted_ns),
            (&mut self.waiting_ns, other.waiting_ns),
        ];
        for (sum, ns) in each {
            *sum = sum.saturating_add(ns);
        }
        self.waiting_max = self.waiting_max.max(other.waiting_max);
        if let Some(task) = other.task {
            self.vote(task, other.lead_ns);
        }
    }
}

/// A [`Sum`] in 12 bytes: shares of its time in steps of 1/255, of which none that is above zero
/// becomes zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// Some task ran.
    pub busy: u8,
    /// A task was queued there and about to start.
    pub waking: u8,
    /// Nothing is known.
    pub unknown: u8,
    /// It was down.
    pub offline: u8,
    /// It was idle while a task that could have run there waited elsewhere.
    pub wanted: u8,
    /// Tasks that waited there, on average, in steps of a sixteenth; 255 is 16 or more.
    pub waiting: u8,
    /// The most tasks that waited on one CPU at once; 255 is that many or more.
    pub waiting_max: u8,
    /// `u32::MAX` where none ran.
    task: u32,
}

impl Cell {
    /// A task that ran, as in [`Sum::task`].
    pub fn task(&self) -> Option<TaskId> {
        (self.task != u32::MAX).then_some(TaskId(self.task))
    }
}

impl From<&Sum> for Cell {
    fn from(sum: &Sum) -> Cell {
        let all = u128::from(sum.ns().max(1));
        // Rounded to the nearest step, but what there was stays above zero.
        let share = |ns: u64, steps: u128| {
            let nearest = (u128::from(ns) * steps * 2 + all) / (2 * all);
            nearest.clamp(u128::from(ns > 0), 255) as u8
        };
        Cell {
            busy: share(sum.busy_ns, 255),
            waking: share(sum.waking_ns, 255),
            unknown: share(sum.unknown_ns, 255),
            offline: share(sum.offline_ns, 255),
            wanted: share(sum.wanted_ns, 255),
            waiting: share(sum.waiting_ns, 16),
            waiting_max: sum.waiting_max.min(255) as u8,
            task: sum.task.map_or(u32::MAX, |task| task.0),
        }
    }
}
