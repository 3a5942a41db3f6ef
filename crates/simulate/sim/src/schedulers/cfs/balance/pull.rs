//! Selects the queue of the busiest group, and the tasks to pull from it (`find_busiest_queue`,
//! `can_migrate_task`, `detach_tasks`).

use wastenot_model::policy::Context;
use wastenot_model::{CpuId, TaskId};

use super::super::entity::END;
use super::super::fair::Arrival;
use super::super::rules::{Era, Imbalance, MIGRATION_COST, NR_MIGRATE};
use super::super::{Cfs, cpu_id, mask};
use super::{Amount, Look, Phase};

impl Cfs {
    /// The queue of a group to pull from.
    pub(super) fn find_busiest_queue(&self, look: &Look, group: u32) -> Option<u32> {
        let group = &self.topology.groups[group as usize];
        let mut busiest: Option<(u64, u64, u32)> = None; // amount, capacity, CPU
        let mut next = 0;
        while let Some(cpu) = mask::next(&group.cpus, &self.considered, next) {
            next = cpu + 1;
            let cpu = cpu as u32;
            let tasks = u64::from(self.queues[cpu as usize].tasks);
            let (has, of) = match look.amount {
                _ if tasks == 0 => continue,
                Amount::Load(imbalance) => {
                    let load = self.queue_load(cpu);
                    if self.rqs[cpu as usize].nr == 1 && load > imbalance {
                        continue;
                    }
                    (load, self.rqs[cpu as usize].capacity)
                }
                Amount::Util(_) if tasks == 1 => continue,
                Amount::Util(_) => (self.queues[cpu as usize].avg.util, 1),
                Amount::Tasks(_) => (tasks, 1),
            };
            if has > 0 && busiest.is_none_or(|(most, per, _)| has * per > most * of) {
                busiest = Some((has, of, cpu));
            }
        }
        busiest.map(|(_, _, cpu)| cpu).filter(|&cpu| cpu != look.to)
    }

    /// Pulls tasks of `busiest` until the imbalance is used up; returns how many. If some may only
    /// run on another CPU of the group, that CPU gets them.
    pub(super) fn pull(&mut self, cx: &mut Context, look: &mut Look, busiest: u32) -> u32 {
        let mut moved = self.pull_round(cx, look, busiest);
        while let Some(other) = look.other.take().filter(|_| look.amount.left()) {
            mask::set(&mut self.considered, look.to as usize, false);
            look.to = other;
            look.redirected = false;
            let more = self.pull_round(cx, look, busiest);
            moved += more;
        }
        moved
    }

    fn pull_round(&mut self, cx: &mut Context, look: &mut Look, busiest: u32) -> u32 {
        let (mut looks, mut moved) = (NR_MIGRATE.min(self.rqs[busiest as usize].nr), 0);
        while looks > 0 && look.amount.left() {
            if look.idle != Phase::Busy && self.rqs[busiest as usize].nr <= 1 {
                break; // never the last one
            }
            let Some(entity) = self.list_next(busiest) else { break };
            looks -= 1;
            let task = self.task_of(entity);
            let may = self.may_pull(cx, look, task);
            let Some(left) = may.then(|| self.left_after(look, task)).flatten() else {
                self.list_pass_over(busiest, entity);
                continue;
            };
            self.move_queued(cx, task, look.to);
            look.amount = left;
            moved += 1; // continue even if newly idle: these kernels have no CONFIG_PREEMPT
        }
        moved
    }

    /// The amount that is left to move after `task`; `None` if the task is too big for it.
    fn left_after(&mut self, look: &Look, task: TaskId) -> Option<Amount> {
        let entity = self.entity_of(task);
        let failed = self.topology.chains[look.cpu as usize][look.level].failed;
        match look.amount {
            Amount::Load(imbalance) => {
                let load = self.task_load(entity).max(1);
                let fits = match self.rules.imbalance {
                    Imbalance::Rework => load >> failed.min(63) <= imbalance,
                    _ => load / 2 <= imbalance,
                };
                fits.then_some(Amount::Load(imbalance.saturating_sub(load)))
            }
            Amount::Util(imbalance) => {
                let util = self.entities[entity as usize].avg.util;
                let fits = match self.rules.era {
                    Era::V6 => util >> failed.min(63) <= imbalance,
                    _ => util <= imbalance,
                };
                fits.then_some(Amount::Util(imbalance.saturating_sub(util)))
            }
            Amount::Tasks(tasks) => Some(Amount::Tasks(tasks - 1)),
        }
    }

    /// Whether affinity, running state and a hot cache allow a task to be pulled.
    fn may_pull(&mut self, cx: &Context, look: &mut Look, task: TaskId) -> bool {
        let entity = self.entity_of(task);
        // A thread that is bound to one CPU is where it should be, and no sign of imbalance (from
        // 5.12 on, and in the stable 5.10).
        let of_cpu = self.rules.era != Era::V4 && cx.task(task).kthread && cx.pinned(task);
        if of_cpu || self.is_delayed(task) || self.is_held(entity) || self.is_held_on(look.to, task)
        {
            return false;
        }
        if !cx.allowed(task, cpu_id(look.to)) {
            look.some_pinned = true;
            if look.idle != Phase::Newly && look.other.is_none() {
                look.other = self.other_of_group(cx, look, task);
            }
            return false;
        }
        look.all_pinned = false;
        let queue = self.entities[entity as usize].queue;
        if self.queues[queue as usize].current == Some(entity) {
            return false;
        }
        let domain = &self.topology.chains[look.cpu as usize][look.level];
        !self.is_hot(look, entity) || domain.failed > domain.cache_nice_tries
    }

    /// Another CPU of the local group where `task` may run; in 6.1 one of those that balance for
    /// it.
    fn other_of_group(&self, cx: &Context, look: &Look, task: TaskId) -> Option<u32> {
        let group = self.topology.groups(look.cpu, look.level)[0];
        let group = &self.topology.groups[group as usize];
        let cpus = if self.rules.era == Era::V6 { &group.balance } else { &group.cpus };
        let mut next = 0;
        while let Some(cpu) = mask::next(cpus, &self.considered, next) {
            next = cpu + 1;
            if cpu as u32 != look.to && cx.allowed(task, CpuId(cpu as u16)) {
                return Some(cpu as u32);
            }
        }
        None
    }

    /// Whether a task ran so recently that it is cache-hot, or is about to run.
    fn is_hot(&self, look: &Look, entity: u32) -> bool {
        let domain = &self.topology.chains[look.cpu as usize][look.level];
        let place = &self.entities[entity as usize];
        let smt = domain.kind == wastenot_model::machine::domains::Kind::Smt;
        if smt && self.rules.era != Era::V4 {
            return false;
        }
        let next = self.queues[place.queue as usize].next == Some(entity);
        next && self.rqs[look.to as usize].nr > 0
            || place.ran > 0 && self.now.saturating_sub(place.exec_start) < MIGRATION_COST
    }

    /// Moves one task of `from`, any that may, to `to`; returns whether one moved
    /// (`detach_one_task`).
    pub(super) fn pull_one(&mut self, cx: &mut Context, from: u32, to: u32) -> bool {
        let mut next = match self.rules.era {
            Era::V4 => self.rqs[from as usize].first,
            Era::V5 | Era::V6 => self.rqs[from as usize].last,
        };
        while next != END {
            let links = &self.tasks[next as usize];
            let task = TaskId::nth(next as usize);
            next = if self.rules.era == Era::V4 { links.after } else { links.before };
            let entity = self.entity_of(task);
            let queue = self.entities[entity as usize].queue;
            let runs = self.queues[queue as usize].current == Some(entity);
            let held = self.is_delayed(task) || self.is_held(entity) || self.is_held_on(to, task);
            if !runs && !held && cx.allowed(task, cpu_id(to)) {
                self.move_queued(cx, task, to);
                return true;
            }
        }
        false
    }

    /// Moves a queued task to another CPU (`detach_task`, `attach_task`).
    pub(in super::super) fn move_queued(&mut self, cx: &mut Context, task: TaskId, to: u32) {
        self.dequeue_task(task, false);
        let group = self.tasks[task.ordinal()].group;
        self.settle_on(self.entity_of(task), group, to);
        self.enqueue_task(task, Arrival::Moved);
        cx.moved(task, cpu_id(to));
        self.check_preempt(cx, to, task);
    }
}
