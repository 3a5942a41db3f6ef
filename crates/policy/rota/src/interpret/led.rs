//! A policy that a caller leads through a run: tasks arrive, CPUs dispatch, and what they run ends.
//! Every handler runs on the current state; only the order of events is the caller's choice.

use wastenot_model::policy::{Effect, Place};
use wastenot_model::{CpuId, CpuSet, Span, TaskId};

use super::forced::{Forced, Placed};
use crate::ir::Event;

impl Forced {
    /// Time passes.
    pub fn passes(&mut self, span: Span) {
        let view = self.cx.view_mut();
        view.now = view.now + span;
    }

    /// From now on `task`, which does not wait, may run on these CPUs.
    pub fn confine(&mut self, task: TaskId, cpus: CpuSet) {
        let view = self.cx.view_mut();
        let mask = view.task(task).mask as usize;
        view.masks[mask] = cpus;
    }

    /// `task` is new or wakes; it was last on `prev`. Its handler sees the CPUs that are idle now.
    pub fn comes(&mut self, event: Event, task: TaskId, prev: CpuId) -> Placed {
        let idle = self.scheduler.state.idle.clone();
        self.places((event, task), prev, (idle.clone(), idle))
    }

    /// `cpu`, which is idle, dispatches as the text tells it to. Returns the task that it runs
    /// then.
    pub fn dispatches(&mut self, cpu: CpuId) -> Option<TaskId> {
        self.cx.view_mut().cpu = cpu;
        let task = self.scheduler.dispatch(&mut self.cx, cpu)?;
        self.starts(task, cpu);
        Some(task)
    }

    /// `task` begins to run on `cpu`, and its handler runs.
    pub(super) fn starts(&mut self, task: TaskId, cpu: CpuId) {
        self.runs(task, cpu);
        self.scheduler.running(&mut self.cx, cpu, task);
    }

    /// The task on `cpu` stops after it ran for `ran`: it blocks or exits; for `preempt` and
    /// `yield` the caller must still place it again. Returns that task; `None`: `cpu` runs no task.
    pub fn stops(&mut self, cpu: CpuId, event: Event, ran: Span) -> Option<TaskId> {
        let task = self.cx.current(cpu)?;
        self.passes(ran);
        let stays = event.places();
        self.scheduler.state.task(task).ends = event == Event::Exit;
        self.cx.view_mut().cpu = cpu;
        self.scheduler.stopping(&mut self.cx, cpu, task, stays);
        let view = self.cx.view_mut();
        view.cpus[cpu.index()].current = None;
        view.idle.insert(cpu);
        view.task_mut(task).place = if stays { Place::Moving } else { Place::Asleep };
        Some(task)
    }

    /// `task` no longer waits: it goes to another scheduling class.
    pub fn leaves(&mut self, task: TaskId) {
        self.scheduler.leave(&mut self.cx, task);
        self.cx.view_mut().task_mut(task).place = Place::Asleep;
    }

    /// The CPUs kicked since the last call, and whether the kick preempts the task there.
    pub fn kicks(&mut self) -> Vec<(CpuId, bool)> {
        let mut effects = Vec::new();
        self.cx.take(&mut effects);
        let kick = |effect| match effect {
            Effect::Kick { cpu, preempt } => Some((cpu, preempt)),
            _ => None,
        };
        effects.into_iter().filter_map(kick).collect()
    }

    /// The task that `cpu` runs.
    pub fn current(&self, cpu: CpuId) -> Option<TaskId> {
        self.cx.current(cpu)
    }

    /// The task that was given to `cpu` directly and has not begun to run.
    pub fn given_to(&self, cpu: CpuId) -> Option<TaskId> {
        self.scheduler.state.cpus[cpu.index()].next
    }

    /// CPUs whose idle flag is set.
    pub fn sleeping(&self) -> CpuSet {
        self.scheduler.state.idle.clone()
    }

    /// The values of the variables of `cpu`.
    pub fn kept(&self, cpu: CpuId) -> &[i64] {
        &self.scheduler.state.cpus[cpu.index()].vars
    }
}
