//! The load of a task, a group and a CPU: averages over groups, shares, and the hierarchical load.
//!
//! After `update_load_avg`, `update_cfs_group`, `propagate_entity_load_avg` and `task_h_load` of
//! kernel/sched/fair.c (form of v4.14 and later; up to 5.4 balancing reads the runnable part, which
//! the tunable `blocked-load` selects), and `update_cpu_load` of 4.1.

use super::pelt::Average;
use super::rules::Era;
use super::{Cfs, weight};

impl Cfs {
    /// The load of a queue for balancing.
    #[inline]
    pub(super) fn queue_load(&self, queue: u32) -> u64 {
        let queue = &self.queues[queue as usize];
        if self.rules.blocked_load { queue.avg.load } else { queue.runnable_load }
    }

    /// The total load that the entities of a queue divide: in 4.1 its runnable load, later all of
    /// its load, whatever balancing reads.
    #[inline]
    fn divided_load(&self, queue: u32) -> u64 {
        match self.rules.era {
            Era::V4 => self.queue_load(queue),
            Era::V5 | Era::V6 => self.queues[queue as usize].avg.load,
        }
    }

    /// The load of a task at the top of its CPU: the more tasks its group runs on other CPUs, the
    /// smaller it is.
    pub(super) fn task_load(&mut self, entity: u32) -> u64 {
        let place = &self.entities[entity as usize];
        let (queue, load) = (place.queue, place.avg.load);
        if queue < self.width {
            return load;
        }
        weight::share(load, self.hierarchical(queue), self.divided_load(queue) + 1)
    }

    /// The load that a queue contributes at the top of its CPU, computed once a jiffy.
    fn hierarchical(&mut self, queue: u32) -> u64 {
        if queue < self.width {
            return self.divided_load(queue);
        }
        let jiffy = self.jiffies + 1; // 0 is never
        if self.queues[queue as usize].h_load_at != jiffy {
            let above = self.entities[queue as usize].queue;
            let reaches = self.hierarchical(above);
            let part = self.entities[queue as usize].avg.load;
            let h_load = weight::share(reaches, part, self.divided_load(above) + 1);
            let at = &mut self.queues[queue as usize];
            (at.h_load, at.h_load_at) = (h_load, jiffy);
        }
        self.queues[queue as usize].h_load
    }

    /// Accounts time up to now for an entity and its queue.
    pub(super) fn advance(&mut self, queue: u32, entity: u32) {
        let now = self.now;
        let current = self.queues[queue as usize].current == Some(entity);
        let place = &mut self.entities[entity as usize];
        let before = place.avg.load;
        if place.avg.advance(now, u64::from(place.on), 0, current) {
            place.avg.settle_entity(place.weight);
            if place.on {
                let at = &mut self.queues[queue as usize];
                at.runnable_load = (at.runnable_load + place.avg.load).saturating_sub(before);
            }
        }
        self.advance_queue(queue);
    }

    /// Accounts time up to now for a queue.
    pub(super) fn advance_queue(&mut self, queue: u32) {
        let at = &mut self.queues[queue as usize];
        let (weight, tasks) = (at.weight, u64::from(at.tasks - at.delayed));
        let running = at.current.is_some();
        if at.avg.advance(self.now, weight, tasks, running) {
            at.avg.settle_queue();
            self.tell(queue);
        }
    }

    /// As [`Cfs::advance`], and the share of a group entity is computed anew.
    pub(super) fn refresh(&mut self, queue: u32, entity: u32) {
        self.advance(queue, entity);
        if entity < self.base {
            self.update_shares(entity);
        }
    }

    /// All queues of `cpu`, lowest groups first (`update_blocked_averages`).
    pub(super) fn refresh_cpu(&mut self, cpu: u32) {
        for group in (1..self.groups.len() as u32).rev() {
            let queue = group * self.width + cpu;
            let seen = &self.queues[queue as usize].avg;
            if seen.load_sum == 0 && self.queues[queue as usize].entities == 0 {
                continue;
            }
            let above = self.entities[queue as usize].queue;
            self.advance_queue(queue);
            self.refresh(above, queue);
        }
        self.advance_queue(cpu);
    }

    /// An entity arrives on a queue that may not know its load history.
    pub(super) fn attach_on_arrival(&mut self, queue: u32, entity: u32) {
        self.advance(queue, entity);
        if !self.entities[entity as usize].attached {
            self.entities[entity as usize].attached = true;
            let place = &self.entities[entity as usize];
            let avg = place.avg;
            self.queues[queue as usize].avg.attach(&avg, place.weight);
            self.tell(queue);
            self.propagate(queue, &avg, true);
        }
        if entity < self.base {
            self.update_shares(entity);
        }
    }

    /// Assigns a task to the queue of `group` on `cpu`, with its load history and its lag.
    pub(super) fn settle_on(&mut self, entity: u32, group: u32, cpu: u32) {
        let queue = group * self.width + cpu;
        let was = self.entities[entity as usize].queue;
        if was == queue {
            return;
        }
        if self.entities[entity as usize].attached {
            self.detach(was, entity);
        }
        let lead =
            self.queues[queue as usize].min_vruntime - self.queues[was as usize].min_vruntime;
        let place = &mut self.entities[entity as usize];
        place.vruntime += lead;
        place.queue = queue;
    }

    /// Removes the load history of an entity from its queue.
    pub(super) fn detach(&mut self, queue: u32, entity: u32) {
        let place = &mut self.entities[entity as usize];
        place.attached = false;
        let at = &mut self.queues[queue as usize];
        if place.avg.advance(at.avg.last, 0, 0, false) {
            place.avg.settle_entity(place.weight);
        }
        let avg = place.avg;
        at.avg.detach(&avg, place.weight);
        self.tell(queue);
        self.propagate(queue, &avg, false);
    }

    /// Propagates a load history that was added or removed to the entities above.
    fn propagate(&mut self, from: u32, avg: &Average, came: bool) {
        let mut queue = from;
        while queue >= self.width {
            let below = &self.queues[queue as usize];
            let present = match (came, below.weight) {
                (true, _) => self.entities[queue as usize].avg.load_sum + avg.load_sum,
                (false, 0) => 0,
                (false, weight) => below.avg.load_sum / weight,
            };
            let place = &mut self.entities[queue as usize];
            let before = place.avg;
            let present = if came { present } else { present.min(before.load_sum) };
            place.avg.set_presence(present, place.weight);
            let (after, weight, above) = (place.avg, place.weight, place.queue);
            let at = &mut self.queues[above as usize];
            at.avg.load = (at.avg.load + after.load).saturating_sub(before.load);
            at.avg.load_sum = (at.avg.load_sum + weight * after.load_sum)
                .saturating_sub(weight * before.load_sum);
            if self.entities[queue as usize].on {
                at.runnable_load = (at.runnable_load + after.load).saturating_sub(before.load);
            }
            at.avg.move_util(avg, came);
            self.tell(above);
            queue = above;
        }
    }

    /// A queue reports its load to its group, unless that has hardly changed.
    fn tell(&mut self, queue: u32) {
        let at = &mut self.queues[queue as usize];
        if at.group == 0 || at.avg.load.abs_diff(at.told) <= at.told / 64 {
            return;
        }
        let group = &mut self.groups[at.group as usize];
        group.load = group.load + at.avg.load - at.told;
        at.told = at.avg.load;
    }

    /// The weight of the group on this CPU: its shares, split by where its load is
    /// (`calc_group_shares`; up to 4.13 by what is runnable there now).
    pub(super) fn update_shares(&mut self, entity: u32) {
        let at = &self.queues[entity as usize];
        if self.rules.delay_dequeue && at.weight == 0 {
            return; // its entity may stay on its queue
        }
        let group = &self.groups[at.group as usize];
        let load = match self.rules.era {
            Era::V4 => at.weight,
            _ => at.weight.max(at.avg.load),
        };
        let total = group.load + load - at.told.min(group.load);
        let share = weight::share(group.shares, load, total);
        let share = share.clamp(weight::MIN_SHARES, group.shares.max(weight::MIN_SHARES));
        if share != self.entities[entity as usize].weight {
            self.reweight(entity, share);
        }
    }

    /// Changes the weight of an entity on its queue.
    pub(super) fn reweight(&mut self, entity: u32, weight: u64) {
        let queue = self.entities[entity as usize].queue;
        if self.queues[queue as usize].current == Some(entity) {
            self.update_current(queue);
        }
        let place = &mut self.entities[entity as usize];
        let at = &mut self.queues[queue as usize];
        let (old, before) = (place.weight, place.avg);
        place.weight = weight;
        place.avg.set_presence(before.load_sum, weight);
        if place.attached {
            at.avg.load = (at.avg.load + place.avg.load).saturating_sub(before.load);
            at.avg.load_sum = (at.avg.load_sum + weight * place.avg.load_sum)
                .saturating_sub(old * before.load_sum);
        }
        if place.on {
            at.weight = at.weight + weight - old;
            at.runnable_load = (at.runnable_load + place.avg.load).saturating_sub(before.load);
        }
    }

    /// The change of the weight at the top of `cpu` when `here` is added to a task's group on this
    /// CPU and `all` to the whole group (`effective_load` of 4.1).
    pub(super) fn effective_load(&self, group: u32, cpu: u32, here: i64, all: i64) -> i64 {
        let (mut here, mut all) = (here, all);
        let mut queue = group * self.width + cpu;
        while queue >= self.width {
            let at = &self.queues[queue as usize];
            let of = &self.groups[at.group as usize];
            let now = at.weight as i64;
            let total = all + (of.load + at.weight).saturating_sub(at.told) as i64;
            let own = now + here;
            let shares = of.shares as i64;
            let share = if total > 0 && own < total { own * shares / total } else { shares };
            let share = share.max(weight::MIN_SHARES as i64);
            let entity = &self.entities[queue as usize];
            here = share - if entity.on { entity.weight as i64 } else { 0 };
            all = 0;
            queue = entity.queue;
        }
        here
    }

    /// 4.1: updates the histories that balancing reads with the load of `cpu`, at a tick or after a
    /// span without ticks.
    pub(super) fn update_history(&mut self, cpu: u32) {
        let load = self.queue_load(cpu);
        let rq = &mut self.rqs[cpu as usize];
        let missed = self.jiffies.saturating_sub(rq.history_at);
        if missed == 0 {
            return;
        }
        rq.history_at = self.jiffies;
        rq.history[0] = load;
        for index in 1..5 {
            let mut old = rq.history[index];
            for _ in 0..(missed - 1).min(40 << index) {
                old = (old * ((1 << index) - 1)) >> index; // it was idle and tickless
            }
            let new = if load > old { load + (1 << index) - 1 } else { load };
            rq.history[index] = (old * ((1 << index) - 1) + new) >> index;
        }
    }

    /// The load of `cpu` in history `index`, or its current load if that is less; the greater if
    /// `high`.
    pub(super) fn biased_load(&self, cpu: u32, index: usize, high: bool) -> u64 {
        let load = self.queue_load(cpu);
        match (index, high) {
            (0, _) => load,
            (index, true) => load.max(self.rqs[cpu as usize].history[index - 1]),
            (index, false) => load.min(self.rqs[cpu as usize].history[index - 1]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::entity::{Entity, Queue, TaskGroup};
    use super::super::presets;
    use super::super::rules::Rules;
    use super::super::rules::Tunables;
    use super::*;
    use crate::schedulers::Settings;

    /// `threads` tasks that always run, in one session, each on a CPU of its own.
    fn spread(threads: u32) -> Cfs {
        let settings = Settings::of(&presets::CFS_4_1, &[]).expect("defaults");
        let mut cfs = Cfs::new(Rules::of("cfs-4.1", Era::V4, &settings));
        cfs.rules.tunables = Tunables::of(8);
        cfs.width = threads;
        let group = |parent, depth| TaskGroup { shares: 1024, parent, depth, load: 0 };
        cfs.groups = vec![group(0, 0), group(0, 1)];
        cfs.pools = vec![None, None];
        for group in 0..2 {
            for cpu in 0..threads {
                cfs.queues.push(Queue { cpu, group, ..Queue::default() });
                cfs.entities.push(Entity {
                    weight: 1024,
                    queue: cpu,
                    attached: true,
                    ..Entity::default()
                });
            }
        }
        cfs.base = cfs.entities.len() as u32;
        cfs.order = wastenot_model::dsq::Ordered::new(cfs.queues.len());
        for cpu in 0..threads {
            let entity = cfs.entities.len() as u32;
            cfs.entities.push(Entity {
                weight: 1024,
                queue: threads + cpu,
                avg: Average::full(0, 1024),
                ..Entity::default()
            });
            let mut at = Some(entity);
            while let Some(entity) = at {
                let queue = cfs.entities[entity as usize].queue;
                cfs.enqueue_entity(queue, entity, super::super::fair::Arrival::Moved);
                at = cfs.parent(entity);
            }
        }
        for ms in 0..400 {
            (cfs.now, cfs.jiffies) = (ms * 1_048_576, ms / 4);
            for task in cfs.base..cfs.entities.len() as u32 {
                let mut at = Some(task);
                while let Some(entity) = at {
                    cfs.refresh(cfs.entities[entity as usize].queue, entity);
                    at = cfs.parent(entity);
                }
            }
        }
        cfs
    }

    #[test]
    fn a_thread_weighs_its_part_of_the_session() {
        for (threads, part) in [(1, 1024), (2, 512), (8, 128), (32, 32)] {
            let mut cfs = spread(threads);
            let load = cfs.task_load(cfs.base);
            // The slide's 1000 and 125 are of weight 1000; roundings take a few percent.
            assert!(load.abs_diff(part) <= part / 8, "{threads}: {load} for {part}");
            let weight = cfs.queues[0].weight;
            assert!(weight.abs_diff(part) <= part / 8, "{threads}: {weight} for {part}");
        }
    }
}
