//! Keeps the worst items of many, in bounded memory.

use std::cmp::Reverse;

/// Keeps the items of the highest ranks. Ranks tell all items apart, so that the order in which
/// they come does not matter.
#[derive(Debug)]
pub(crate) struct Worst<K, T> {
    limit: usize,
    kept: Vec<(K, T)>,
    /// No item below this rank can still be among the worst.
    floor: Option<K>,
}

impl<K: Ord + Copy, T> Worst<K, T> {
    pub(crate) fn new(limit: usize) -> Worst<K, T> {
        Worst { limit, kept: Vec::new(), floor: None }
    }

    /// Whether an item of this rank may be among the worst: others need not even be made.
    pub(crate) fn wants(&self, rank: K) -> bool {
        self.limit > 0 && self.floor.is_none_or(|floor| rank > floor)
    }

    pub(crate) fn add(&mut self, rank: K, item: T) {
        if !self.wants(rank) {
            return;
        }
        self.kept.push((rank, item));
        if self.kept.len() >= (2 * self.limit).max(64) {
            self.settle();
            self.floor = self.kept.last().map(|(rank, _)| *rank);
        }
    }

    fn settle(&mut self) {
        self.kept.sort_by_key(|(rank, _)| Reverse(*rank));
        self.kept.truncate(self.limit);
    }

    /// The items, the worst first.
    pub(crate) fn finish(mut self) -> Vec<T> {
        self.settle();
        self.kept.into_iter().map(|(_, item)| item).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_those_that_sorting_all_would_give() {
        for limit in [0usize, 1, 7, 40, 1000] {
            let mut worst = Worst::new(limit);
            let ranks: Vec<u64> = (0..500u64).map(|n| n * 7919 % 503).collect();
            ranks.iter().for_each(|&rank| worst.add(rank, rank));
            let mut sorted = ranks.clone();
            sorted.sort_by_key(|rank| Reverse(*rank));
            sorted.truncate(limit);
            assert_eq!(worst.finish(), sorted, "limit {limit}");
        }
    }
}
