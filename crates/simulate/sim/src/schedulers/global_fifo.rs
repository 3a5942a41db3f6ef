//! One queue for all CPUs, first in first out, without preemption.
//!
//! Work-conserving: a woken task goes to an idle CPU that it may use if there is one, and a CPU
//! that runs out of work takes the first task that may run on it. An idle CPU that was kicked is no
//! longer free, so that of two tasks woken at once the second goes to another CPU (as
//! `scx_bpf_pick_idle_cpu` claims the CPU that it finds). While no affinity restricts a task, each
//! decision takes constant time, except the search for a free CPU, 64 at a time; with affinities, a
//! CPU searches the queue for a task that may run on it.

use std::collections::VecDeque;

use wastenot_model::policy::{Context, Happening, Place, Why};
use wastenot_model::{CpuId, CpuSet, Policy, TaskId};

use super::{Make, Scheduler, Settings, queued_on};

pub(super) const SCHEDULER: Scheduler = Scheduler {
    name: "global-fifo",
    about: "one global queue: first in, first out, without preemption",
    source: "this project; like the queue of scx_simple (sched_ext)",
    groups: false,
    tunables: &[],
    make: Make::Policy(|_: &Settings| Box::new(GlobalFifo::default())),
};

/// The policy.
#[derive(Debug, Default)]
pub(super) struct GlobalFifo {
    queue: VecDeque<TaskId>,
    /// Idle CPUs that were not kicked for a task.
    free: CpuSet,
}

impl GlobalFifo {
    /// `cpu` if it is free, for the task's cache; else the lowest free CPU that the task may use.
    fn find_free(&self, cx: &Context, task: TaskId, cpu: CpuId) -> Option<CpuId> {
        let usable = |cpu: &CpuId| cx.online.contains(*cpu) && cx.allowed(task, *cpu);
        let here = Some(cpu).filter(|&cpu| self.free.contains(cpu));
        here.filter(usable).or_else(|| self.free.iter().find(usable))
    }

    /// Kicks a free CPU, if there is one, for `task`, which waits.
    fn send(&mut self, cx: &mut Context, task: TaskId, cpu: CpuId) {
        if let Some(free) = self.find_free(cx, task, cpu) {
            self.free.remove(free);
            cx.kick_idle(free);
        }
    }
}

impl Policy for GlobalFifo {
    fn name(&self) -> String {
        SCHEDULER.name.into()
    }
    fn symmetric(&self) -> bool {
        true
    }
    fn init(&mut self, cx: &mut Context) {
        self.free = cx.online.clone();
    }

    fn select_cpu(&mut self, cx: &mut Context, task: TaskId, prev: CpuId, _: Why) -> CpuId {
        let free = self.find_free(cx, task, prev);
        free.unwrap_or_else(|| cx.fallback(task, prev))
    }

    fn enqueue(&mut self, cx: &mut Context, task: TaskId, cpu: CpuId, why: Why) {
        let alone = self.queue.is_empty();
        self.queue.push_back(task);
        if alone && matches!(why, Why::Preempted | Why::Yield) {
            return; // its CPU dispatches next and takes it again
        }
        self.send(cx, task, cpu);
    }

    fn dequeue(&mut self, _: &mut Context, task: TaskId, _: CpuId) {
        self.queue.retain(|&queued| queued != task);
    }

    fn dispatch(&mut self, cx: &mut Context, cpu: CpuId) -> Option<TaskId> {
        let at = self.queue.iter().position(|&task| cx.allowed(task, cpu));
        let Some(task) = at.and_then(|at| self.queue.remove(at)) else {
            self.free.insert(cpu);
            return None;
        };
        self.free.remove(cpu);
        if cx.task(task).cpu != cpu {
            cx.moved(task, cpu);
        }
        Some(task)
    }

    fn running(&mut self, _: &mut Context, _: CpuId, _: TaskId) {}
    fn stopping(&mut self, _: &mut Context, _: CpuId, _: TaskId, _: bool) {}

    fn on(&mut self, cx: &mut Context, happening: Happening) {
        match happening {
            Happening::Cpu { cpu, up: true } => cx.kick_idle(cpu), // free once it finds no task
            Happening::Cpu { cpu, up: false } => {
                self.free.remove(cpu);
                for task in queued_on(cx, cpu) {
                    let to = cx.fallback(task, cpu);
                    cx.moved(task, to);
                }
                // The task for which this CPU was kicked needs another one.
                for at in 0..self.queue.len() {
                    let task = self.queue[at];
                    self.send(cx, task, cx.task(task).cpu);
                }
            }
            Happening::Affinity(task) if cx.task(task).place == Place::Queued => {
                self.send(cx, task, cx.task(task).cpu);
            }
            _ => {}
        }
    }
}
