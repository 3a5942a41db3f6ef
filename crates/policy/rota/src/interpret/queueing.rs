//! Moves tasks into queues and out of them, and wakes CPUs for the tasks that wait.

use wastenot_model::policy::{Context, Note};
use wastenot_model::{CpuId, CpuSet, TaskId};

use super::scheduler::Scheduler;
use crate::eval::At;
use crate::ir::Level;

/// On the whole machine, or in the whole partition.
pub(super) const ANYWHERE: At = At { level: Level::Machine, group: 0 };

impl Scheduler {
    /// `task` waits in a queue, under the current value of its key.
    pub(super) fn insert(&mut self, cx: &mut Context, task: TaskId, queue: usize, group: usize) {
        let key = self.policy.queues[queue].key;
        let key = key.map_or(0, |var| self.state.task(task).vars[var]);
        self.state.insert(cx, task, queue, group, key);
        let (state, looks) = (&self.state, &self.looks[queue][group]);
        let name = &self.policy.queues[queue].name;
        cx.note(|view| {
            let may = looks.iter().filter(|&cpu| state.may(view, task, cpu)).collect();
            let cpu = view.task(task).cpu;
            Note::new(cpu, Note::PUT, Some(task), may, format!("{name} {group}"))
        });
    }

    /// Reports a step of the protocol.
    pub(super) fn step(
        &self,
        cx: &mut Context,
        cpu: CpuId,
        what: &'static str,
        task: Option<TaskId>,
    ) {
        cx.note(|_| Note::new(cpu, what, task, CpuSet::new(), String::new()));
    }

    /// Claims the idle CPU `within` a group that is nearest to `task` and would find the task in
    /// its queue, and kicks that CPU.
    pub(super) fn wake(
        &mut self,
        cx: &mut Context,
        task: TaskId,
        queue: usize,
        group: usize,
        within: At,
    ) -> bool {
        let (state, tree) = (&self.state, &self.state.tree);
        if state.idle.is_empty() {
            return false;
        }
        let near = self.own(cx, task, cx.task(task).cpu);
        let looks = &self.looks[queue][group];
        let finds = |cpu| {
            let inside = tree.group(within.level, cpu) == within.group;
            looks.contains(cpu) && inside && state.may(cx, task, cpu)
        };
        let Some(cpu) = state.nearest_idle(&Level::ALL, near, finds) else { return false };
        self.state.idle.remove(cpu);
        cx.kick_idle(cpu);
        true
    }

    /// Wakes an idle CPU for each waiting task, as long as there are idle CPUs. Waking one CPU for
    /// one task is not enough: a CPU may owe two wakeups (docs/explain/proofs.md).
    pub(super) fn pass_on(&mut self, cx: &mut Context) {
        for queue in 0..self.per.len() {
            if self.state.waiting[queue] == 0 || self.state.idle.is_empty() {
                continue;
            }
            for group in 0..self.state.queues[queue].len() {
                let mut entry = self.state.queues[queue][group].after(None);
                while let Some(next) = entry {
                    let task = TaskId::nth(next.task as usize);
                    self.wake(cx, task, queue, group, ANYWHERE);
                    if self.state.idle.is_empty() {
                        return;
                    }
                    entry = self.state.queues[queue][group].after(Some(&next));
                }
            }
        }
    }

    /// The tasks that must be placed again now that `cpu` is offline: its next task, and those in
    /// queues of groups whose CPUs are all offline.
    pub(super) fn goes_off(&mut self, cx: &mut Context, cpu: CpuId) -> Vec<TaskId> {
        self.state.idle.remove(cpu);
        self.armed[cpu.index()] = false;
        let mut tasks: Vec<TaskId> = self.state.cpus[cpu.index()].next.take().into_iter().collect();
        for (queue, per) in self.per.iter().enumerate() {
            let group = self.state.tree.group(*per, cpu);
            let mut members = self.state.tree.members(*per, group).iter();
            if !members.any(|&cpu| cx.online.contains(cpu)) {
                let waiting = self.state.queues[queue][group].iter();
                tasks.extend(waiting.map(|entry| TaskId::nth(entry.task as usize)));
            }
        }
        for &task in &tasks {
            self.state.remove(task, false);
            self.step(cx, cpu, Note::LEFT, Some(task));
        }
        tasks
    }

    /// `task`, which waits, leaves its queue. Returns whether it waited here.
    pub(super) fn leave(&mut self, cx: &mut Context, task: TaskId) -> bool {
        let next = self.state.cpus.iter_mut().find(|cpu| cpu.next == Some(task));
        if let Some(cpu) = next {
            cpu.next = None;
            return true;
        }
        let waits = self.state.task(task).at.is_some();
        if waits {
            self.state.remove(task, false);
            self.step(cx, cx.task(task).cpu, Note::LEFT, Some(task));
        }
        waits
    }
}
