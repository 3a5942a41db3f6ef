//! Scheduling domains as the kernel builds them from the distance matrix.
//!
//! A CPU balances within a chain of ever wider *spans*: its core, its last-level cache, its node,
//! then all nodes up to each distinct distance. At each level the span is cut into *groups*, which
//! are spans of the level below. Load is compared between groups, never within one. "The Linux
//! Scheduler: a Decade of Wasted Cores" (EuroSys 2016) found a fault in how that cut was made on
//! machines whose spans overlap; [`Grouping`] selects between the old and the new method.

use std::collections::BTreeMap;

use super::{Cpu, Machine, hops::distance_ranks};
use crate::{CpuId, CpuSet};

/// How a span is cut into groups of overlapping child spans.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grouping {
    /// One list for all CPUs, built from the lowest CPU of the span (before Linux 4.12). Two nodes
    /// that are together in every group can never pull tasks from each other.
    Core0,
    /// A separate list for each CPU, which begins with that CPU's child span.
    Own,
    /// As `Own`; and of the CPUs of a group, only those balance on its behalf whose own child span
    /// is the group (Linux 4.12 and later).
    #[default]
    OwnBalanced,
}

/// What the CPUs of a level's span have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// One core.
    Smt,
    /// One last-level cache (within a node).
    Llc,
    /// One node; the whole machine if nodes are unknown.
    Node,
    /// All nodes up to the nth distinct distance, from 1.
    Numa(u16),
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Kind::Smt => f.pad("SMT"),
            Kind::Llc => f.pad("LLC"),
            Kind::Node => f.pad("NODE"),
            Kind::Numa(n) => f.pad(&format!("NUMA-{n}")),
        }
    }
}

/// One group of a domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its CPUs.
    pub cpus: CpuSet,
    /// The CPUs that may balance on its behalf (the kernel's group balance mask).
    pub balance: CpuSet,
}

/// One level: a span for every CPU that takes part in balancing.
#[derive(Clone, Debug)]
pub struct Level {
    /// What spans of this level have in common.
    pub kind: Kind,
    spans: Vec<CpuSet>,
    /// Index into `spans` by CPU.
    span_of: Vec<Option<u32>>,
}

impl Level {
    /// The span of `cpu`; `None` if it is offline or isolated.
    pub fn span(&self, cpu: CpuId) -> Option<&CpuSet> {
        let index = (*self.span_of.get(cpu.index())?)?;
        self.spans.get(index as usize)
    }
}

/// The scheduling domains of a machine.
#[derive(Clone, Debug)]
pub struct Domains {
    grouping: Grouping,
    members: CpuSet,
    levels: Vec<Level>,
}

impl Domains {
    /// The domains of `machine`. Offline and isolated CPUs are in none. Levels that widen no CPU's
    /// span are left out.
    pub fn of(machine: &Machine, grouping: Grouping) -> Domains {
        let members: CpuSet = (machine.online().iter())
            .filter(|cpu| machine.cpu(*cpu).is_some_and(|cpu| !cpu.isolated))
            .collect();
        let mut domains = Domains { grouping, members, levels: Vec::new() };
        domains.widen(domains.by_key(Kind::Smt, machine, |cpu| cpu.core));
        // A cache may cover several nodes (sub-NUMA clustering): as in the kernel, only the part
        // within the node counts, so that spans nest.
        let llc = |cpu: &Cpu| cpu.llc.map(|llc| (cpu.node, llc));
        domains.widen(domains.by_key(Kind::Llc, machine, llc));
        let nodes_known = machine.cpus.iter().any(|cpu| cpu.node.is_some());
        let node = |cpu: &Cpu| if nodes_known { cpu.node } else { Some(0) };
        domains.widen(domains.by_key(Kind::Node, machine, node));
        if nodes_known {
            domains.widen_over_nodes(machine);
        }
        domains
    }

    /// The levels, narrow to wide.
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// The levels at which `cpu` has a domain, narrow to wide: those that widen its span.
    pub fn chain(&self, cpu: CpuId) -> impl Iterator<Item = usize> + '_ {
        (0..self.levels.len()).filter(move |&level| {
            let own = self.levels[level].span(cpu);
            own.is_some() && own != self.child_span(level, cpu).as_ref()
        })
    }

    /// The groups of `cpu`'s domain at `level`, in the order in which they are built. Empty if the
    /// CPU has no span there.
    ///
    /// With an own list, the first group is the CPU's own child span.
    pub fn groups(&self, level: usize, cpu: CpuId) -> Vec<Group> {
        let Some(span) = self.levels.get(level).and_then(|level| level.span(cpu)) else {
            return Vec::new();
        };
        let from = if self.grouping == Grouping::Core0 { CpuId(0) } else { cpu };
        let (before, after): (Vec<CpuId>, Vec<CpuId>) = span.iter().partition(|&cpu| cpu < from);
        let mut covered = CpuSet::new();
        let mut groups = Vec::new();
        for seed in after.into_iter().chain(before) {
            if covered.contains(seed) {
                continue;
            }
            let group = self.group_of(level, seed, span);
            group.cpus.iter().for_each(|cpu| covered.insert(cpu));
            groups.push(group);
        }
        groups
    }

    /// Whether `to` can never pull tasks from `from`: no domain of `to` has a group with `from` and
    /// without `to`. A group that holds `to` counts as local.
    pub fn blind(&self, from: CpuId, to: CpuId) -> bool {
        from != to
            && !self.chain(to).any(|level| {
                let groups = self.groups(level, to);
                groups.iter().any(|group| group.cpus.contains(from) && !group.cpus.contains(to))
            })
    }

    /// The group that `seed` adds to a domain with `span`: its child span.
    ///
    /// If that exceeds `span` (three hops and more), own lists use the widest span of `seed` that
    /// does not; the shared list uses it unchanged.
    fn group_of(&self, level: usize, seed: CpuId, span: &CpuSet) -> Group {
        let shared = self.grouping == Grouping::Core0;
        let mut below = level;
        let mut cpus = self.child_span(below, seed);
        while !shared && below > 0 && !cpus.as_ref().is_some_and(|cpus| cpus.is_subset(span)) {
            below -= 1;
            cpus = self.child_span(below, seed);
        }
        let cpus = cpus.unwrap_or_else(|| CpuSet::from_iter([seed]));
        let balance = match self.grouping {
            Grouping::Core0 | Grouping::Own => cpus.clone(),
            Grouping::OwnBalanced => {
                let owners = cpus.iter();
                owners.filter(|&cpu| self.child_span(below, cpu).as_ref() == Some(&cpus)).collect()
            }
        };
        Group { cpus, balance }
    }

    /// The span of `cpu` one level below `level`: itself alone below the lowest.
    fn child_span(&self, level: usize, cpu: CpuId) -> Option<CpuSet> {
        match level.checked_sub(1) {
            Some(below) => self.levels[below].span(cpu).cloned(),
            None => self.members.contains(cpu).then(|| CpuSet::from_iter([cpu])),
        }
    }

    /// A level whose spans are the CPUs with equal `key`; a CPU without a key keeps its child span.
    fn by_key<K: Ord>(
        &self,
        kind: Kind,
        machine: &Machine,
        key: impl Fn(&Cpu) -> Option<K>,
    ) -> Level {
        let mut spans = Vec::new();
        let mut known = BTreeMap::new();
        let mut span_of = vec![None; machine.len()];
        for cpu in self.members.iter() {
            let child = self.child_span(self.levels.len(), cpu).unwrap_or_default();
            let index = match key(&machine.cpus[cpu.index()]) {
                Some(key) => *known.entry(key).or_insert(spans.len()),
                None => spans.len(),
            };
            match spans.get_mut(index) {
                None => spans.push(child),
                Some(span) if child.is_subset(span) => {}
                Some(span) => *span = span.or(&child),
            }
            span_of[cpu.index()] = Some(index as u32);
        }
        Level { kind, spans, span_of }
    }

    /// One level for each distinct distance; a single one over all nodes if distances are unknown.
    fn widen_over_nodes(&mut self, machine: &Machine) {
        let nodes: Vec<usize> = machine.nodes().collect();
        let mut cpus_of: BTreeMap<usize, CpuSet> = BTreeMap::new();
        for cpu in self.members.iter() {
            if let Some(node) = machine.cpus[cpu.index()].node {
                cpus_of.entry(node as usize).or_default().insert(cpu);
            }
        }
        let mut reaches = distance_ranks(machine);
        if nodes.iter().any(|&a| nodes.iter().any(|&b| machine.node_distance(a, b).is_none())) {
            reaches.push(u32::MAX);
        }
        let mut ordinal = 0;
        for reach in reaches {
            let near = |a: usize, b: usize| {
                a == b || machine.node_distance(a, b).unwrap_or(u32::MAX) <= reach
            };
            let mut spans: Vec<CpuSet> = Vec::new();
            let mut span_of = vec![None; machine.len()];
            for (&a, own) in &cpus_of {
                let others = cpus_of.iter().filter(|(b, _)| near(a, **b));
                let index = spans.len() as u32;
                spans.push(others.flat_map(|(_, cpus)| cpus.iter()).collect());
                own.iter().for_each(|cpu| span_of[cpu.index()] = Some(index));
            }
            let level = Level { kind: Kind::Numa(ordinal + 1), spans, span_of };
            ordinal += u16::from(self.widen(level));
        }
    }

    /// Adds `level` if it widens any CPU's span.
    fn widen(&mut self, level: Level) -> bool {
        let above = self.levels.len();
        let wider = self.members.iter().any(|cpu| {
            let span = level.span(cpu);
            span.is_some() && span != self.child_span(above, cpu).as_ref()
        });
        if wider {
            self.levels.push(level);
        }
        wider
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One node per row, with `width` CPUs each.
    fn numa(width: usize, rows: &[&[u32]]) -> Machine {
        let mut machine = Machine::flat(width * rows.len());
        for (index, cpu) in machine.cpus.iter_mut().enumerate() {
            cpu.node = Some((index / width) as u32);
        }
        machine.distances = Some(rows.iter().map(|row| row.to_vec()).collect());
        machine
    }

    fn lists(groups: &[Group]) -> Vec<String> {
        groups.iter().map(|group| group.cpus.to_string()).collect()
    }

    const LINE4: [&[u32]; 4] =
        [&[10, 20, 30, 40], &[20, 10, 20, 30], &[30, 20, 10, 20], &[40, 30, 20, 10]];

    #[test]
    fn groups_of_a_line_stay_within_the_span_in_own_views_only() {
        let line = numa(1, &LINE4);
        let own = Domains::of(&line, Grouping::OwnBalanced);
        assert_eq!(own.levels().len(), 3);
        assert_eq!(own.levels()[1].span(CpuId(0)).map(CpuSet::to_string), Some("0-2".into()));
        // Node 2's own neighbours reach to node 3, which node 0 cannot see at two hops.
        assert_eq!(lists(&own.groups(1, CpuId(0))), ["0-1", "2"]);
        assert_eq!(lists(&own.groups(2, CpuId(0))), ["0-2", "1-3"]);
        let shared = Domains::of(&line, Grouping::Core0);
        assert_eq!(lists(&shared.groups(1, CpuId(0))), ["0-1", "1-3"]);
    }

    #[test]
    fn the_balance_mask_holds_those_whose_child_span_the_group_is() {
        let ring: [&[u32]; 4] =
            [&[10, 20, 30, 20], &[20, 10, 20, 30], &[30, 20, 10, 20], &[20, 30, 20, 10]];
        let balanced = Domains::of(&numa(2, &ring), Grouping::OwnBalanced).groups(2, CpuId(0));
        assert_eq!(lists(&balanced), ["0-3,6-7", "2-7"]);
        let masks: Vec<String> = balanced.iter().map(|group| group.balance.to_string()).collect();
        assert_eq!(masks, ["0-1", "4-5"]);
        for group in Domains::of(&numa(2, &ring), Grouping::Own).groups(2, CpuId(0)) {
            assert_eq!(group.cpus, group.balance);
        }
    }

    #[test]
    fn a_cpu_that_sees_all_nodes_early_has_the_shorter_chain() {
        let mesh: [&[u32]; 4] =
            [&[10, 20, 20, 30], &[20, 10, 20, 20], &[20, 20, 10, 20], &[30, 20, 20, 10]];
        let domains = Domains::of(&numa(1, &mesh), Grouping::Own);
        let chain = |cpu| domains.chain(CpuId(cpu)).collect::<Vec<usize>>();
        assert_eq!((chain(0), chain(1)), (vec![0, 1], vec![0]));
    }

    #[test]
    fn offline_and_isolated_cpus_are_in_no_domain() {
        let mut machine = numa(2, &LINE4);
        machine.cpus[1].online = false;
        machine.cpus[7].isolated = true;
        let domains = Domains::of(&machine, Grouping::Own);
        assert_eq!(domains.groups(0, CpuId(1)), []);
        assert_eq!(domains.chain(CpuId(7)).count(), 0);
        let widest = domains.levels().last().and_then(|level| level.span(CpuId(0)));
        assert_eq!(widest.map(CpuSet::to_string), Some("0,2-6".into()));
    }

    #[test]
    fn a_machine_of_unknown_topology_is_one_domain_of_single_cpus() {
        let domains = Domains::of(&Machine::flat(3), Grouping::Own);
        assert_eq!(domains.levels().iter().map(|l| l.kind).collect::<Vec<_>>(), [Kind::Node]);
        assert_eq!(lists(&domains.groups(0, CpuId(1))), ["1", "2", "0"]);
        assert!(!domains.blind(CpuId(0), CpuId(2)));
        assert_eq!(Domains::of(&Machine::flat(1), Grouping::Own).levels().len(), 0);
    }

    #[test]
    fn nodes_without_distances_are_one_level_apart() {
        let mut machine = numa(2, &LINE4);
        machine.distances = None;
        let kinds: Vec<String> = (Domains::of(&machine, Grouping::Own).levels().iter())
            .map(|level| level.kind.to_string())
            .collect();
        assert_eq!(kinds, ["NODE", "NUMA-1"]);
    }

    #[test]
    fn a_cache_over_two_nodes_counts_within_each() {
        let mut machine = numa(2, &[&[10, 11], &[11, 10]]);
        machine.cpus.iter_mut().for_each(|cpu| cpu.llc = Some(0));
        let domains = Domains::of(&machine, Grouping::Own);
        let span = |level: usize| domains.levels()[level].span(CpuId(0)).map(CpuSet::to_string);
        assert_eq!((span(0), span(1)), (Some("0-1".into()), Some("0-3".into())));
    }
}
