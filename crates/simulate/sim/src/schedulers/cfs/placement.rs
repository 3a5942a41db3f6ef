//! Where a new task, or one that executes a new program, begins: down the domains to the group with
//! the least load, and there to the CPU with the least load (`find_idlest_group`,
//! `find_idlest_cpu`).

use wastenot_model::policy::{Context, Note, Why};
use wastenot_model::{Decision, TaskId, decisions, nice};

use super::balance::{Class, Load};
use super::rules::{Era, Imbalance, Wakeup};
use super::{Cfs, cpu_id, mask};

/// The room of a group for one more task.
#[derive(Clone, Copy, Debug)]
struct Room {
    class: Class,
    avg_load: u64,
    idle_cpus: u32,
    util: u64,
    running: u32,
}

impl Cfs {
    /// From `cpu` down its domains. Missing levels are skipped.
    pub(super) fn select_by_load(
        &mut self,
        cx: &mut Context,
        task: TaskId,
        cpu: u32,
        prev: u32,
    ) -> u32 {
        let allowed = mask::of(cx.mask(task), self.width as usize);
        let mut at = if self.rqs[cpu as usize].online { cpu } else { prev };
        let chain = &self.topology.chains[at as usize];
        let Some(mut level) = chain.iter().rposition(|domain| domain.near) else { return prev };
        let mut chosen = prev;
        loop {
            let group = self.idlest_group(at, level, &allowed);
            let new = group.and_then(|group| self.idlest_cpu(at, group, &allowed));
            match new {
                Some(new) if new != at => {
                    let weight = self.topology.chains[at as usize][level].weight;
                    (at, chosen) = (new, new);
                    let chain = &self.topology.chains[at as usize];
                    let below = chain.iter().take_while(|domain| domain.weight < weight);
                    match below.collect::<Vec<_>>().iter().rposition(|domain| domain.near) {
                        Some(next) => level = next,
                        None => return chosen,
                    }
                }
                _ => {
                    if new == Some(at) {
                        chosen = at;
                    }
                    let below = &self.topology.chains[at as usize][..level];
                    match below.iter().rposition(|domain| domain.near) {
                        Some(next) => level = next,
                        None => return chosen,
                    }
                }
            }
        }
    }

    /// Reports which CPU was selected, if an observer wants it.
    pub(super) fn note_selected(
        &self,
        cx: &mut Context,
        task: TaskId,
        (prev, cpu): (u32, u32),
        why: Why,
    ) {
        let (what, sync) = match why {
            Why::Wakeup { sync } => (Decision::WAKEUP, sync),
            Why::New => (Decision::FORK, false),
            Why::Exec => (Decision::EXEC, false),
            Why::Displaced | Why::Preempted | Why::Yield | Why::Requeued => return,
        };
        cx.note(|cx| {
            let near = || self.topology.chains[cpu as usize].iter().rfind(|domain| domain.near);
            let considered = match (what, self.rules.wakeup) {
                (Decision::WAKEUP, Wakeup::Llc) => &self.topology.llc[cpu as usize].cpus,
                (Decision::WAKEUP, _) => &self.online,
                _ => near().map_or(&self.online, |domain| &domain.span),
            };
            let outcome = decisions::selected(cpu_id(prev), cpu_id(cpu), sync);
            Note::new(cx.cpu, what, Some(task), mask::to_set(considered), outcome)
        });
    }

    /// The group to go to; `None` to stay in the own group.
    fn idlest_group(&self, cpu: u32, level: usize, allowed: &[u64]) -> Option<u32> {
        match self.rules.imbalance {
            Imbalance::Rework => self.group_with_room(cpu, level, allowed),
            _ => self.group_of_least_load(cpu, level, allowed),
        }
    }

    /// Up to 5.4: the minimum average load, unless that of the own group is within half of the
    /// tolerance.
    fn group_of_least_load(&self, cpu: u32, level: usize, allowed: &[u64]) -> Option<u32> {
        let domain = &self.topology.chains[cpu as usize][level];
        let tolerance = 100 + (domain.imbalance_pct - 100) / 2;
        let (mut own, mut least, mut idlest) = (0, u64::MAX, None);
        for &id in self.topology.groups(cpu, level) {
            let group = &self.topology.groups[id as usize];
            if !mask::meet(&group.cpus, allowed) {
                continue;
            }
            let load: u64 = mask::iter(&group.cpus).map(|cpu| self.queue_load(cpu as u32)).sum();
            let average = load * 1024 / group.capacity;
            if mask::contains(&group.cpus, cpu as usize) {
                own = average;
            } else if average < least {
                (least, idlest) = (average, Some(id));
            }
        }
        idlest.filter(|_| 100 * own >= tolerance * least)
    }

    /// From 5.5 on: by the room of groups; between nodes, a task stays if its own group has room.
    fn group_with_room(&self, cpu: u32, level: usize, allowed: &[u64]) -> Option<u32> {
        let domain = &self.topology.chains[cpu as usize][level];
        let (mut own, mut idlest): (Option<Room>, Option<(u32, Room)>) = (None, None);
        for &id in self.topology.groups(cpu, level) {
            let group = &self.topology.groups[id as usize];
            if !mask::meet(&group.cpus, allowed) {
                continue;
            }
            let room = self.room(id, domain.imbalance_pct);
            if mask::contains(&group.cpus, cpu as usize) {
                own = Some(room);
            } else if idlest.is_none_or(|(_, best)| room.roomier(&best)) {
                idlest = Some((id, room));
            }
        }
        let (id, idlest) = idlest?;
        let Some(own) = own else { return Some(id) };
        if own.class != idlest.class {
            return (own.class > idlest.class).then_some(id);
        }
        let tolerance = nice::NICE_0 * (domain.imbalance_pct - 100) / 100;
        let goes = match own.class {
            Class::Overloaded | Class::FullyBusy => {
                let near = idlest.avg_load + tolerance >= own.avg_load;
                !(domain.numa() && near || idlest.avg_load >= own.avg_load + tolerance)
                    && 100 * own.avg_load > domain.imbalance_pct * idlest.avg_load
            }
            Class::Imbalanced => false,
            Class::HasSpare => {
                let differ = own.idle_cpus.abs_diff(idlest.idle_cpus);
                let stays = match self.rules.era {
                    Era::V4 | Era::V5 => own.idle_cpus > 0,
                    Era::V6 => own.running < domain.tolerated && differ <= 2,
                };
                !(domain.numa() && stays) && own.idle_cpus < idlest.idle_cpus
            }
        };
        goes.then_some(id)
    }

    fn room(&self, id: u32, imbalance_pct: u64) -> Room {
        let group = &self.topology.groups[id as usize];
        let mut load = Load::default();
        for cpu in mask::iter(&group.cpus) {
            self.add_load(&mut load, cpu as u32);
        }
        Room {
            class: load.classify(group, imbalance_pct),
            avg_load: load.load * 1024 / group.capacity,
            idle_cpus: load.idle_cpus,
            util: load.util,
            running: load.running,
        }
    }

    /// The CPU of a group to go to: the one that became idle last, whose caches are warmest, else
    /// the least loaded one.
    fn idlest_cpu(&self, cpu: u32, group: u32, allowed: &[u64]) -> Option<u32> {
        let group = &self.topology.groups[group as usize];
        let mut idle: Option<(u64, u32)> = None; // since, CPU
        let mut busy: Option<(u64, u32)> = None; // load, CPU
        let mut next = 0;
        while let Some(found) = mask::next(&group.cpus, allowed, next) {
            next = found + 1;
            let other = found as u32;
            if self.is_idle(other) {
                let since = self.rqs[found].idle_since;
                if idle.is_none_or(|(latest, _)| since > latest) {
                    idle = Some((since, other));
                }
            } else {
                let load = self.queue_load(other);
                if busy.is_none_or(|(least, _)| load < least || load == least && other == cpu) {
                    busy = Some((load, other));
                }
            }
        }
        idle.or(busy).map(|(_, cpu)| cpu)
    }
}

impl Room {
    fn roomier(&self, best: &Room) -> bool {
        if self.class != best.class {
            return self.class < best.class;
        }
        match self.class {
            Class::Overloaded | Class::FullyBusy => self.avg_load < best.avg_load,
            Class::Imbalanced => false,
            Class::HasSpare => {
                self.idle_cpus > best.idle_cpus
                    || self.idle_cpus == best.idle_cpus && self.util < best.util
            }
        }
    }
}
