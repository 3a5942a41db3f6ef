//! The CPU that has been idle longest, and the waste since it became idle.

use wastenot_model::{CpuId, Span};

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
    idle: bool,
    /// How long there had been waste before it became idle.
    wasted: Span,
    before: u16,
    after: u16,
}

impl IdleOrder {
    pub(super) fn new(cpus: usize) -> IdleOrder {
        let link = Link { idle: false, wasted: Span::ZERO, before: NONE, after: NONE };
        IdleOrder { links: vec![link; cpus], first: NONE, last: NONE }
    }

    /// `cpu` is idle from now on, or is not; so far there was waste for so long.
    pub(super) fn set(&mut self, cpu: CpuId, idle: bool, wasted: Span) {
        let link = self.links[cpu.index()];
        if idle == link.idle {
            return;
        }
        if idle {
            let before = std::mem::replace(&mut self.last, cpu.0);
            self.links[cpu.index()] = Link { idle, wasted, before, after: NONE };
            match before {
                NONE => self.first = cpu.0,
                before => self.links[usize::from(before)].after = cpu.0,
            }
        } else {
            self.links[cpu.index()].idle = false;
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

    /// How long there had been waste before `cpu` became idle, if it is.
    pub(super) fn before(&self, cpu: CpuId) -> Option<Span> {
        let link = self.links[cpu.index()];
        link.idle.then_some(link.wasted)
    }

    /// The idle CPUs, the one that has been idle longest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = CpuId> + '_ {
        let mut next = self.first;
        std::iter::from_fn(move || {
            let link = self.links.get(usize::from(next))?;
            Some(CpuId(std::mem::replace(&mut next, link.after)))
        })
    }
}
