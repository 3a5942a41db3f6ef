//! Every task stays on one CPU for life: new tasks are assigned in turn, each queue is first in
//! first out, and no task is preempted, or moved unless it may not stay.
//!
//! Users do this by hand with `taskset` when they do not trust the scheduler; with as many tasks as
//! CPUs it is optimal. A decision takes constant time; for a new task, time proportional to the
//! number of CPUs.

use std::collections::VecDeque;

use wastenot_model::policy::{Context, Family, Happening, Why};
use wastenot_model::{CpuId, Policy, TaskId};

use super::{Make, Scheduler, Settings};

pub(super) const SCHEDULER: Scheduler = Scheduler {
    name: "pinned",
    about: "each task is bound to one CPU; the CPUs are assigned round robin",
    source: "this project; as with taskset(1)",
    groups: false,
    tunables: &[],
    make: Make::Policy(|_: &Settings| Box::new(Pinned::default())),
};

/// The policy.
#[derive(Debug, Default)]
pub(super) struct Pinned {
    queues: Vec<VecDeque<TaskId>>,
    /// When each CPU was last assigned a task, counted in assigned tasks.
    dealt: Vec<u64>,
    deals: u64,
}

impl Pinned {
    /// The CPU, among those that `task` may use, that was not assigned a task for longest.
    fn deal(&mut self, cx: &Context, task: TaskId, prev: CpuId) -> CpuId {
        let usable = cx.online.iter().filter(|&cpu| cx.allowed(task, cpu));
        let next = usable.min_by_key(|cpu| self.dealt[cpu.index()]);
        let cpu = next.unwrap_or_else(|| cx.fallback(task, prev));
        self.deals += 1;
        self.dealt[cpu.index()] = self.deals;
        cpu
    }
}

impl Policy for Pinned {
    fn name(&self) -> String {
        SCHEDULER.name.into()
    }
    fn family(&self) -> Family {
        Family::Reserving
    }
    fn symmetric(&self) -> bool {
        true
    }
    fn init(&mut self, cx: &mut Context) {
        self.queues = vec![VecDeque::new(); cx.cpus.len()];
        self.dealt = vec![0; cx.cpus.len()];
    }

    fn select_cpu(&mut self, cx: &mut Context, task: TaskId, prev: CpuId, why: Why) -> CpuId {
        let stays = cx.online.contains(prev) && cx.allowed(task, prev);
        if stays && why != Why::New { prev } else { self.deal(cx, task, prev) }
    }

    fn enqueue(&mut self, cx: &mut Context, task: TaskId, cpu: CpuId, _: Why) {
        self.queues[cpu.index()].push_back(task);
        if cx.is_idle(cpu) {
            cx.kick_idle(cpu);
        }
    }
    fn dequeue(&mut self, _: &mut Context, task: TaskId, cpu: CpuId) {
        self.queues[cpu.index()].retain(|&queued| queued != task);
    }
    fn dispatch(&mut self, _: &mut Context, cpu: CpuId) -> Option<TaskId> {
        self.queues[cpu.index()].pop_front()
    }
    fn running(&mut self, _: &mut Context, _: CpuId, _: TaskId) {}
    fn stopping(&mut self, _: &mut Context, _: CpuId, _: TaskId, _: bool) {}

    fn on(&mut self, cx: &mut Context, happening: Happening) {
        let Happening::Cpu { cpu, up: false } = happening else { return };
        for task in std::mem::take(&mut self.queues[cpu.index()]) {
            let to = self.deal(cx, task, cpu);
            cx.moved(task, to);
            self.enqueue(cx, task, to, Why::Displaced);
        }
    }
}
