//! EEVDF: among the entities that are owed time, the earliest virtual deadline goes first.
//!
//! I. Stoica, H. Abdel-Wahab, "Earliest Eligible Virtual Deadline First", TR-95-22, Old Dominion
//! University, 1995; kernel/sched/fair.c of Linux 6.12. A task that leaves keeps its lag.

use std::cmp::Ordering;

use super::fair::Arrival;
use super::{Cfs, weight};

impl Cfs {
    /// The length of a slice in an entity's own virtual time.
    pub(super) fn virtual_slice(&self, entity: u32) -> i64 {
        let weight = self.entities[entity as usize].weight;
        weight::scaled(self.rules.tunables.base_slice, weight) as i64
    }

    /// Whether the slice of `entity` has just ended; if so the next one begins.
    pub(super) fn end_slice(&mut self, entity: u32) -> bool {
        if !self.rules.eevdf {
            return false;
        }
        let slice = self.virtual_slice(entity);
        let place = &mut self.entities[entity as usize];
        let over = place.vruntime >= place.deadline;
        if over {
            place.deadline = place.vruntime + slice;
        }
        over
    }

    /// The entity with the earliest deadline among those that are owed time. `running` continues
    /// while it is owed time and its slice lasts (`RUN_TO_PARITY`).
    pub(super) fn pick_deadline(&self, queue: u32, running: Option<u32>) -> Option<u32> {
        let sums = self.sums(queue);
        let owed = |entity: u32| match self.lag_within(sums, entity) {
            Ordering::Equal => !self.entities[entity as usize].delayed, // as in `delays`
            lag => lag.is_gt(),
        };
        let running = running.filter(|&entity| owed(entity));
        let protected = |entity: &u32| {
            let place = &self.entities[*entity as usize];
            place.protected_until == place.deadline && place.vruntime < place.deadline
        };
        if let Some(running) = running.filter(protected) {
            return Some(running);
        }
        let waiting = self.order.iter(queue as usize).map(|(_, entity)| entity);
        let owed = waiting.filter(|&entity| owed(entity)).chain(running);
        let earliest = owed.min_by_key(|&e| (self.entities[e as usize].deadline, e));
        earliest.or_else(|| self.order.first(queue as usize).map(|(_, entity)| entity))
    }

    /// Whether a runnable entity is owed time (greater), is level with the others of its queue, or
    /// is ahead (less).
    pub(super) fn lag_sign(&self, queue: u32, entity: u32) -> Ordering {
        self.lag_within(self.sums(queue), entity)
    }

    /// The same, in a queue with these sums.
    fn lag_within(&self, (sum, load, least): (i128, i128, i64), entity: u32) -> Ordering {
        sum.cmp(&(i128::from(self.entities[entity as usize].vruntime - least) * load))
    }

    /// Stores the lag of an entity that leaves. An entity whose dequeue was delayed keeps no time
    /// that it is owed.
    pub(super) fn keep_lag(&mut self, queue: u32, entity: u32) {
        let average = self.average(queue);
        let longest = (2 * self.rules.tunables.base_slice).max(self.rules.jiffy());
        let place = &mut self.entities[entity as usize];
        let limit = weight::scaled(longest, place.weight) as i64;
        let most = if place.delayed { 0 } else { limit };
        place.lag = (average - place.vruntime).clamp(-limit, most);
    }

    /// Places an entity that arrives as far from the average as it was when it left. Its arrival
    /// moves the average, so it has to be placed further away.
    pub(super) fn place_by_lag(&mut self, queue: u32, entity: u32, arrival: Arrival) {
        let average = self.average(queue);
        let total = i128::from(self.queues[queue as usize].weight);
        let slice = self.virtual_slice(entity);
        let place = &mut self.entities[entity as usize];
        let mut lag = 0;
        if total > 0 && arrival != Arrival::New {
            let moved = i128::from(place.lag) * (total + i128::from(place.weight)) / total;
            lag = moved as i64;
        }
        place.vruntime = average - lag;
        place.deadline = place.vruntime + if arrival == Arrival::New { slice / 2 } else { slice };
    }

    /// The weighted average virtual runtime of a queue.
    fn average(&self, queue: u32) -> i64 {
        let (sum, load, least) = self.sums(queue);
        if load == 0 { least } else { least + sum.div_euclid(load) as i64 }
    }

    /// Sums over the runnable entities: weight times (virtual runtime - minimum), and weight; and
    /// the minimum.
    fn sums(&self, queue: u32) -> (i128, i128, i64) {
        let at = &self.queues[queue as usize];
        let least = at.min_vruntime;
        let running = at.current.filter(|&entity| self.entities[entity as usize].on);
        let waiting = self.order.iter(queue as usize).map(|(_, entity)| entity);
        let (mut sum, mut load) = (0, 0);
        for entity in waiting.chain(running) {
            let place = &self.entities[entity as usize];
            sum += i128::from(place.weight) * i128::from(place.vruntime - least);
            load += i128::from(place.weight);
        }
        (sum, load, least)
    }
}
