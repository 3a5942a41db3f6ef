//! The runnable tasks of a CPU in the order in which balancing examines them (`rq->cfs_tasks`): in
//! 4.1 most recently enqueued first and taken from the front; from 4.16 on most recently run first
//! and taken from the back.

use super::Cfs;
use super::entity::END;
use super::rules::Era;

impl Cfs {
    /// Adds an entity of a task at the front of its CPU's list.
    pub(super) fn list_add(&mut self, cpu: u32, entity: u32) {
        let task = entity - self.base;
        let first = std::mem::replace(&mut self.rqs[cpu as usize].first, task);
        let links = &mut self.tasks[task as usize];
        (links.before, links.after) = (END, first);
        match first {
            END => self.rqs[cpu as usize].last = task,
            first => self.tasks[first as usize].before = task,
        }
    }

    pub(super) fn list_remove(&mut self, cpu: u32, entity: u32) {
        let task = entity - self.base;
        let (before, after) = (self.tasks[task as usize].before, self.tasks[task as usize].after);
        match before {
            END => self.rqs[cpu as usize].first = after,
            before => self.tasks[before as usize].after = after,
        }
        match after {
            END => self.rqs[cpu as usize].last = before,
            after => self.tasks[after as usize].before = before,
        }
    }

    pub(super) fn list_to_front(&mut self, cpu: u32, entity: u32) {
        if self.rqs[cpu as usize].first != entity - self.base {
            self.list_remove(cpu, entity);
            self.list_add(cpu, entity);
        }
    }

    fn list_to_back(&mut self, cpu: u32, entity: u32) {
        let (task, last) = (entity - self.base, self.rqs[cpu as usize].last);
        if last != task {
            self.list_remove(cpu, entity);
            (self.tasks[task as usize].before, self.tasks[task as usize].after) = (last, END);
            self.tasks[last as usize].after = task;
            self.rqs[cpu as usize].last = task;
        }
    }

    /// The task that balancing examines first.
    pub(super) fn list_next(&self, cpu: u32) -> Option<u32> {
        let rq = &self.rqs[cpu as usize];
        let task = if self.rules.era == Era::V4 { rq.first } else { rq.last };
        (task != END).then_some(self.base + task)
    }

    /// The task was examined and not taken: next time others come first.
    pub(super) fn list_pass_over(&mut self, cpu: u32, entity: u32) {
        match self.rules.era {
            Era::V4 => self.list_to_back(cpu, entity),
            Era::V5 | Era::V6 => self.list_to_front(cpu, entity),
        }
    }
}
