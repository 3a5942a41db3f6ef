//! What one event changed, told to the observer once the event has happened.
//!
//! State is changed without knowing its observers: what an event means is compiled once, and what
//! observers do with it is compiled into one place for each kind of call.

use super::{CpuState, State, TaskState};
use crate::{Contradiction, CpuId, Entry, Observer, TaskId, Time};

/// Who was what before the event.
#[derive(Clone, Debug, Default)]
pub(super) struct Changes {
    tasks: Vec<(u32, TaskState)>,
    pub(super) cpus: Vec<(CpuId, CpuState)>,
    pub(super) contradictions: Vec<Contradiction>,
}

impl State {
    /// Remembers what the task with this index was; it is about to change.
    #[inline]
    pub(super) fn keep_task(&mut self, index: usize) -> TaskState {
        let was = self.tasks[index];
        self.changes.tasks.push((index as u32, was));
        was
    }

    /// Remembers what `cpu` was; it is about to change.
    #[inline]
    pub(super) fn keep_cpu(&mut self, cpu: CpuId) {
        if !self.changes.cpus.iter().any(|(kept, _)| *kept == cpu) {
            self.changes.cpus.push((cpu, self.cpus[cpu.index()]));
        }
    }

    /// Lets time pass up to `now`: all that was told so far held until then.
    #[inline]
    pub(super) fn pass<O: Observer>(&mut self, now: Time, observer: &mut O) {
        self.now = self.now.max(now);
        if self.now > self.told {
            let from = std::mem::replace(&mut self.told, self.now);
            observer.held(self, from, self.now);
        }
    }

    /// Tells what has changed.
    #[inline]
    pub(super) fn tell<O: Observer>(&mut self, entry: &Entry, observer: &mut O) {
        if !self.changes.contradictions.is_empty() {
            self.tell_contradictions(*entry, observer);
        }
        self.tell_all(observer);
    }

    /// Tells of tasks and CPUs.
    #[inline]
    pub(super) fn tell_all<O: Observer>(&mut self, observer: &mut O) {
        self.tell_tasks(observer);
        let mut cpus = std::mem::take(&mut self.changes.cpus);
        for (cpu, was) in &cpus {
            self.tell_cpu(*cpu, was, observer);
        }
        cpus.clear();
        self.changes.cpus = cpus;
    }

    /// Tells of tasks before the event is over: one of them is about to change once more.
    pub(super) fn tell_tasks<O: Observer>(&mut self, observer: &mut O) {
        let mut tasks = std::mem::take(&mut self.changes.tasks);
        for (index, was) in &tasks {
            let index = *index as usize;
            let forgotten;
            let now = match self.links[index].epoch == self.epoch {
                true => &self.tasks[index],
                false => {
                    forgotten = self.fresh(index); // by a loss
                    &forgotten
                }
            };
            self.tell_task(index, was, now, observer);
        }
        tasks.clear();
        self.changes.tasks = tasks;
    }

    /// Tells what the task with this index was and is. What observers do is compiled here only.
    #[inline(never)]
    pub(super) fn tell_task<O: Observer>(
        &self,
        index: usize,
        was: &TaskState,
        now: &TaskState,
        observer: &mut O,
    ) {
        observer.task(self, TaskId::nth(index), was, now);
    }

    /// Tells what `cpu` was, and is.
    #[inline(never)]
    pub(super) fn tell_cpu<O: Observer>(&self, cpu: CpuId, was: &CpuState, observer: &mut O) {
        observer.cpu(self, cpu, was, &self.cpus[cpu.index()]);
    }

    /// Takes the entry by value: what is only looked at here need not be in memory elsewhere.
    #[cold]
    pub(super) fn tell_contradictions<O: Observer>(&mut self, entry: Entry, observer: &mut O) {
        for what in std::mem::take(&mut self.changes.contradictions) {
            observer.contradiction(self, &entry, what);
        }
    }
}
