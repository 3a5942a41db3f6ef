//! One queue: tasks by key, ties by arrival. In a first-in-first-out queue all keys are equal.

use std::collections::BTreeSet;

/// Where a task stands in its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    pub(super) key: i64,
    pub(super) arrival: u64,
    /// Ordinal of the task.
    pub(super) task: u32,
    pub(super) weight: i64,
}

/// A queue, with totals that can be read without walking its tasks.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    waiting: BTreeSet<Entry>,
    weight: i64,
    key_min: i64,
}

impl Queue {
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }
    /// The sum of the weights of all waiting tasks, as they were when they arrived.
    pub(super) fn weight(&self) -> i64 {
        self.weight
    }
    /// The least key of the waiting tasks and of the last one taken; it never falls.
    pub(super) fn key_min(&self) -> i64 {
        self.key_min
    }
    /// All waiting tasks, first to last.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.waiting.iter()
    }
    /// The task after `entry`, or the first.
    pub(super) fn after(&self, entry: Option<&Entry>) -> Option<Entry> {
        use std::ops::Bound::{Excluded, Unbounded};
        match entry {
            None => self.waiting.first().copied(),
            Some(entry) => self.waiting.range((Excluded(*entry), Unbounded)).next().copied(),
        }
    }
    pub(super) fn insert(&mut self, entry: Entry) {
        self.weight += entry.weight;
        self.waiting.insert(entry);
    }
    /// A task leaves; `taken`: in order to run.
    pub(super) fn remove(&mut self, entry: &Entry, taken: bool) {
        if self.waiting.remove(entry) {
            self.weight -= entry.weight;
        }
        if taken {
            self.begins(entry.key);
        }
    }
    /// A task with this key begins to run.
    pub(super) fn begins(&mut self, key: i64) {
        let first = self.waiting.first().map_or(key, |first| first.key);
        self.key_min = self.key_min.max(key.min(first));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(key: i64, arrival: u64) -> Entry {
        Entry { key, arrival, task: arrival as u32, weight: 100 }
    }

    #[test]
    fn equal_keys_leave_in_the_order_of_arrival() {
        let mut queue = Queue::default();
        [entry(5, 1), entry(5, 2), entry(4, 3)].into_iter().for_each(|it| queue.insert(it));
        let order: Vec<u32> = queue.iter().map(|it| it.task).collect();
        assert_eq!((order, queue.len(), queue.weight()), (vec![3, 1, 2], 3, 300));
        assert_eq!(queue.after(Some(&entry(4, 3))), Some(entry(5, 1)));
    }

    #[test]
    fn the_least_key_never_falls() {
        let mut queue = Queue::default();
        queue.insert(entry(10, 1));
        assert_eq!(queue.key_min(), 0, "nobody was taken yet");
        queue.insert(entry(20, 2));
        queue.remove(&entry(20, 2), true);
        assert_eq!(queue.key_min(), 10, "somebody with less still waits");
        queue.remove(&entry(10, 1), true);
        queue.insert(entry(3, 3));
        queue.remove(&entry(3, 3), true);
        assert_eq!((queue.key_min(), queue.weight()), (10, 0));
    }
}
