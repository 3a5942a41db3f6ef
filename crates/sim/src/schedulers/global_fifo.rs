//! One queue for all CPUs, first in first out, without preemption.
//!
//! Work-conserving: a woken task goes to an idle CPU that it may use if there is one, and a CPU
//! that runs out takes the first that may run on it. Each decision takes constant time while no
//! affinity is in the way; a task that the head of the queue cannot serve is searched for.

use std::collections::VecDeque;

use wastenot_model::policy::{Context, Happening, Why};
use wastenot_model::{CpuId, Policy, TaskId};

use super::{Scheduler, Settings, queued_on};

pub(super) const SCHEDULER: Scheduler = Scheduler {
    name: "global-fifo",
    about: "one queue for all, first in first out, no preemption",
    source: "ours; the queue of sched_ext's scx_simple",
    switches: &[],
    make: |_: &Settings| Box::new(GlobalFifo::default()),
};

/// The policy.
#[derive(Debug, Default)]
pub(super) struct GlobalFifo {
    queue: VecDeque<TaskId>,
}

impl Policy for GlobalFifo {
    fn name(&self) -> String {
        SCHEDULER.name.into()
    }
    fn symmetric(&self) -> bool {
        true
    }
    fn init(&mut self, _: &mut Context) {}

    /// Where it was if that is idle, for its cache; else the lowest idle CPU.
    fn select_cpu(&mut self, cx: &mut Context, task: TaskId, prev: CpuId, _: Why) -> CpuId {
        if cx.is_idle(prev) && cx.allowed(task, prev) {
            return prev;
        }
        let idle = cx.idle.iter().find(|&cpu| cx.allowed(task, cpu));
        idle.unwrap_or_else(|| cx.fallback(task, prev))
    }

    fn enqueue(&mut self, cx: &mut Context, task: TaskId, cpu: CpuId, why: Why) {
        self.queue.push_back(task);
        if matches!(why, Why::Preempted | Why::Yield) {
            return; // its CPU dispatches next anyway
        }
        let other = || cx.idle.iter().find(|&cpu| cx.allowed(task, cpu));
        let idle = if cx.is_idle(cpu) { Some(cpu) } else { other() };
        if let Some(idle) = idle {
            cx.kick_idle(idle);
        }
    }

    fn dequeue(&mut self, _: &mut Context, task: TaskId, _: CpuId) {
        self.queue.retain(|&queued| queued != task);
    }

    fn dispatch(&mut self, cx: &mut Context, cpu: CpuId) -> Option<TaskId> {
        let at = self.queue.iter().position(|&task| cx.allowed(task, cpu))?;
        let task = self.queue.remove(at)?;
        if cx.task(task).cpu != cpu {
            cx.moved(task, cpu);
        }
        Some(task)
    }

    fn running(&mut self, _: &mut Context, _: CpuId, _: TaskId) {}
    fn stopping(&mut self, _: &mut Context, _: CpuId, _: TaskId, _: bool) {}

    fn on(&mut self, cx: &mut Context, happening: Happening) {
        let Happening::Cpu { cpu, up: false } = happening else { return };
        for task in queued_on(cx, cpu) {
            let to = cx.fallback(task, cpu);
            cx.moved(task, to);
        }
    }
}
