//! Delayed dequeue: an entity that sleeps while it is ahead of the others stays on its queue, and
//! competes until it is picked. Only then does it leave. So it pays for the time that it had too
//! early, and a task that is woken meanwhile is where it was: no CPU is selected for it.
//!
//! After `DELAY_DEQUEUE` and `DELAY_ZERO` of kernel/sched/fair.c (Linux 6.12). Such a task counts
//! as one of its CPU's, as it does there; balancing passes over it, as from 6.14 on.

use wastenot_model::TaskId;

use super::Cfs;
use super::fair::Arrival;

impl Cfs {
    /// Whether a task sleeps and is still on its queue.
    pub(super) fn is_delayed(&self, task: TaskId) -> bool {
        self.entities[self.entity_of(task) as usize].delayed
    }

    /// Whether an entity that would leave stays for now, because it is ahead. One that is level
    /// with the others counts as ahead: in a kernel the way from its last wakeup of another task
    /// into its sleep takes microseconds, and here none.
    pub(super) fn delays(&mut self, queue: u32, entity: u32) -> bool {
        if !self.rules.delay_dequeue || self.queues[queue as usize].entities == 1 {
            return false;
        }
        self.update_current(queue);
        if self.lag_sign(queue, entity).is_gt() {
            return false;
        }
        let next = &mut self.queues[queue as usize].next;
        *next = next.filter(|&next| next != entity);
        self.advance(queue, entity);
        self.entities[entity as usize].delayed = true;
        self.count_delayed(entity, 1);
        true
    }

    /// A task or group that is still on its queue is runnable again. It does not gain by having
    /// waited there.
    pub(super) fn requeue(&mut self, queue: u32, entity: u32) {
        self.update_current(queue);
        if self.lag_sign(queue, entity).is_ge()
            && self.queues[queue as usize].current != Some(entity)
        {
            self.order.remove(entity);
            self.keep_lag(queue, entity);
            self.place_by_lag(queue, entity, Arrival::Woken);
            self.order.insert(queue as usize, entity, self.entities[entity as usize].vruntime);
        }
        self.advance(queue, entity);
        self.end_delay(entity);
    }

    /// An entity that stayed on its queue runs again, or leaves.
    pub(super) fn end_delay(&mut self, entity: u32) {
        if std::mem::take(&mut self.entities[entity as usize].delayed) {
            self.count_delayed(entity, -1);
        }
    }

    /// Of a group no task counts: it is empty.
    fn count_delayed(&mut self, entity: u32, more: i32) {
        let mut at = Some(entity).filter(|&entity| entity >= self.base);
        while let Some(entity) = at {
            let queue = &mut self.queues[self.entities[entity as usize].queue as usize];
            queue.delayed = queue.delayed.saturating_add_signed(more);
            if queue.throttled {
                return;
            }
            at = self.parent(entity);
        }
    }
}
