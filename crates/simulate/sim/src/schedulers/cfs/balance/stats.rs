//! The load statistics of a group of CPUs (`struct sg_lb_stats`).

use super::super::topology::Group;
use super::super::{Cfs, mask};

/// The state of a group; later ones are worse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) enum Class {
    /// It can run more tasks.
    #[default]
    HasSpare,
    /// It runs as many tasks as it can; no task waits for long.
    FullyBusy,
    /// Tasks could not be moved below because they are pinned.
    Imbalanced,
    /// It has more tasks than it can run.
    Overloaded,
}

/// Sums over the CPUs of a group.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct Load {
    pub(in super::super) load: u64,
    pub(in super::super) util: u64,
    pub(in super::super) runnable: u64,
    pub(in super::super) running: u32,
    pub(in super::super) idle_cpus: u32,
    /// The minimum and maximum load of a CPU.
    pub(in super::super) least: u64,
    pub(in super::super) most: u64,
    /// Whether a CPU has more than one task.
    pub(in super::super) overload: bool,
}

impl Load {
    /// Every CPU has a task, and together they have more work than they can do.
    pub(in super::super) fn overloaded(&self, group: &Group, pct: u64) -> bool {
        self.running > group.weight && group.capacity * 100 < self.util * pct
    }
    /// As [`Load::overloaded`], or tasks wait longer than they may (5.9 and later).
    fn overloaded_or_waiting(&self, group: &Group, pct: u64) -> bool {
        let waits = group.capacity * pct < self.runnable * 100;
        self.overloaded(group, pct) || self.running > group.weight && waits
    }
    pub(in super::super) fn has_capacity(&self, group: &Group, pct: u64) -> bool {
        self.running < group.weight || group.capacity * 100 > self.util * pct
    }
    /// The class from 5.5 on.
    pub(in super::super) fn classify(&self, group: &Group, pct: u64) -> Class {
        let waits = group.capacity * pct < self.runnable * 100;
        if self.overloaded_or_waiting(group, pct) {
            Class::Overloaded
        } else if group.pinned {
            Class::Imbalanced
        } else if self.running < group.weight || !waits && self.has_capacity(group, pct) {
            Class::HasSpare
        } else {
            Class::FullyBusy
        }
    }
}

impl Cfs {
    /// Adds the statistics of `cpu`, with the load that balancing reads now.
    pub(in super::super) fn add_load(&self, sum: &mut Load, cpu: u32) {
        self.add_load_as(sum, cpu, self.queue_load(cpu));
    }

    pub(super) fn add_load_as(&self, sum: &mut Load, cpu: u32, load: u64) {
        let (queue, rq) = (&self.queues[cpu as usize], &self.rqs[cpu as usize]);
        sum.least = if sum.running == 0 && sum.load == 0 && sum.idle_cpus == 0 {
            load
        } else {
            sum.least.min(load)
        };
        sum.most = sum.most.max(load);
        sum.load += load;
        sum.util += queue.avg.util.min(1024) * rq.capacity / 1024;
        sum.runnable += queue.avg.runnable * rq.capacity / 1024;
        sum.running += queue.tasks;
        sum.idle_cpus += u32::from(self.is_idle(cpu));
        sum.overload |= rq.nr > 1;
    }

    /// Whether a group holds a CPU.
    pub(super) fn holds(&self, group: u32, cpu: u32) -> bool {
        mask::contains(&self.topology.groups[group as usize].cpus, cpu as usize)
    }
}
