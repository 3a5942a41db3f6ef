//! Picks the next task of a CPU: entities ordered by virtual runtime, in a queue for each group.
//!
//! After `enqueue_task_fair`, `dequeue_task_fair`, `pick_next_entity`, `check_preempt_tick` and
//! `check_preempt_wakeup` of kernel/sched/fair.c. The cost of a decision grows with the depth of
//! groups and the logarithm of the queue's length; for EEVDF with the queue's length.

use wastenot_model::TaskId;
use wastenot_model::policy::Context;

use super::rules::Era;
use super::{Cfs, weight};

/// How an entity comes onto a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// It is new and pays for one slice in advance (`START_DEBIT`).
    New,
    /// It slept and gets up to half a latency of credit (`GENTLE_FAIR_SLEEPERS`).
    Woken,
    /// It comes from another CPU with the lag that it had there.
    Moved,
}

impl Cfs {
    /// A task becomes runnable on the queue of its group on its CPU ([`Cfs::settle_on`]).
    pub(super) fn enqueue_task(&mut self, task: TaskId, arrival: Arrival) {
        let entity = self.entity_of(task);
        let cpu = self.cpu_of(entity);
        self.list_add(cpu, entity);
        let (mut at, mut arrival, mut entering) = (Some(entity), arrival, true);
        while let Some(entity) = at {
            let queue = self.entities[entity as usize].queue;
            entering &= !self.entities[entity as usize].on;
            self.enter(queue, entity, entering, arrival);
            self.queues[queue as usize].tasks += 1;
            if self.queues[queue as usize].throttled {
                return;
            }
            arrival = Arrival::Woken;
            at = self.parent(entity);
        }
        self.add_running(cpu, 1);
    }

    /// An entity is runnable on a queue, onto which it comes (`entering`), or where it is already.
    pub(super) fn enter(&mut self, queue: u32, entity: u32, entering: bool, arrival: Arrival) {
        match entering {
            true => self.enqueue_entity(queue, entity, arrival),
            // Its group had become empty.
            false if self.entities[entity as usize].delayed => self.requeue(queue, entity),
            false => self.refresh(queue, entity),
        }
    }

    /// A task is no longer runnable there; `sleeps`: by its own choice.
    pub(super) fn dequeue_task(&mut self, task: TaskId, sleeps: bool) {
        let entity = self.entity_of(task);
        if !sleeps || !self.delays(self.entities[entity as usize].queue, entity) {
            self.leave(entity, sleeps);
        }
    }

    /// A task that sleeps, and is still on its queue, leaves.
    pub(super) fn leave_late(&mut self, task: TaskId) {
        if self.is_delayed(task) {
            self.leave(self.entity_of(task), true);
        }
    }

    /// An entity leaves its queue, with those above it whose queues are empty then.
    fn leave(&mut self, entity: u32, sleeps: bool) {
        let (cpu, tasks) = (self.cpu_of(entity), u32::from(entity >= self.base));
        if entity >= self.base {
            self.list_remove(cpu, entity);
        }
        let (mut at, mut leaving, mut sleeps) = (Some(entity), true, sleeps);
        while let Some(entity) = at {
            let queue = self.entities[entity as usize].queue;
            match leaving {
                true => self.dequeue_entity(queue, entity, sleeps),
                false => self.refresh(queue, entity),
            }
            self.queues[queue as usize].tasks -= tasks;
            if self.queues[queue as usize].throttled {
                return;
            }
            leaving &= self.queues[queue as usize].entities == 0;
            at = self.parent(entity);
            // A group that has become empty sleeps, however its last task left.
            if let Some(above) = at.filter(|_| leaving) {
                leaving = !self.delays(self.entities[above as usize].queue, above);
                sleeps |= self.rules.delay_dequeue;
            }
        }
        self.add_running(cpu, -(tasks as i32));
    }

    /// The next task of `cpu`, which becomes current on every level. Entities that slept before
    /// leave when it is their turn.
    pub(super) fn pick_task(&mut self, cpu: u32) -> Option<TaskId> {
        let mut queue = cpu;
        let entity = loop {
            let entity = self.pick_entity(queue)?;
            if self.entities[entity as usize].delayed {
                self.leave(entity, true);
                queue = cpu;
            } else if entity >= self.base {
                break entity;
            } else {
                queue = entity;
            }
        };
        let mut at = Some(entity);
        while let Some(entity) = at {
            self.set_next(self.entities[entity as usize].queue, entity);
            at = self.parent(entity);
        }
        if self.rules.era != Era::V4 {
            self.list_to_front(cpu, entity); // most recently run first, from 4.16 on
        }
        Some(self.task_of(entity))
    }

    /// The current task of a CPU stops running; if it is still runnable it goes back into the
    /// order.
    pub(super) fn put_prev(&mut self, task: TaskId) {
        let mut at = Some(self.entity_of(task));
        while let Some(entity) = at {
            let queue = self.entities[entity as usize].queue;
            if self.queues[queue as usize].current == Some(entity) {
                if self.entities[entity as usize].on {
                    self.update_current(queue);
                    self.advance(queue, entity);
                    self.end_slice(entity);
                    let key = self.entities[entity as usize].vruntime;
                    self.order.insert(queue as usize, entity, key);
                }
                self.queues[queue as usize].current = None;
            }
            at = self.parent(entity);
        }
    }

    /// Whether the running task has used up its slice, at a tick.
    pub(super) fn tick_task(&mut self, cpu: u32) -> bool {
        let (mut queue, mut over) = (cpu, false);
        while let Some(entity) = self.queues[queue as usize].current {
            self.update_current(queue);
            self.refresh(queue, entity);
            if self.queues[queue as usize].entities > 1 {
                over |= match self.rules.eevdf {
                    true => self.end_slice(entity),
                    false => self.slice_is_over(queue, entity),
                };
            }
            if entity >= self.base {
                break;
            }
            queue = entity;
        }
        over
    }

    /// A task has become runnable on `cpu`: it may preempt the running task.
    pub(super) fn check_preempt(&mut self, cx: &mut Context, cpu: u32, task: TaskId) {
        let Some(current) = self.current_task(cpu) else {
            cx.kick_idle(super::cpu_id(cpu));
            return;
        };
        if self.rqs[cpu as usize].stopping {
            return;
        }
        let (mut running, mut woken) = (current, self.entity_of(task));
        let depth = |cfs: &Cfs, entity: u32| {
            let queue = &cfs.queues[cfs.entities[entity as usize].queue as usize];
            cfs.groups[queue.group as usize].depth
        };
        let (mut of_running, mut of_woken) = (depth(self, running), depth(self, woken));
        // Up to the level where both are on one queue: only there can they be compared.
        while self.entities[running as usize].queue != self.entities[woken as usize].queue {
            let (up_running, up_woken) = (of_running >= of_woken, of_woken >= of_running);
            if up_running {
                running = self.entities[running as usize].queue;
                of_running = of_running.saturating_sub(1);
            }
            if up_woken {
                woken = self.entities[woken as usize].queue;
                of_woken = of_woken.saturating_sub(1);
            }
        }
        let queue = self.entities[woken as usize].queue;
        if !self.entities[woken as usize].on || running == woken {
            return; // throttled by a quota, or of the group that runs
        }
        self.update_current(queue);
        let preempts = match self.rules.eevdf {
            true => self.pick_deadline(queue, Some(running)) == Some(woken),
            false => self.lead(running, woken) > 0,
        };
        if preempts {
            self.queues[queue as usize].next = Some(woken);
            cx.preempt(super::cpu_id(cpu));
        }
    }

    /// The running task yields to others of its queue.
    pub(super) fn yield_task(&mut self, task: TaskId) {
        let entity = self.entity_of(task);
        let queue = self.entities[entity as usize].queue;
        if self.rules.eevdf {
            let slice = self.virtual_slice(entity);
            self.entities[entity as usize].deadline += slice;
        } else {
            self.queues[queue as usize].skip = Some(entity);
        }
    }

    /// Accounts the run time of the current entity of `queue`.
    pub(super) fn update_current(&mut self, queue: u32) {
        let Some(current) = self.queues[queue as usize].current else { return };
        let entity = &mut self.entities[current as usize];
        let delta = self.now.saturating_sub(entity.exec_start);
        if delta == 0 {
            return;
        }
        entity.exec_start = self.now;
        entity.ran += delta;
        entity.vruntime += weight::scaled(delta, entity.weight) as i64;
        self.update_min(queue);
        if self.quotas {
            self.charge(queue, delta);
        }
    }

    /// The minimum virtual runtime of a queue only grows, so that no entity gains by leaving.
    fn update_min(&mut self, queue: u32) {
        let at = &mut self.queues[queue as usize];
        let running = at.current.map(|entity| &self.entities[entity as usize]);
        let running = running.filter(|entity| entity.on).map(|entity| entity.vruntime);
        let first = self.order.first(queue as usize).map(|(vruntime, _)| vruntime);
        let least = match (running, first) {
            (Some(running), Some(first)) => running.min(first),
            (one, other) => one.or(other).unwrap_or(at.min_vruntime),
        };
        at.min_vruntime = at.min_vruntime.max(least);
    }

    pub(super) fn enqueue_entity(&mut self, queue: u32, entity: u32, arrival: Arrival) {
        self.update_current(queue);
        self.attach_on_arrival(queue, entity);
        self.place(queue, entity, arrival);
        let place = &mut self.entities[entity as usize];
        place.on = true;
        let (weight, load, key) = (place.weight, place.avg.load, place.vruntime);
        let at = &mut self.queues[queue as usize];
        at.weight += weight;
        at.entities += 1;
        at.runnable_load += load;
        if at.current != Some(entity) {
            self.order.insert(queue as usize, entity, key);
        }
        self.wake_quota(queue);
    }

    pub(super) fn dequeue_entity(&mut self, queue: u32, entity: u32, sleeps: bool) {
        self.update_current(queue);
        self.advance(queue, entity);
        if self.rules.eevdf {
            self.keep_lag(queue, entity);
            self.end_delay(entity);
        }
        let place = &mut self.entities[entity as usize];
        place.on = false;
        let (weight, load) = (place.weight, place.avg.load);
        let at = &mut self.queues[queue as usize];
        at.weight -= weight;
        at.entities -= 1;
        at.runnable_load = at.runnable_load.saturating_sub(load);
        at.next = at.next.filter(|&next| next != entity);
        at.skip = at.skip.filter(|&skip| skip != entity);
        if at.current != Some(entity) {
            self.order.remove(entity);
        }
        if sleeps || at.entities > 0 {
            self.update_min(queue);
        }
        if entity < self.base {
            self.update_shares(entity);
        }
    }

    fn set_next(&mut self, queue: u32, entity: u32) {
        self.order.remove(entity);
        self.advance(queue, entity);
        let picked = &mut self.entities[entity as usize];
        picked.exec_start = self.now;
        picked.ran_before = picked.ran;
        if self.rules.eevdf {
            picked.protected_until = picked.deadline; // `RUN_TO_PARITY`
        }
        let at = &mut self.queues[queue as usize];
        at.current = Some(entity);
        at.next = at.next.filter(|&next| next != entity);
        at.skip = None;
    }

    fn pick_entity(&mut self, queue: u32) -> Option<u32> {
        if self.rules.eevdf {
            return self.pick_deadline(queue, None);
        }
        let (_, first) = self.order.first(queue as usize)?;
        let at = &self.queues[queue as usize];
        let fair = |entity: &u32| self.lead(*entity, first) <= 0;
        if let Some(next) = at.next.filter(fair) {
            return Some(next);
        }
        if at.skip == Some(first) {
            let others = self.order.iter(queue as usize).filter(|&(_, entity)| entity != first);
            let second = others.min().map(|(_, entity)| entity);
            return second.filter(fair).or(Some(first));
        }
        Some(first)
    }

    /// Places an entity among the others of its queue when it arrives.
    fn place(&mut self, queue: u32, entity: u32, arrival: Arrival) {
        if self.rules.eevdf {
            return self.place_by_lag(queue, entity, arrival);
        }
        let least = self.queues[queue as usize].min_vruntime;
        match arrival {
            Arrival::Moved => {}
            Arrival::Woken => {
                let credit = (self.rules.tunables.latency / 2) as i64;
                let own = &mut self.entities[entity as usize].vruntime;
                *own = (*own).max(least - credit);
            }
            Arrival::New => {
                let slice = self.slice(queue, entity);
                let place = &mut self.entities[entity as usize];
                let debit = weight::scaled(slice, place.weight) as i64;
                place.vruntime = place.vruntime.max(least + debit);
            }
        }
    }

    /// The share of a latency that an entity gets (`sched_slice`).
    fn slice(&self, queue: u32, entity: u32) -> u64 {
        let tunables = &self.rules.tunables;
        let place = &self.entities[entity as usize];
        let old = self.rules.era == Era::V4;
        let at = &self.queues[queue as usize];
        // From 5.13 on, and in stable 5.10, all tasks of the CPU share a latency (`ALT_PERIOD`).
        let nr = if old { at.entities } else { self.queues[at.cpu as usize].tasks };
        let nr = u64::from(nr) + u64::from(!place.on);
        let mut slice = match nr > tunables.latency / tunables.min_granularity {
            true => nr * tunables.min_granularity,
            false => tunables.latency,
        };
        let mut at = Some(entity);
        while let Some(entity) = at {
            let place = &self.entities[entity as usize];
            let total = self.queues[place.queue as usize].weight;
            let total = if place.on { total } else { total + place.weight };
            slice = weight::share(slice, place.weight, total);
            at = self.parent(entity);
        }
        if old { slice } else { slice.max(tunables.min_granularity) }
    }

    fn slice_is_over(&self, queue: u32, entity: u32) -> bool {
        let slice = self.slice(queue, entity);
        let place = &self.entities[entity as usize];
        let ran = place.ran - place.ran_before;
        if ran > slice || ran < self.rules.tunables.min_granularity {
            return ran > slice;
        }
        let first = self.order.first(queue as usize);
        first.is_some_and(|(vruntime, _)| place.vruntime - vruntime > slice as i64)
    }

    /// Compares `other` with `one`, which would run (`wakeup_preempt_entity`): above 0 `other` goes
    /// first, at 0 it is ahead by less than the granularity, below 0 it is behind.
    fn lead(&self, one: u32, other: u32) -> i32 {
        let (one, other) = (&self.entities[one as usize], &self.entities[other as usize]);
        let ahead = one.vruntime - other.vruntime;
        let matters = weight::scaled(self.rules.tunables.wakeup_granularity, other.weight) as i64;
        if ahead <= 0 { -1 } else { i32::from(ahead > matters) }
    }

    /// The entity of the task that is current on `cpu`.
    pub(super) fn current_task(&self, cpu: u32) -> Option<u32> {
        let mut queue = cpu;
        loop {
            let entity = self.queues[queue as usize].current?;
            if entity >= self.base {
                return Some(entity);
            }
            queue = entity;
        }
    }
}
