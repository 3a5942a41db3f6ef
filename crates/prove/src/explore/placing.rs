//! Where handlers put tasks: every queue that some path through some handler can reach.

use std::collections::BTreeSet;

use wastenot_model::CpuId;
use wastenot_rota::eval::{At, Frame, widen};
use wastenot_rota::ir::{Event, Level, Put, Set, Stmt};

use super::situation::{Place, Situation, Task, World};

/// A place where a handler can put a task that may run on some CPUs.
#[derive(Clone, Debug)]
pub struct Placed<'p> {
    /// The queue.
    pub queue: usize,
    /// Whose.
    pub group: usize,
    /// Where the task was last.
    pub prev: CpuId,
    /// By which event.
    pub event: Event,
    /// By which statement.
    pub put: &'p Put,
}

/// Everywhere that a task with this affinity can be put. Conditions may go either way.
pub fn placed<'p>(world: &World<'p>, mask: u32) -> Vec<Placed<'p>> {
    let task = Task { place: Place::Away, mask, weight: 100 };
    let situation = Situation { tasks: vec![task], vars: world.vars() };
    let mut found = Vec::new();
    for event in Event::ALL.into_iter().filter(|event| event.places()) {
        for &prev in world.cpus() {
            // Whoever ran there was allowed to, unless its affinity was changed meanwhile: then it
            // is woken or displaced, and `prev` may be anything.
            let frame = Frame { prev: Some(prev), here: Some(prev), ..world.frame() };
            let mut walk = Walk { world, situation: &situation, event, prev, found: &mut found };
            walk.block(&world.policy.handlers[event as usize], &frame);
        }
    }
    found
}

/// The queues where a task with this affinity can come to wait: put there, or moved there by
/// periodic balancing.
pub fn waits(world: &World<'_>, mask: u32) -> BTreeSet<(usize, usize)> {
    let mut queues: BTreeSet<(usize, usize)> =
        placed(world, mask).iter().map(|placed| (placed.queue, placed.group)).collect();
    loop {
        let before = queues.len();
        for periodic in &world.policy.periodic {
            let balance = &periodic.balance;
            let Some(into) = balance.into else { continue };
            if !queues.iter().any(|&(queue, _)| queue == balance.from) {
                continue;
            }
            // Whoever balances takes what may run on it.
            let able = world.cpus().iter().filter(|cpu| mask >> cpu.0 & 1 == 1);
            let groups = able.map(|&cpu| (into, world.tree().group(world.per[into], cpu)));
            queues.extend(groups);
        }
        if queues.len() == before {
            return queues;
        }
    }
}

struct Walk<'w, 'p> {
    world: &'w World<'p>,
    situation: &'w Situation,
    event: Event,
    prev: CpuId,
    found: &'w mut Vec<Placed<'p>>,
}

impl<'p> Walk<'_, 'p> {
    fn block(&mut self, block: &'p [Stmt], frame: &Frame) {
        let Some((stmt, rest)) = block.split_first() else { return };
        let look = self.world.look(self.situation, Some(0));
        match stmt {
            Stmt::Claim { slot, within, near, .. } => {
                let near = frame.place(&look, near);
                for found in self.claims(near, *within) {
                    let mut next = frame.clone();
                    next.set_slot(*slot, found);
                    self.block(rest, &next);
                }
            }
            Stmt::Pick { slot, set, .. } => {
                for cpu in self.members(set, frame) {
                    let mut next = frame.clone();
                    next.set_slot(*slot, Some(cpu));
                    self.block(rest, &next);
                }
            }
            Stmt::Let(slot, _) => {
                let mut next = frame.clone();
                next.set_local(*slot, 0);
                self.block(rest, &next);
            }
            Stmt::Put(put) => {
                let per = self.world.per[put.queue.queue];
                let group = frame.queue(&look, &put.queue, per);
                let (queue, prev, event) = (put.queue.queue, self.prev, self.event);
                self.found.push(Placed { queue, group, prev, event, put });
                self.block(rest, frame);
            }
            Stmt::If { condition, then, otherwise } => {
                let both = match condition {
                    wastenot_rota::ir::Bool::Found(slot) => {
                        let found = frame.slots.get(*slot).copied().flatten().is_some();
                        [(found, then), (!found, otherwise)]
                    }
                    _ => [(true, then), (true, otherwise)],
                };
                for (_, branch) in both.into_iter().filter(|(taken, _)| *taken) {
                    self.block(branch, frame);
                }
                self.block(rest, frame);
            }
            Stmt::SetTask(..) | Stmt::SetCpu { .. } | Stmt::Run { .. } | Stmt::Kick { .. } => {
                self.block(rest, frame);
            }
        }
    }

    /// What a claim may find: none, or any CPU that the task may use.
    fn claims(&self, near: At, within: Option<Level>) -> Vec<Option<CpuId>> {
        let tree = self.world.tree();
        let inside = |cpu: CpuId| {
            within.is_none_or(|level| tree.group(level, cpu) == widen(tree, near, level).group)
        };
        let able = self.world.cpus().iter().copied();
        let able = able.filter(|&cpu| self.situation.tasks[0].allowed(cpu) && inside(cpu));
        std::iter::once(None).chain(able.map(Some)).collect()
    }

    fn members(&self, set: &Set, frame: &Frame) -> Vec<CpuId> {
        let look = self.world.look(self.situation, Some(0));
        match set {
            Set::Allowed => {
                let able = |cpu: &CpuId| self.situation.tasks[0].allowed(*cpu);
                self.world.cpus().iter().copied().filter(able).collect()
            }
            Set::In(place) => {
                let At { level, group } = frame.place(&look, place);
                self.world.tree().members(level, group).to_vec()
            }
        }
    }
}
