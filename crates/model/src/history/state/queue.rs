//! Run queues as lists threaded through the tasks: no allocation, any task leaves in O(1).

use super::{CpuState, NO_TASK, State};
use crate::CpuId;

impl State {
    fn queue_mut(&mut self, place: Option<CpuId>) -> &mut CpuState {
        match place {
            Some(cpu) => &mut self.cpus[cpu.index()],
            None => &mut self.unplaced,
        }
    }

    /// Puts the task with this index behind those who wait at `place`.
    pub(super) fn join(&mut self, index: u32, place: Option<CpuId>) {
        let queue = self.queue_mut(place);
        let last = std::mem::replace(&mut queue.tail, index);
        queue.waiting += 1;
        if last == NO_TASK {
            queue.head = index;
        } else {
            self.tasks[last as usize].after = index;
        }
        let task = &mut self.tasks[index as usize];
        (task.before, task.after, task.cpu) = (last, NO_TASK, place);
    }

    /// Takes the task out of the queue of `place`, where it is.
    pub(super) fn leave(&mut self, index: u32, place: Option<CpuId>) {
        let task = &mut self.tasks[index as usize];
        let (before, after) = (task.before, task.after);
        (task.before, task.after) = (NO_TASK, NO_TASK);
        if before != NO_TASK {
            self.tasks[before as usize].after = after;
        }
        if after != NO_TASK {
            self.tasks[after as usize].before = before;
        }
        let queue = self.queue_mut(place);
        queue.waiting -= 1;
        if before == NO_TASK {
            queue.head = after;
        }
        if after == NO_TASK {
            queue.tail = before;
        }
    }
}
