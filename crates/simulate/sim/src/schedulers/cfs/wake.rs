//! Where a woken task goes: the cache of its waker or its own (`wake_affine`), then a CPU there.
//!
//! The rules of 5.5 and later are numbered as around commit d8fcb81f1acf: 1 an idle waker that
//! shares the cache, 2 a synchronous waker that is alone, 3 an idle previous CPU (from 5.11 on), 4
//! weights.

use wastenot_model::TaskId;
use wastenot_model::policy::Context;

use super::rules::{Era, Wakeup};
use super::{Cfs, cpu_id, mask};

/// After this many ns the count of how often a task wakes different tasks is halved.
const FLIPS_HALVE: u64 = 1_000_000_000;

impl Cfs {
    /// `select_task_rq_fair` for a wakeup.
    pub(super) fn select_for_wakeup(
        &mut self,
        cx: &mut Context,
        task: TaskId,
        prev: u32,
        sync: bool,
    ) -> u32 {
        let here = u32::from(cx.cpu.0);
        let waker = cx.current(cx.cpu).filter(|&waker| !self.own(waker));
        if let Some(waker) = waker {
            self.record_wakee(waker, task);
        }
        if self.rules.wakeup == Wakeup::LongestIdle
            && let Some(cpu) = self.longest_idle(cx, task, prev)
        {
            return cpu;
        }
        let old = self.rules.era == Era::V4;
        // 4.1 distinguishes wide wakers inside wake_affine: with 0 flips less, the result is the
        // same.
        let wide = self.wakes_wide(waker, task);
        let mut target = prev;
        let affine = cx.allowed(task, cx.cpu) && !wide;
        if affine && here != prev {
            let chain = &self.topology.chains[here as usize];
            let both = chain
                .iter()
                .position(|domain| domain.near && mask::contains(&domain.span, prev as usize));
            if let Some(level) = both {
                let pct = chain[level].imbalance_pct;
                let take = match old {
                    true => self.pulls_4_1(here, prev, task, waker, sync, pct),
                    false => self.pulls(here, prev, task, waker, sync, pct),
                };
                target = take.unwrap_or(prev);
            }
        }
        let mut cpu = self.idle_sibling(cx, task, prev, target, waker);
        if let Some(waker) = waker.and_then(TaskId::index).filter(|_| affine && !old) {
            self.tasks[waker].recent = here;
        }
        if self.rules.wakeup == Wakeup::Global && !self.is_idle(cpu) {
            cpu = self.idle_anywhere(cx, task, cpu);
        }
        cpu
    }

    /// A task was woken for `cpu`: its idle span is added to its average (`ttwu_do_wakeup`).
    pub(super) fn end_idle(&mut self, cpu: u32) {
        let rq = &mut self.rqs[cpu as usize];
        let Some(since) = rq.idle_stamp.take() else { return };
        let slept = self.now - since;
        let moved = rq.avg_idle as i64 + (slept as i64 - rq.avg_idle as i64) / 8;
        rq.avg_idle = (moved as u64).min(2 * rq.max_balance_cost);
    }

    fn record_wakee(&mut self, waker: TaskId, wakee: TaskId) {
        let now = self.now;
        let Some(waker) = waker.index() else { return };
        let waker = &mut self.tasks[waker];
        if now > waker.flips_at + FLIPS_HALVE {
            waker.flips /= 2;
            waker.flips_at = now;
        }
        if waker.last_wakee != Some(wakee.0) {
            waker.last_wakee = Some(wakee.0);
            waker.flips += 1;
        }
    }

    /// Whether so many tasks wake each other that one cache cannot hold them (`wake_wide`).
    fn wakes_wide(&self, waker: Option<TaskId>, wakee: TaskId) -> bool {
        let (Some(waker), Some(wakee)) = (waker.and_then(TaskId::index), wakee.index()) else {
            return false;
        };
        let (waker_flips, wakee_flips) = (self.tasks[waker].flips, self.tasks[wakee].flips);
        let cpu = self.cpu_of(self.base + waker as u32);
        let size = self.topology.llc[cpu as usize].size;
        if self.rules.era == Era::V4 {
            return wakee_flips > size && waker_flips > size * wakee_flips;
        }
        let (more, fewer) = (waker_flips.max(wakee_flips), waker_flips.min(wakee_flips));
        fewer >= size && more >= fewer * size
    }

    /// 5.5 and later: the CPU whose cache is searched, if not that of `prev`.
    fn pulls(
        &mut self,
        here: u32,
        prev: u32,
        task: TaskId,
        waker: Option<TaskId>,
        sync: bool,
        pct: u64,
    ) -> Option<u32> {
        if self.is_idle(here) && self.topology.share_cache(here, prev) {
            return (!self.is_idle(prev)).then_some(here);
        }
        if sync && self.rqs[here as usize].nr == 1 {
            return Some(here);
        }
        if self.rules.prev_idle_first && self.is_idle(prev) {
            return None;
        }
        if self.queue_load(prev) == 0 && !sync {
            return None; // neither is less
        }
        let mut this_load = self.queue_load(here);
        if let Some(waker) = waker.filter(|_| sync) {
            let waking = self.task_load(self.entity_of(waker));
            if waking > this_load {
                return Some(here);
            }
            this_load -= waking;
        }
        let load = self.task_load(self.entity_of(task));
        let prev_load = self.queue_load(prev).saturating_sub(load);
        let capacity = |cpu: u32| self.rqs[cpu as usize].capacity;
        let this_effort = (this_load + load) * 100 * capacity(prev);
        let prev_effort = prev_load * (100 + (pct - 100) / 2) * capacity(here) + u64::from(sync);
        (this_effort < prev_effort).then_some(here)
    }

    /// 4.1: by runnable load, including what the move does to the weights of groups.
    fn pulls_4_1(
        &self,
        here: u32,
        prev: u32,
        task: TaskId,
        waker: Option<TaskId>,
        sync: bool,
        pct: u64,
    ) -> Option<u32> {
        let (mut this_load, mut prev_load) =
            (self.queue_load(here) as i64, self.queue_load(prev) as i64);
        let of = |cfs: &Cfs, task: TaskId| {
            let weight = cfs.entities[cfs.entity_of(task) as usize].weight as i64;
            (cfs.tasks[task.ordinal()].group, weight)
        };
        if let Some(waker) = waker.filter(|_| sync) {
            let (group, weight) = of(self, waker);
            this_load += self.effective_load(group, here, -weight, -weight);
            prev_load += self.effective_load(group, prev, 0, -weight);
        }
        let (group, weight) = of(self, task);
        let capacity = |cpu: u32| self.rqs[cpu as usize].capacity as i64;
        let mut this_effort = 100 * capacity(prev);
        let mut prev_effort = (100 + (pct as i64 - 100) / 2) * capacity(here);
        if this_load > 0 {
            this_effort *= this_load + self.effective_load(group, here, weight, weight);
            prev_effort *= prev_load + self.effective_load(group, prev, 0, weight);
        }
        (this_effort <= prev_effort).then_some(here)
    }

    /// The published fix: an idle previous CPU, else the allowed CPU that is idle for longest.
    fn longest_idle(&self, cx: &Context, task: TaskId, prev: u32) -> Option<u32> {
        if self.is_idle(prev) && cx.allowed(task, cpu_id(prev)) {
            return Some(prev);
        }
        let mask = cx.mask(task).words();
        let mut longest: Option<(u64, u32)> = None;
        let mut next = 0;
        while let Some(cpu) = mask::next(&self.idle, mask, next) {
            next = cpu + 1;
            let since = self.rqs[cpu].idle_since;
            if longest.is_none_or(|(oldest, _)| since < oldest) {
                longest = Some((since, cpu as u32));
            }
        }
        longest.map(|(_, cpu)| cpu)
    }

    fn idle_anywhere(&self, cx: &Context, task: TaskId, cpu: u32) -> u32 {
        let mask = cx.mask(task).words();
        mask::next_around(&self.idle, mask, cpu as usize).map_or(cpu, |cpu| cpu as u32)
    }
}
