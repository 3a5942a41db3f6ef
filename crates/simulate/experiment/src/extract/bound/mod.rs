//! Lower bounds on the run time under any scheduler.
//!
//! A figure is called a bound only if it holds under every schedule. So it ignores the order in
//! which a lock went from task to task, which token and which part of a pile went to which task. If
//! the History contains the programs of its tasks ([`plan`]), these define what must come before
//! what. Otherwise ([`crews`]) the bound uses only what a task that shares its work with no other
//! did itself, and the work divided by the CPUs. docs/explain/what-if.md has the argument.

pub(super) mod crews;
mod crowd;
mod loose;
mod needed;
pub(super) mod plan;
mod recorded;
mod tails;

use wastenot_model::{CpuSet, Span};

use super::{Extracted, Wakers};
pub use crowd::Crowd;
pub use recorded::{AsRecorded, Chain, End};

/// Lower bounds on the run time that hold under any scheduler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The information that they rest on.
    pub basis: Basis,
    /// The longest path of steps that must follow each other under every schedule.
    pub path: Option<Span>,
    /// The critical sections of one lock, one after the other, with what must come before and
    /// after: the maximum over all locks. `None` if locks are not known.
    pub lock: Option<Span>,
    /// The work divided by all CPUs, with what must come before and after if that is known.
    pub work: Span,
    /// Among the sets of CPUs to which some tasks are bound, the set that takes longest, and how
    /// long.
    pub affinity: Option<(CpuSet, Span)>,
}

/// The information that a bound rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The programs of tasks: shared objects and waits are known.
    Programs,
    /// What tasks ran, slept and forked. Whether they waited while they ran is not known.
    Tasks,
    /// No bound: wakers are not recorded, or not for enough wakeups.
    NoWakers,
}

impl Bound {
    /// The least time that the work takes, if it is known.
    pub fn span(&self) -> Option<Span> {
        if self.basis == Basis::NoWakers {
            return None;
        }
        let affinity = self.affinity.as_ref().map(|(_, span)| *span);
        [self.path, self.lock, Some(self.work), affinity].into_iter().flatten().max()
    }
}

impl Extracted {
    /// The lower bounds of this work under any scheduler.
    pub fn bound(&self) -> Bound {
        let online = self.online();
        let programs = self.plan.as_ref().and_then(|plan| plan.bound(&self.machine, &online));
        programs.unwrap_or_else(|| {
            let work = Crowd { cpus: online, work: self.awaited_work }.span();
            let told = self.wakers == Wakers::Told;
            let basis = if told { Basis::Tasks } else { Basis::NoWakers };
            let path = told.then(|| self.crews.longest());
            Bound { basis, path, lock: None, work, affinity: None }
        })
    }

    /// The CPUs that are online at some time.
    fn online(&self) -> CpuSet {
        let mut online = self.machine.online();
        for plug in self.workload.hotplug.iter().filter(|plug| plug.up) {
            online.insert(plug.cpu);
        }
        if online.is_empty() { CpuSet::first(self.machine.len()) } else { online }
    }
}
