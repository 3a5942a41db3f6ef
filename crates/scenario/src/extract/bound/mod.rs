//! What no scheduler beats.
//!
//! A figure is called a bound only if it holds under every schedule. So it leaves out the order in
//! which a lock went from task to task, which token and which part of a pile went to whom. Where
//! the History tells the programs of its tasks ([`plan`]), these say what must come before what;
//! where it does not ([`crews`]), only what a task that shares its work with no other did itself,
//! and the work by the CPUs. docs/what-if.md has the argument.

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

/// What no scheduler beats, whatever it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// What it rests on.
    pub basis: Basis,
    /// The longest path of what must come after each other under every schedule.
    pub path: Option<Span>,
    /// What is done under one lock, one after the other, with what must come before and after:
    /// the longest of all locks. Nothing where locks are not known.
    pub lock: Option<Span>,
    /// The work by all CPUs, with what must come before and after where that is known.
    pub work: Span,
    /// Of the sets of CPUs that some tasks are bound to, that which takes longest, and how long.
    pub affinity: Option<(CpuSet, Span)>,
}

/// What a bound rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The programs of tasks: what they shared, and that they waited, is known.
    Programs,
    /// What tasks ran, slept and forked. Whether they waited while they ran is not known.
    Tasks,
    /// Nothing: who woke whom is not told, or not of enough wakeups.
    NoWakers,
}

impl Bound {
    /// How long the work takes at least, if that is known.
    pub fn span(&self) -> Option<Span> {
        if self.basis == Basis::NoWakers {
            return None;
        }
        let affinity = self.affinity.as_ref().map(|(_, span)| *span);
        [self.path, self.lock, Some(self.work), affinity].into_iter().flatten().max()
    }
}

impl Extracted {
    /// What no scheduler beats.
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

    /// The CPUs that are there at some time.
    fn online(&self) -> CpuSet {
        let mut online = self.machine.online();
        for plug in self.workload.hotplug.iter().filter(|plug| plug.up) {
            online.insert(plug.cpu);
        }
        if online.is_empty() { CpuSet::first(self.machine.len()) } else { online }
    }
}
