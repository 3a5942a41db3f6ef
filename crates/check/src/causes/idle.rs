//! Which CPU has been idle longest.

use wastenot_model::{CpuId, Time};

const NONE: u16 = u16::MAX;

/// The idle CPUs by the time since when they are idle.
#[derive(Debug)]
pub(super) struct IdleOrder {
    links: Vec<Link>,
    first: u16,
    last: u16,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    /// `Time::MAX` for a CPU that is not idle.
    since: Time,
    before: u16,
    after: u16,
}

impl IdleOrder {
    pub(super) fn new(cpus: usize) -> IdleOrder {
        let link = Link { since: Time::MAX, before: NONE, after: NONE };
        IdleOrder { links: vec![link; cpus], first: NONE, last: NONE }
    }

    /// `cpu` is idle from now on, or is not.
    pub(super) fn set(&mut self, cpu: CpuId, idle: bool, now: Time) {
        let link = self.links[cpu.index()];
        if idle == (link.since != Time::MAX) {
            return;
        }
        if idle {
            let before = std::mem::replace(&mut self.last, cpu.0);
            self.links[cpu.index()] = Link { since: now, before, after: NONE };
            match before {
                NONE => self.first = cpu.0,
                before => self.links[usize::from(before)].after = cpu.0,
            }
        } else {
            self.links[cpu.index()].since = Time::MAX;
            match link.before {
                NONE => self.first = link.after,
                before => self.links[usize::from(before)].after = link.after,
            }
            match link.after {
                NONE => self.last = link.before,
                after => self.links[usize::from(after)].before = link.before,
            }
        }
    }

    /// The idle CPUs, the one that has been idle longest first, and since when.
    pub(super) fn iter(&self) -> impl Iterator<Item = (CpuId, Time)> + '_ {
        let mut next = self.first;
        std::iter::from_fn(move || {
            let link = self.links.get(usize::from(next))?;
            let cpu = CpuId(std::mem::replace(&mut next, link.after));
            Some((cpu, link.since))
        })
    }
}
