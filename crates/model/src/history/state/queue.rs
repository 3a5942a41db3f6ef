//! Run queues as lists threaded beside the tasks: no allocation, any task leaves in O(1).

use super::{CpuState, NO_TASK, State};
use crate::CpuId;

/// What State keeps beside a task.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    /// Who waits before it on the same queue.
    before: u32,
    /// Who waits behind it.
    pub(super) after: u32,
    /// In which epoch it was last touched.
    pub(super) epoch: u32,
}

impl Link {
    pub(super) fn new(epoch: u32) -> Link {
        Link { before: NO_TASK, after: NO_TASK, epoch }
    }
}

impl State {
    #[inline]
    fn queue_mut(&mut self, place: Option<CpuId>) -> &mut CpuState {
        match place {
            Some(cpu) => &mut self.cpus[cpu.index()],
            None => &mut self.unplaced,
        }
    }

    /// Puts the task with this index behind those who wait at `place`.
    #[inline]
    pub(super) fn join(&mut self, index: u32, place: Option<CpuId>) {
        let queue = self.queue_mut(place);
        let last = std::mem::replace(&mut queue.tail, index);
        queue.waiting += 1;
        if last == NO_TASK {
            queue.head = index;
        } else {
            self.links[last as usize].after = index;
        }
        let link = &mut self.links[index as usize];
        (link.before, link.after) = (last, NO_TASK);
        self.tasks[index as usize].cpu = place;
    }

    /// Takes the task out of the queue of `place`, where it is.
    #[inline]
    pub(super) fn leave(&mut self, index: u32, place: Option<CpuId>) {
        let link = &mut self.links[index as usize];
        let (before, after) = (link.before, link.after);
        (link.before, link.after) = (NO_TASK, NO_TASK);
        if before != NO_TASK {
            self.links[before as usize].after = after;
        }
        if after != NO_TASK {
            self.links[after as usize].before = before;
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

    /// Empties the queue of `place` and gives who was its first. The links between those who
    /// waited stay, to be followed.
    pub(super) fn disband(&mut self, place: Option<CpuId>) -> u32 {
        let queue = self.queue_mut(place);
        (queue.waiting, queue.tail) = (0, NO_TASK);
        std::mem::replace(&mut queue.head, NO_TASK)
    }

    /// Unlinks a task of a disbanded queue and gives who came after it.
    pub(super) fn unlink(&mut self, index: u32) -> u32 {
        let link = &mut self.links[index as usize];
        link.before = NO_TASK;
        std::mem::replace(&mut link.after, NO_TASK)
    }
}
