//! Quotas of groups: CPU time from a pool that is refilled each period, consumed in slices on each
//! CPU (`cfs_bandwidth`: P. Turner, B. B. Rao, N. Rao, "CPU bandwidth control for CFS", Linux
//! Symposium 2010).
//!
//! If the pool of a group is empty, the group leaves the queue of a CPU as one entity; it comes
//! back when the pool is refilled.

use wastenot_model::policy::{Context, TimerId};
use wastenot_model::workload::Quota;
use wastenot_model::{CpuId, TaskId};

use super::entity::{END, Queue};
use super::fair::Arrival;
use super::{Cfs, cpu_id};

/// What a CPU takes from the pool at once (`sched_cfs_bandwidth_slice`), in ns.
const SLICE: u64 = 5_000_000;

/// The pool of a group.
#[derive(Clone, Debug)]
pub(super) struct Pool {
    quota: Quota,
    left: u64,
    timer: TimerId,
    /// When it is refilled next.
    next: u64,
    armed: bool,
    /// Whether CPUs ran out of quota, or began to use it, since effects were last carried out.
    changed: bool,
}

impl Pool {
    pub(super) fn new(quota: Quota) -> Pool {
        Pool {
            quota,
            left: quota.runtime.0,
            timer: TimerId(0),
            next: 0,
            armed: false,
            changed: false,
        }
    }
}

impl Cfs {
    /// In `init`: a timer for each quota.
    pub(super) fn init_quota(&mut self, cx: &mut Context) {
        let now = self.now;
        for pool in self.pools.iter_mut().flatten() {
            pool.timer = cx.new_timers(1);
            pool.next = now + pool.quota.period.0.max(1);
        }
    }

    /// Charges the run time of the current entity of `queue`.
    pub(super) fn charge(&mut self, queue: u32, delta: u64) {
        let at = &mut self.queues[queue as usize];
        let Some(pool) = &mut self.pools[at.group as usize] else { return };
        at.runtime -= delta as i64;
        if at.runtime > 0 || at.throttled {
            return;
        }
        let wants = (SLICE as i64 - at.runtime) as u64;
        let gets = wants.min(pool.left);
        pool.left -= gets;
        at.runtime += gets as i64;
        pool.changed |= at.runtime <= 0 || !pool.armed;
    }

    /// A task has arrived on `queue`: if its group has a quota, the pool has to be refilled again.
    pub(super) fn wake_quota(&mut self, queue: u32) {
        if !self.quotas {
            return;
        }
        let at = &mut self.queues[queue as usize];
        let Some(pool) = &mut self.pools[at.group as usize] else { return };
        if at.runtime <= 0 && !at.throttled {
            let gets = ((SLICE as i64 - at.runtime) as u64).min(pool.left);
            pool.left -= gets;
            at.runtime += gets as i64;
        }
        pool.changed |= at.runtime <= 0 || !pool.armed;
    }

    /// Carries out the results of charging: groups that ran out leave, timers are armed.
    pub(super) fn flush_quota(&mut self, cx: &mut Context) {
        if !self.quotas {
            return;
        }
        for group in 0..self.pools.len() as u32 {
            let Some(pool) = &mut self.pools[group as usize] else { continue };
            if !std::mem::take(&mut pool.changed) {
                continue;
            }
            if !pool.armed {
                pool.armed = true;
                while pool.next <= self.now {
                    pool.next += pool.quota.period.0.max(1);
                    pool.left = pool.quota.runtime.0;
                }
                let at = wastenot_model::Time(pool.next);
                cx.timer(pool.timer, CpuId(0), Some(at));
            }
            for cpu in 0..self.width {
                let queue = group * self.width + cpu;
                let at = &self.queues[queue as usize];
                if at.runtime <= 0 && !at.throttled && at.entities > 0 {
                    self.throttle(cx, queue);
                }
            }
        }
    }

    /// A period is over: the pool is refilled, and the throttled queues get some of it.
    pub(super) fn refill(&mut self, cx: &mut Context, timer: TimerId) {
        let of = |pool: &Option<Pool>| pool.as_ref().is_some_and(|pool| pool.timer == timer);
        let Some(group) = self.pools.iter().position(of) else { return };
        let Some(pool) = &mut self.pools[group] else { return };
        pool.left = pool.quota.runtime.0;
        pool.next += pool.quota.period.0.max(1);
        let mut used = false;
        for cpu in 0..self.width {
            let queue = group as u32 * self.width + cpu;
            self.update_current(queue);
            let at = &mut self.queues[queue as usize];
            used |= at.throttled || at.entities > 0;
            let Some(pool) = &mut self.pools[group] else { return };
            if at.throttled {
                let gets = ((1 - at.runtime).max(0) as u64).min(pool.left);
                pool.left -= gets;
                at.runtime += gets as i64;
                if at.runtime > 0 {
                    self.unthrottle(cx, queue);
                }
            }
        }
        let Some(pool) = &mut self.pools[group] else { return };
        pool.armed = used;
        if used {
            cx.timer(pool.timer, CpuId(0), Some(wastenot_model::Time(pool.next)));
        }
    }

    /// Whether a queue above a task is throttled.
    pub(super) fn is_held(&self, entity: u32) -> bool {
        if !self.quotas {
            return false;
        }
        let mut at = Some(entity);
        while let Some(entity) = at {
            if self.queues[self.entities[entity as usize].queue as usize].throttled {
                return true;
            }
            at = self.parent(entity);
        }
        false
    }

    /// Whether `task` would be held back on `cpu`, where its group has run out of quota: balancing
    /// does not move it there (`throttled_lb_pair`, kernel/sched/fair.c).
    pub(super) fn is_held_on(&self, cpu: u32, task: TaskId) -> bool {
        let queue = self.tasks[task.ordinal()].group * self.width + cpu;
        self.quotas && (self.queues[queue as usize].throttled || self.is_held(queue))
    }

    /// A queue leaves its CPU with all its tasks.
    fn throttle(&mut self, cx: &mut Context, queue: u32) {
        let cpu = self.queues[queue as usize].cpu;
        let Queue { tasks, delayed, .. } = self.queues[queue as usize];
        let held_above = self.is_held(queue);
        self.set_throttled(cx, queue, true);
        self.queues[queue as usize].throttled = true;
        let (mut at, mut leaving) = (Some(queue), true);
        while let Some(entity) = at {
            let above = self.entities[entity as usize].queue;
            if leaving && self.entities[entity as usize].on {
                self.dequeue_entity(above, entity, true);
            } else {
                self.refresh(above, entity);
            }
            self.queues[above as usize].tasks -= tasks;
            self.queues[above as usize].delayed -= delayed;
            if self.queues[above as usize].throttled {
                break;
            }
            leaving &= self.queues[above as usize].entities == 0;
            at = self.parent(entity);
        }
        if !held_above {
            self.add_running(cpu, -(tasks as i32));
        }
        if self.runs_in(queue) {
            cx.preempt(cpu_id(cpu));
        }
    }

    fn unthrottle(&mut self, cx: &mut Context, queue: u32) {
        let cpu = self.queues[queue as usize].cpu;
        let Queue { tasks, delayed, .. } = self.queues[queue as usize];
        self.queues[queue as usize].throttled = false;
        self.set_throttled(cx, queue, false);
        if tasks == 0 {
            return;
        }
        let (mut at, mut entering) = (Some(queue), true);
        while let Some(entity) = at {
            let above = self.entities[entity as usize].queue;
            entering &= !self.entities[entity as usize].on;
            self.enter(above, entity, entering, Arrival::Woken);
            self.queues[above as usize].tasks += tasks;
            self.queues[above as usize].delayed += delayed;
            if self.queues[above as usize].throttled {
                return;
            }
            at = self.parent(entity);
        }
        self.add_running(cpu, tasks as i32);
        match self.current_task(cpu) {
            None => cx.kick_idle(cpu_id(cpu)),
            Some(_) => cx.preempt(cpu_id(cpu)),
        }
    }

    /// Whether the CPU's current task belongs to `queue` or a group below.
    fn runs_in(&self, queue: u32) -> bool {
        self.queues[queue as usize].current.is_some()
    }

    /// Reports which queued tasks are throttled, or no longer.
    fn set_throttled(&mut self, cx: &mut Context, queue: u32, on: bool) {
        let mut next = self.rqs[self.queues[queue as usize].cpu as usize].first;
        while next != END {
            let task = TaskId::nth(next as usize);
            next = self.tasks[next as usize].after;
            if !self.is_delayed(task) && self.is_below(self.entity_of(task), queue) {
                cx.throttled(task, on);
            }
        }
    }

    fn is_below(&self, entity: u32, queue: u32) -> bool {
        let mut at = Some(entity);
        while let Some(entity) = at {
            if self.entities[entity as usize].queue == queue {
                return true;
            }
            at = self.parent(entity);
        }
        false
    }
}
