//! An idle CPU near the selected one (`select_idle_sibling`): within its last-level cache, and
//! nowhere else.

use wastenot_model::TaskId;
use wastenot_model::policy::Context;

use super::rules::Era;
use super::{Cfs, cpu_id, mask};

/// The cost of checking one CPU, which the kernel measures (`avg_scan_cost`). An assumption: one
/// cache line of another CPU.
const LOOK_COST: u64 = 40;

impl Cfs {
    pub(super) fn idle_sibling(
        &mut self,
        cx: &Context,
        task: TaskId,
        prev: u32,
        target: u32,
        waker: Option<TaskId>,
    ) -> u32 {
        let usable = |cpu: u32| cx.allowed(task, cpu_id(cpu));
        if self.is_idle(target) && usable(target) {
            return target;
        }
        if prev != target
            && self.topology.share_cache(prev, target)
            && self.is_idle(prev)
            && usable(prev)
        {
            return prev;
        }
        let allowed = cx.mask(task).words();
        let found = match self.rules.era {
            Era::V4 => self.whole_idle_group(target, allowed),
            Era::V5 | Era::V6 => {
                let stacked = waker.filter(|_| prev == u32::from(cx.cpu.0)).is_some_and(|waker| {
                    cx.task(waker).kthread && cx.pinned(waker) && self.rqs[prev as usize].nr <= 1
                });
                match stacked && usable(prev) {
                    true => Some(prev), // it is about to sleep
                    false => self
                        .recent(cx, task, prev, target)
                        .or_else(|| self.scan(cx, target, allowed)),
                }
            }
        };
        found.unwrap_or(target)
    }

    /// 4.1: the first group, from the cache's domain down, whose CPUs are all idle; in it the first
    /// CPU that is allowed.
    fn whole_idle_group(&self, target: u32, allowed: &[u64]) -> Option<u32> {
        let cache = &self.topology.llc[target as usize];
        if !mask::meet(&self.idle, &cache.cpus) {
            return None;
        }
        for level in (0..cache.levels).rev() {
            for &id in self.topology.groups(target, level) {
                let group = &self.topology.groups[id as usize];
                let all = group.cpus.iter().zip(&self.idle).all(|(cpus, idle)| cpus & !idle == 0);
                if all && let Some(cpu) = mask::next(&group.cpus, allowed, 0) {
                    return Some(cpu as u32);
                }
            }
        }
        None
    }

    /// The CPU where the task was before its previous one (`recent_used_cpu`).
    fn recent(&mut self, cx: &Context, task: TaskId, prev: u32, target: u32) -> Option<u32> {
        let recent = &mut self.tasks[task.index()?].recent;
        let cpu = match self.rules.era {
            Era::V6 => std::mem::replace(recent, prev),
            _ => *recent,
        };
        let fits = cpu != prev
            && cpu != target
            && self.topology.share_cache(cpu, target)
            && self.is_idle(cpu)
            && cx.allowed(task, cpu_id(cpu));
        if fits {
            self.tasks[task.index()?].recent = prev;
        }
        fits.then_some(cpu)
    }

    /// A core whose CPUs are all idle if there may be one, else any idle CPU within the effort that
    /// the average idle span (5.10) or the load of the cache (6.0 and later) allows, else an idle
    /// sibling.
    fn scan(&mut self, cx: &Context, target: u32, allowed: &[u64]) -> Option<u32> {
        let here = u32::from(cx.cpu.0); // this CPU's time is charged
        let id = self.topology.llc[target as usize].id as usize;
        if self.idle_cores[id] && self.topology.llc[target as usize].core_size() > 1 {
            if let Some(cpu) = self.idle_core(target, allowed) {
                return Some(cpu);
            }
            self.idle_cores[id] = false;
        }
        let looks = self.looks(here, target);
        let mut seen = 0;
        let found = self.idle_cpu(target, allowed, looks, &mut seen);
        if found.is_some() || seen == self.topology.llc[target as usize].size {
            let rq = &mut self.rqs[here as usize]; // not accounted if it was broken off
            let cost = (LOOK_COST * u64::from(seen)) as i64;
            rq.scan_cost = (rq.scan_cost as i64 + (cost - rq.scan_cost as i64) / 8) as u64;
        }
        found.or_else(|| {
            let core = &self.topology.llc[target as usize].core;
            let mut next = 0;
            while let Some(cpu) = mask::next(core, &self.idle, next) {
                next = cpu + 1;
                if mask::next(allowed, allowed, cpu) == Some(cpu) {
                    return Some(cpu as u32);
                }
            }
            None
        })
    }

    fn idle_core(&self, target: u32, allowed: &[u64]) -> Option<u32> {
        let cache = &self.topology.llc[target as usize];
        let mut from = target as usize;
        for _ in 0..cache.size {
            let cpu = mask::next_around(&cache.cpus, &self.idle, from)?;
            let core = &self.topology.llc[cpu].core;
            if core.iter().zip(&self.idle).all(|(core, idle)| core & !idle == 0)
                && let Some(cpu) = mask::next(core, allowed, 0)
            {
                return Some(cpu as u32);
            }
            from = cpu + 1;
            if from == target as usize {
                break;
            }
        }
        None
    }

    /// The first idle CPU from `target` on around the cache, among the first `looks`.
    fn idle_cpu(&self, target: u32, allowed: &[u64], looks: u32, seen: &mut u32) -> Option<u32> {
        let cache = &self.topology.llc[target as usize].cpus;
        let mut from = target as usize;
        for _ in 0..looks {
            let cpu = mask::next_around(cache, allowed, from)?;
            *seen += 1;
            if self.is_idle(cpu as u32) {
                return Some(cpu as u32);
            }
            from = cpu + 1;
        }
        None
    }

    fn looks(&self, here: u32, target: u32) -> u32 {
        let cache = &self.topology.llc[target as usize];
        let Some(level) = cache.levels.checked_sub(1) else { return 0 };
        if self.rules.era == Era::V6 {
            return self.topology.chains[target as usize][level].scan.min(cache.size);
        }
        let rq = &self.rqs[here as usize];
        let cost = rq.scan_cost + 1;
        let affordable = u64::from(cache.size) * (rq.avg_idle / 512);
        let looks = if affordable > 4 * cost { affordable / cost } else { 4 };
        (looks - 1).min(u64::from(cache.size)) as u32
    }
}

impl super::topology::Cache {
    fn core_size(&self) -> u32 {
        self.core.iter().map(|word| word.count_ones()).sum()
    }
}
