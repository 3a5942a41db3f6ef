//! The minimum of many values that change one at a time.

/// A tree of minima over a fixed number of leaves: setting a leaf takes one comparison per level,
/// and no branch that a processor could mispredict.
#[derive(Clone, Debug)]
pub(super) struct Tournament {
    /// The tree, its root at 1; leaves are its second half.
    nodes: Vec<u64>,
}

/// The value of an empty leaf.
pub(super) const NONE: u64 = u64::MAX;

impl Tournament {
    pub(super) fn new(leaves: usize) -> Tournament {
        Tournament { nodes: vec![NONE; 2 * leaves.next_power_of_two()] }
    }
    /// The minimum, or [`NONE`].
    pub(super) fn least(&self) -> u64 {
        self.nodes[1]
    }
    /// The leaf of the minimum; of equal ones the first.
    pub(super) fn leaf_of_least(&self) -> usize {
        let (mut at, leaves) = (1, self.nodes.len() / 2);
        while at < leaves {
            at = 2 * at + usize::from(self.nodes[2 * at] != self.nodes[1]);
        }
        at - leaves
    }
    pub(super) fn get(&self, leaf: usize) -> u64 {
        self.nodes[self.nodes.len() / 2 + leaf]
    }
    pub(super) fn set(&mut self, leaf: usize, value: u64) {
        let mut at = self.nodes.len() / 2 + leaf;
        self.nodes[at] = value;
        while at > 1 {
            let least = self.nodes[at].min(self.nodes[at ^ 1]);
            at /= 2;
            if self.nodes[at] == least {
                return;
            }
            self.nodes[at] = least;
        }
    }
}

#[cfg(test)]
mod tests {
    use wastenot_model::workload::Random;

    use super::*;

    #[test]
    fn it_tells_the_least_of_what_was_set() {
        let mut random = Random::stream(3, 0, 0);
        for leaves in 1..40 {
            let (mut tree, mut plain) = (Tournament::new(leaves), vec![NONE; leaves]);
            for _ in 0..500 {
                let leaf = random.below(leaves as u64) as usize;
                plain[leaf] = if random.below(4) == 0 { NONE } else { random.below(50) };
                tree.set(leaf, plain[leaf]);
                assert_eq!(Some(&tree.least()), plain.iter().min());
                assert_eq!(plain[tree.leaf_of_least()], tree.least());
            }
        }
    }
}
