//! A list of tasks for each priority, and a bitmap of those that are not empty.

use std::collections::VecDeque;

use wastenot_model::TaskId;

/// Priorities of ordinary tasks: 100..140; those below are real-time.
pub(super) const FIRST: u8 = 100;
pub(super) const COUNT: u8 = 40;

/// One of the two arrays of a CPU.
#[derive(Debug)]
pub(super) struct Array {
    lists: Vec<VecDeque<TaskId>>,
    filled: u64,
    len: usize,
}

impl Default for Array {
    fn default() -> Array {
        Array { lists: vec![VecDeque::new(); usize::from(COUNT)], filled: 0, len: 0 }
    }
}

impl Array {
    pub(super) fn len(&self) -> usize {
        self.len
    }
    pub(super) fn push_back(&mut self, task: TaskId, prio: u8) {
        self.list(prio).push_back(task);
    }
    pub(super) fn push_front(&mut self, task: TaskId, prio: u8) {
        self.list(prio).push_front(task);
    }
    fn list(&mut self, prio: u8) -> &mut VecDeque<TaskId> {
        let at = prio - FIRST;
        self.len += 1;
        self.filled |= 1 << at;
        &mut self.lists[usize::from(at)]
    }
    /// The first of the first list.
    pub(super) fn pop(&mut self) -> Option<TaskId> {
        let at = self.filled.trailing_zeros() as usize;
        let list = self.lists.get_mut(at)?;
        let task = list.pop_front()?;
        self.len -= 1;
        self.filled &= !(u64::from(list.is_empty()) << at);
        Some(task)
    }
    /// Takes `task` out, if it is here.
    pub(super) fn remove(&mut self, task: TaskId) {
        for (at, list) in self.lists.iter_mut().enumerate() {
            if let Some(place) = list.iter().position(|&other| other == task) {
                list.remove(place);
                self.len -= 1;
                self.filled &= !(u64::from(list.is_empty()) << at);
                return;
            }
        }
    }
    /// All tasks, by priority, the last of each list first: the task queued last is the coldest
    /// here.
    pub(super) fn tail_first(&self) -> impl Iterator<Item = TaskId> + '_ {
        self.lists.iter().flat_map(|list| list.iter().rev().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_the_first_list_leaves_first() {
        let task = TaskId::nth;
        let mut array = Array::default();
        array.push_back(task(1), 120);
        array.push_back(task(2), 120);
        array.push_front(task(3), 120);
        array.push_back(task(4), 139);
        array.push_back(task(5), 100);
        array.remove(task(2));
        let order: Vec<TaskId> = std::iter::from_fn(|| array.pop()).collect();
        assert_eq!(order, [5, 3, 1, 4].map(task));
        assert_eq!((array.len(), array.filled), (0, 0));
    }
}
