//! All small machines: every way in which a few CPUs can share cores, caches and nodes.
//!
//! Machines that differ only in the numbers of their CPUs count as one. A level that a policy does
//! not name has one group.

use wastenot_model::{CpuSet, Machine};
use wastenot_rota::Tree;
use wastenot_rota::ir::{Level, Policy, Visitor, visit};

/// A machine to explore, and its groups of CPUs.
#[derive(Clone, Debug)]
pub struct Small {
    /// The machine.
    pub machine: Machine,
    /// Its groups.
    pub tree: Tree,
}

/// Every machine of so many CPUs, as far as `policy` can distinguish them.
pub fn machines(policy: &Policy, cpus: usize) -> Vec<Small> {
    if policy.protocol.groups_from_cpu0 {
        return rings(cpus);
    }
    let levels = levels(policy);
    let mut parted = Vec::new();
    part(&levels, cpus, &mut parted);
    parted.iter().map(|parts| small(&levels, parts)).collect()
}

/// The levels among core, cache and node that a policy names where it matters to a proof.
fn levels(policy: &Policy) -> Vec<Level> {
    struct Named([bool; Level::ALL.len()]);
    impl Visitor for Named {
        fn level(&mut self, level: Level) {
            self.0[level as usize] = true;
        }
    }
    let mut named = Named([false; Level::ALL.len()]);
    visit(policy, &mut named);
    let inner = [Level::Node, Level::Llc, Level::Smt];
    inner.into_iter().filter(|level| named.0[*level as usize]).collect()
}

/// The groups of each CPU at each of `levels`, wide to narrow: every chain of partitions. Chains
/// that differ only in the order of their parts are made once.
fn part(levels: &[Level], cpus: usize, into: &mut Vec<Vec<Vec<usize>>>) {
    let Some((_, narrower)) = levels.split_first() else {
        into.push(vec![Vec::new(); cpus]);
        return;
    };
    // A shape is how one group of this level is parted further; sizes and shapes never rise.
    fn fill(
        narrower: &[Level],
        left: usize,
        limit: (usize, usize),
        so_far: &[Vec<usize>],
        group: usize,
        into: &mut Vec<Vec<Vec<usize>>>,
    ) {
        if left == 0 {
            into.push(so_far.to_vec());
            return;
        }
        for size in (1..=left.min(limit.0)).rev() {
            let mut shapes = Vec::new();
            part(narrower, size, &mut shapes);
            let least = if size == limit.0 { limit.1 } else { 0 };
            for (index, shape) in shapes.iter().enumerate().skip(least) {
                let mut next = so_far.to_vec();
                for inner in shape {
                    let mut cpu = vec![group];
                    cpu.extend(inner);
                    next.push(cpu);
                }
                fill(narrower, left - size, (size, index), &next, group + 1, into);
            }
        }
    }
    fill(narrower, cpus, (cpus, 0), &[], 0, into);
}

fn small(levels: &[Level], parts: &[Vec<usize>]) -> Small {
    let mut machine = Machine::flat(parts.len());
    machine.name = name(levels, parts);
    let mut keys: Vec<&[usize]> = Vec::new();
    for (cpu, part) in parts.iter().enumerate() {
        let node = levels.contains(&Level::Node);
        machine.cpus[cpu].node = Some(if node { part[0] as u32 } else { 0 });
        for (depth, level) in levels.iter().enumerate() {
            // Groups are unique over the machine: numbered by the whole way down to them.
            let key = &part[..=depth];
            let number = keys.iter().position(|known| *known == key).unwrap_or_else(|| {
                keys.push(key);
                keys.len() - 1
            });
            match level {
                Level::Llc => machine.cpus[cpu].llc = Some(number as u32),
                Level::Smt => machine.cpus[cpu].core = Some(number as u32),
                _ => {}
            }
        }
    }
    let tree = Tree::of(&machine, &CpuSet::first(parts.len()));
    Small { machine, tree }
}

/// `4 CPUs, node 2+2, llc 2+1+1`
fn name(levels: &[Level], parts: &[Vec<usize>]) -> String {
    let mut name = match parts.len() {
        1 => "1 CPU".to_owned(),
        cpus => format!("{cpus} CPUs"),
    };
    for (depth, level) in levels.iter().enumerate() {
        let mut sizes: Vec<(&[usize], usize)> = Vec::new();
        for part in parts {
            match sizes.last_mut().filter(|(key, _)| *key == &part[..=depth]) {
                Some((_, size)) => *size += 1,
                None => sizes.push((&part[..=depth], 1)),
            }
        }
        let sizes: Vec<String> = sizes.iter().map(|(_, size)| size.to_string()).collect();
        name += &format!(", {} {}", level.name(), sizes.join("+"));
    }
    name
}

/// A ring of nodes of one CPU each, in which opposite nodes are two hops apart. Groups made from
/// CPU 0 are wrong on it.
fn rings(cpus: usize) -> Vec<Small> {
    let mut machine = Machine::flat(cpus);
    machine.name = format!("{cpus} nodes in a ring");
    for (n, cpu) in machine.cpus.iter_mut().enumerate() {
        (cpu.node, cpu.llc) = (Some(n as u32), Some(n as u32));
    }
    let hops = |a: usize, b: usize| a.abs_diff(b).min(cpus - a.abs_diff(b));
    let distance = |a: usize, b: usize| 10 + 10 * hops(a, b) as u32;
    let row = |a: usize| (0..cpus).map(|b| distance(a, b)).collect();
    machine.distances = Some((0..cpus).map(row).collect());
    let tree = Tree::from_cpu0(&machine, &CpuSet::first(cpus));
    vec![Small { machine, tree }]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shapes(levels: &[Level], cpus: usize) -> Vec<String> {
        let mut parted = Vec::new();
        part(levels, cpus, &mut parted);
        parted.iter().map(|parts| small(levels, parts).machine.name).collect()
    }

    #[test]
    fn machines_that_differ_in_numbering_only_are_one() {
        assert_eq!(shapes(&[], 3), ["3 CPUs"]);
        let nodes = ["3 CPUs, node 3", "3 CPUs, node 2+1", "3 CPUs, node 1+1+1"];
        assert_eq!(shapes(&[Level::Node], 3), nodes);
        // Partitions of partitions: 1, 3, 6, 14 for one to four (OEIS A001970).
        let counts = [1, 2, 3, 4].map(|cpus| shapes(&[Level::Node, Level::Llc], cpus).len());
        assert_eq!(counts, [1, 3, 6, 14]);
    }

    #[test]
    fn groups_of_a_machine_are_as_its_name_says() {
        let mut parted = Vec::new();
        let levels = [Level::Node, Level::Llc];
        part(&levels, 4, &mut parted);
        for parts in &parted {
            let small = small(&levels, parts);
            let sizes = |level: Level| {
                let groups = 0..small.tree.count(level);
                let sizes = groups.map(|group| small.tree.members(level, group).len().to_string());
                sizes.collect::<Vec<_>>().join("+")
            };
            let told = format!("4 CPUs, node {}, llc {}", sizes(Level::Node), sizes(Level::Llc));
            assert_eq!(told, small.machine.name);
        }
    }
}
