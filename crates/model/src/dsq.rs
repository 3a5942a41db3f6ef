//! Queues for policies: first in first out, or ordered by a key.
//!
//! [`Ordered`] is a set of queues over one population. Each member is in at most one queue, as
//! every scheduler requires: the structure refuses a second queue.

/// Queues numbered from 0, each ordered by key and, among equal keys, by arrival.
///
/// Members are small integers. Inserting and removing take time proportional to the logarithm of
/// the queue's length (heaps with four children per node); finding a member's queue, or the first
/// of a queue, takes constant time.
#[derive(Clone, Debug, Default)]
pub struct Ordered<K> {
    heaps: Vec<Vec<Entry<K>>>,
    /// By member: its place.
    at: Vec<At>,
    arrivals: u64,
}

#[derive(Clone, Copy, Debug)]
struct Entry<K> {
    key: K,
    arrival: u64,
    member: u32,
}

#[derive(Clone, Copy, Debug)]
struct At {
    queue: u32,
    index: u32,
}

const NOWHERE: At = At { queue: u32::MAX, index: 0 };
const CHILDREN: usize = 4;

impl<K: Copy + PartialOrd> Ordered<K> {
    /// `queues` empty queues.
    pub fn new(queues: usize) -> Ordered<K> {
        Ordered { heaps: vec![Vec::new(); queues], at: Vec::new(), arrivals: 0 }
    }
    /// Adds a queue; returns its number.
    pub fn add_queue(&mut self) -> usize {
        self.heaps.push(Vec::new());
        self.heaps.len() - 1
    }
    /// How many queues there are.
    pub fn queues(&self) -> usize {
        self.heaps.len()
    }
    /// Puts `member`, which is in no queue, into `queue`.
    #[inline]
    pub fn insert(&mut self, queue: usize, member: u32, key: K) {
        match self.at.get(member as usize) {
            Some(at) => assert!(at.queue == NOWHERE.queue, "no member is in two queues"),
            None => self.at.resize(member as usize + 1, NOWHERE),
        }
        self.arrivals += 1;
        let entry = Entry { key, arrival: self.arrivals, member };
        let hole = self.heaps[queue].len();
        self.heaps[queue].push(entry);
        self.rise(queue, hole, entry);
    }
    /// Removes `member` from its queue; returns its key, or `None` if it is in no queue.
    #[inline]
    pub fn remove(&mut self, member: u32) -> Option<K> {
        let At { queue, index } = *self.at.get(member as usize)?;
        (queue != NOWHERE.queue).then(|| self.take(queue as usize, index as usize).key)
    }
    /// Removes and returns the first member of `queue`.
    #[inline]
    pub fn pop(&mut self, queue: usize) -> Option<(K, u32)> {
        let first = *self.heaps[queue].first()?;
        self.take(queue, 0);
        Some((first.key, first.member))
    }
    /// The first member of `queue`.
    #[inline]
    pub fn first(&self, queue: usize) -> Option<(K, u32)> {
        self.heaps[queue].first().map(|entry| (entry.key, entry.member))
    }
    /// The queue that `member` is in.
    #[inline]
    pub fn queue_of(&self, member: u32) -> Option<usize> {
        let at = self.at.get(member as usize)?;
        (at.queue != NOWHERE.queue).then_some(at.queue as usize)
    }
    /// How many members are in `queue`.
    #[inline]
    pub fn len(&self, queue: usize) -> usize {
        self.heaps[queue].len()
    }
    /// Whether `queue` is empty.
    pub fn is_empty(&self, queue: usize) -> bool {
        self.heaps[queue].is_empty()
    }
    /// All members of `queue`, in no particular order (the same every time).
    pub fn iter(&self, queue: usize) -> impl Iterator<Item = (K, u32)> + '_ {
        self.heaps[queue].iter().map(|entry| (entry.key, entry.member))
    }

    #[inline]
    fn take(&mut self, queue: usize, index: usize) -> Entry<K> {
        let taken = self.heaps[queue][index];
        self.at[taken.member as usize] = NOWHERE;
        let last = self.heaps[queue].pop().expect("at least the one that is taken");
        if index < self.heaps[queue].len() {
            // Into the hole, then up or down to its place.
            let parent = index.wrapping_sub(1) / CHILDREN;
            match index > 0 && last.before(&self.heaps[queue][parent]) {
                true => self.rise(queue, index, last),
                false => self.sink(queue, index, last),
            }
        }
        taken
    }

    #[inline]
    fn rise(&mut self, queue: usize, mut hole: usize, entry: Entry<K>) {
        let heap = &mut self.heaps[queue];
        while hole > 0 {
            let parent = (hole - 1) / CHILDREN;
            if !entry.before(&heap[parent]) {
                break;
            }
            heap[hole] = heap[parent];
            self.at[heap[hole].member as usize] = At { queue: queue as u32, index: hole as u32 };
            hole = parent;
        }
        heap[hole] = entry;
        self.at[entry.member as usize] = At { queue: queue as u32, index: hole as u32 };
    }

    #[inline]
    fn sink(&mut self, queue: usize, mut hole: usize, entry: Entry<K>) {
        let heap = &mut self.heaps[queue];
        loop {
            let first = hole * CHILDREN + 1;
            if first >= heap.len() {
                break;
            }
            let mut least = first;
            for child in first + 1..(first + CHILDREN).min(heap.len()) {
                if heap[child].before(&heap[least]) {
                    least = child;
                }
            }
            if !heap[least].before(&entry) {
                break;
            }
            heap[hole] = heap[least];
            self.at[heap[hole].member as usize] = At { queue: queue as u32, index: hole as u32 };
            hole = least;
        }
        heap[hole] = entry;
        self.at[entry.member as usize] = At { queue: queue as u32, index: hole as u32 };
    }
}

impl<K: PartialOrd> Entry<K> {
    #[inline]
    fn before(&self, other: &Entry<K>) -> bool {
        self.key < other.key || self.key == other.key && self.arrival < other.arrival
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Random;

    #[test]
    fn equal_keys_leave_in_the_order_of_arrival() {
        let mut queues = Ordered::new(1);
        (0..50).for_each(|member| queues.insert(0, member, 7));
        queues.remove(3);
        let left: Vec<u32> = std::iter::from_fn(|| queues.pop(0)).map(|(_, m)| m).collect();
        assert_eq!(left, (0..50).filter(|&member| member != 3).collect::<Vec<u32>>());
    }

    #[test]
    #[should_panic(expected = "no member is in two queues")]
    fn a_member_is_in_one_queue_at_most() {
        let mut queues = Ordered::new(2);
        queues.insert(0, 5, 1);
        queues.insert(1, 5, 1);
    }

    #[test]
    fn queues_hold_what_sorted_lists_hold() {
        let mut random = Random::stream(1, 0, 0);
        let mut queues = Ordered::new(3);
        let mut lists: Vec<Vec<(u64, u64, u32)>> = vec![Vec::new(); 3];
        for arrival in 0..20_000 {
            let member = random.below(40) as u32;
            match queues.queue_of(member) {
                Some(queue) => {
                    let was = queues.remove(member);
                    let at = lists[queue].iter().position(|e| e.2 == member).expect("in both");
                    assert_eq!(was, Some(lists[queue].remove(at).0));
                }
                None => {
                    let (queue, key) = (random.below(3) as usize, random.below(10));
                    queues.insert(queue, member, key);
                    lists[queue].push((key, arrival, member));
                }
            }
            for (queue, list) in lists.iter().enumerate() {
                assert_eq!(queues.len(queue), list.len());
                let first = list.iter().min().map(|&(key, _, member)| (key, member));
                assert_eq!(queues.first(queue), first);
            }
        }
    }
}
