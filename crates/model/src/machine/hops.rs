//! The number of interconnect hops between two nodes.

use std::collections::{BTreeSet, VecDeque};

use super::Machine;

/// The hops between every two nodes.
///
/// Counted along [`Machine::links`] if they are known. If only distances are known, the ranks of
/// the distinct distances stand for hops: the nearest other nodes are one hop away, those at the
/// next greater distance two, and so on. The kernel orders its NUMA levels in the same way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hops {
    nodes: usize,
    between: Vec<Option<u16>>,
}

impl Hops {
    /// Nodes at or above this number have no hops: `CONFIG_NODES_SHIFT` goes up to 10.
    pub const NODE_LIMIT: usize = 1024;

    /// The hops of `machine`; unknown if it has neither links nor distances.
    pub fn of(machine: &Machine) -> Hops {
        if let Some(links) = &machine.links {
            return Hops::along(links);
        }
        let ranks = distance_ranks(machine);
        let nodes = if ranks.is_empty() { 0 } else { machine.node_count().min(Hops::NODE_LIMIT) };
        let rank = |a: usize, b: usize| {
            let distance = if a == b { return Some(0) } else { machine.node_distance(a, b)? };
            ranks.binary_search(&distance).ok().map(|rank| rank as u16 + 1)
        };
        let between = (0..nodes).flat_map(|a| (0..nodes).map(move |b| (a, b)));
        Hops { nodes, between: between.map(|(a, b)| rank(a, b)).collect() }
    }

    /// The hops from `a` to `b`; `None` if they are unknown or there is no path.
    pub fn between(&self, a: usize, b: usize) -> Option<u32> {
        let inside = a < self.nodes && b < self.nodes;
        inside.then(|| self.between[a * self.nodes + b]).flatten().map(u32::from)
    }

    /// A breadth-first search from every node.
    fn along(links: &[Vec<u32>]) -> Hops {
        let nodes = links.len().min(Hops::NODE_LIMIT);
        let mut between = vec![None; nodes * nodes];
        for from in 0..nodes {
            let row = &mut between[from * nodes..][..nodes];
            row[from] = Some(0);
            let mut queue = VecDeque::from([(from, 0u16)]);
            while let Some((node, hops)) = queue.pop_front() {
                for next in links[node].iter().map(|&next| next as usize) {
                    if next < nodes && row[next].is_none() {
                        row[next] = Some(hops + 1);
                        queue.push_back((next, hops + 1));
                    }
                }
            }
        }
        Hops { nodes, between }
    }
}

/// The distinct distances between different nodes that have CPUs, in ascending order.
pub(super) fn distance_ranks(machine: &Machine) -> Vec<u32> {
    if machine.distances.is_none() {
        return Vec::new();
    }
    let nodes: BTreeSet<usize> = machine.nodes().collect();
    let pairs = nodes.iter().flat_map(|&a| nodes.iter().map(move |&b| (a, b)));
    let distances = pairs.filter(|(a, b)| a != b).filter_map(|(a, b)| machine.node_distance(a, b));
    distances.collect::<BTreeSet<u32>>().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(nodes: u32) -> Machine {
        let mut machine = Machine::flat(nodes as usize);
        (0..nodes).for_each(|node| machine.cpus[node as usize].node = Some(node));
        machine
    }

    #[test]
    fn links_win_over_distances_and_a_torn_graph_has_no_path() {
        let mut torn = machine(4);
        torn.links = Some(vec![vec![1], vec![0], vec![3], vec![2, 77]]);
        torn.distances = Some(vec![vec![10; 4]; 4]);
        let hops = Hops::of(&torn);
        assert_eq!((hops.between(0, 1), hops.between(0, 2)), (Some(1), None));
    }

    #[test]
    fn ranks_of_distance_stand_for_hops_where_links_are_unknown() {
        let mut k920 = machine(4);
        k920.distances = Some(vec![
            vec![10, 12, 20, 22],
            vec![12, 10, 22, 24],
            vec![20, 22, 10, 12],
            vec![22, 24, 12, 10],
        ]);
        let hops = Hops::of(&k920);
        assert_eq!([0, 1, 2, 3].map(|to| hops.between(0, to)), [0, 1, 2, 3].map(Some));
        assert_eq!(hops.between(1, 3), Some(4));
    }

    #[test]
    fn without_links_or_distances_hops_are_unknown() {
        let hops = Hops::of(&machine(2));
        assert_eq!(hops.between(0, 1), None);
    }
}
