//! Every task has a CPU of its own for life: new tasks are dealt out in turn, each queue is first in
//! first out, nobody is preempted or moved.
//!
//! What people do by hand with `taskset` when they do not trust the scheduler; with as many tasks
//! as CPUs it is the best that can be had. Each decision takes constant time.

use std::collections::VecDeque;

use wastenot_model::policy::{Context, Happening, Why};
use wastenot_model::{CpuId, Policy, TaskId};

use super::{Scheduler, Settings};

pub(super) const SCHEDULER: Scheduler = Scheduler {
    name: "pinned",
    about: "each task bound to a CPU of its own, dealt out in turn",
    source: "ours; taskset(1) by hand",
    switches: &[],
    make: |_: &Settings| Box::new(Pinned::default()),
};

/// The policy.
#[derive(Debug, Default)]
pub(super) struct Pinned {
    queues: Vec<VecDeque<TaskId>>,
    next: usize,
}

impl Policy for Pinned {
    fn name(&self) -> String {
        SCHEDULER.name.into()
    }
    fn symmetric(&self) -> bool {
        true
    }
    fn init(&mut self, cx: &mut Context) {
        self.queues = vec![VecDeque::new(); cx.cpus.len()];
    }

    fn select_cpu(&mut self, cx: &mut Context, task: TaskId, prev: CpuId, why: Why) -> CpuId {
        if why != Why::New {
            return cx.fallback(task, prev);
        }
        let cpus = cx.cpus.len();
        let turns = (0..cpus).map(|n| CpuId(((self.next + n) % cpus) as u16));
        let mut usable = turns.filter(|&cpu| cx.online.contains(cpu) && cx.allowed(task, cpu));
        let cpu = usable.next().unwrap_or_else(|| cx.fallback(task, prev));
        self.next = (cpu.index() + 1) % cpus;
        cpu
    }

    fn enqueue(&mut self, cx: &mut Context, task: TaskId, cpu: CpuId, _: Why) {
        self.queues[cpu.index()].push_back(task);
        cx.kick_idle(cpu);
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
            let to = cx.fallback(task, cpu);
            cx.moved(task, to);
            self.enqueue(cx, task, to, Why::Displaced);
        }
    }
}
