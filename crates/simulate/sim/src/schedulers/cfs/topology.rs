//! Each CPU's chain of scheduling domains, in the form that balancing walks (`sd_init` of
//! kernel/sched/core.c up to 4.10, topology.c after).

use std::collections::BTreeMap;

use wastenot_model::machine::domains::{Domains, Kind};
use wastenot_model::{CpuId, CpuSet, Machine};

use super::mask::{self, Words};
use super::rules::{Era, Rules};

/// Forks, execs and wakeups do not reach nodes further apart than this (`RECLAIM_DISTANCE`).
const RECLAIM_DISTANCE: u32 = 30;

/// The chains of all CPUs.
#[derive(Debug, Default)]
pub(super) struct Topology {
    /// Domains of each CPU, narrow to wide.
    pub(super) chains: Vec<Vec<Domain>>,
    pub(super) groups: Vec<Group>,
    /// Groups of all domains, one list after the other.
    lists: Vec<u32>,
    /// By CPU: the CPUs that share its last-level cache, itself included; the number of the cache
    /// is that of its lowest CPU.
    pub(super) llc: Vec<Cache>,
}

/// A last-level cache as one CPU sees it.
#[derive(Clone, Debug)]
pub(super) struct Cache {
    pub(super) cpus: Words,
    pub(super) id: u32,
    pub(super) size: u32,
    /// How many of the chain's domains lie within it.
    pub(super) levels: usize,
    /// The CPUs of its core.
    pub(super) core: Words,
}

/// One domain of one CPU.
#[derive(Clone, Debug)]
pub(super) struct Domain {
    pub(super) span: Words,
    pub(super) weight: u32,
    pub(super) kind: Kind,
    /// Whether its CPUs share a last-level cache.
    pub(super) shares_cache: bool,
    /// Whether forks, execs and wakeups use it.
    pub(super) near: bool,
    pub(super) imbalance_pct: u64,
    pub(super) cache_nice_tries: u32,
    /// Which history of 4.1 a busy CPU reads, and which an idle one.
    pub(super) busy_index: usize,
    pub(super) idle_index: usize,
    /// Whether tasks should preferably be spread over its groups (the child's `SD_PREFER_SIBLING`).
    pub(super) prefer_sibling: bool,
    /// Imbalance between nodes is tolerated up to this many running tasks.
    pub(super) tolerated: u32,
    groups: (u32, u32),
    /// State of balancing; times in jiffies, intervals in ms, cost in ns.
    pub(super) last_balance: u64,
    pub(super) interval: u64,
    pub(super) failed: u32,
    pub(super) max_cost: u64,
    pub(super) next_decay: u64,
    /// Tasks that a search for an idle CPU examines (`nr_idle_scan`, 6.0 and later).
    pub(super) scan: u32,
}

/// One scheduling group; domains with the same CPUs and the same level share it.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) cpus: Words,
    pub(super) balance: Words,
    pub(super) weight: u32,
    pub(super) capacity: u64,
    /// Set when tasks could not be moved below because they are pinned (`sgc->imbalance`).
    pub(super) pinned: bool,
}

impl Domain {
    pub(super) fn numa(&self) -> bool {
        matches!(self.kind, Kind::Numa(_))
    }
}

impl Topology {
    /// The domains of `machine`, with the levels between nodes or without.
    pub(super) fn of(machine: &Machine, rules: &Rules, numa: bool, now: u64) -> Topology {
        let domains = Domains::of(machine, rules.grouping);
        let cpus = machine.len();
        let mut topology = Topology::default();
        let mut seen = Seen::default();
        for cpu in 0..cpus {
            let id = CpuId(cpu as u16);
            let mut chain: Vec<Domain> = Vec::new();
            for level in domains.chain(id) {
                let kind = domains.levels()[level].kind;
                if matches!(kind, Kind::Numa(_)) && !numa {
                    break;
                }
                let Some(span) = domains.levels()[level].span(id) else { continue };
                let groups = topology.list(&domains, level, id, cpus, &mut seen, machine);
                let weight = span.len() as u32;
                chain.push(Domain {
                    span: mask::of(span, cpus),
                    weight,
                    kind,
                    groups,
                    last_balance: now,
                    interval: u64::from(weight),
                    next_decay: now,
                    scan: u32::MAX,
                    ..tuned(machine, rules, id, kind, span, chain.last())
                });
            }
            tolerate(&mut chain);
            topology.llc.push(Cache::of(&chain, cpu, cpus));
            topology.chains.push(chain);
        }
        topology
    }

    /// The groups of one domain; the first is local.
    #[inline]
    pub(super) fn groups(&self, cpu: u32, level: usize) -> &[u32] {
        let (from, to) = self.chains[cpu as usize][level].groups;
        &self.lists[from as usize..to as usize]
    }

    /// Whether two CPUs share their last-level cache.
    #[inline]
    pub(super) fn share_cache(&self, a: u32, b: u32) -> bool {
        self.llc[a as usize].id == self.llc[b as usize].id
    }

    fn list(
        &mut self,
        domains: &Domains,
        level: usize,
        cpu: CpuId,
        cpus: usize,
        seen: &mut Seen,
        machine: &Machine,
    ) -> (u32, u32) {
        let child = level.checked_sub(1).and_then(|below| domains.levels()[below].span(cpu));
        let child = child.cloned().unwrap_or_else(|| CpuSet::from_iter([cpu]));
        if let Some(&known) = seen.lists.get(&(level, child.clone())) {
            return known;
        }
        let mut ids: Vec<u32> = Vec::new();
        for group in domains.groups(level, cpu) {
            let next = self.groups.len() as u32;
            let key = (level, group.cpus.clone(), group.balance.clone());
            let id = *seen.groups.entry(key).or_insert(next);
            if id == next {
                self.groups.push(Group::of(&group.cpus, &group.balance, cpus, machine));
            }
            ids.push(id);
        }
        // A walk over groups begins with the local one.
        let local = |id: &u32| mask::contains(&self.groups[*id as usize].cpus, cpu.index());
        let first = ids.iter().position(local).unwrap_or(0);
        ids.rotate_left(first);
        let from = self.lists.len() as u32;
        self.lists.extend(ids);
        let list = (from, self.lists.len() as u32);
        seen.lists.insert((level, child), list);
        list
    }
}

/// What is already built.
#[derive(Default)]
struct Seen {
    groups: BTreeMap<(usize, CpuSet, CpuSet), u32>,
    lists: BTreeMap<(usize, CpuSet), (u32, u32)>,
}

impl Group {
    fn of(span: &CpuSet, balance: &CpuSet, cpus: usize, machine: &Machine) -> Group {
        let capacities = span.iter().map(|cpu| u64::from(machine.cpus[cpu.index()].capacity));
        Group {
            cpus: mask::of(span, cpus),
            balance: mask::of(balance, cpus),
            weight: span.len() as u32,
            capacity: capacities.sum::<u64>().max(1),
            pinned: false,
        }
    }
    /// The CPU that balances for the group when none of its CPUs is idle.
    pub(super) fn balancer(&self) -> Option<usize> {
        mask::next(&self.cpus, &self.balance, 0)
    }
}

impl Cache {
    fn of(chain: &[Domain], cpu: usize, cpus: usize) -> Cache {
        let mut alone = mask::none(cpus);
        mask::set(&mut alone, cpu, true);
        let levels = chain.iter().take_while(|domain| domain.shares_cache).count();
        let span = levels.checked_sub(1).map_or(&alone, |last| &chain[last].span);
        let core = chain.first().filter(|domain| domain.kind == Kind::Smt);
        Cache {
            id: mask::next(span, span, 0).unwrap_or(cpu) as u32,
            size: span.iter().map(|word| word.count_ones()).sum(),
            cpus: span.clone(),
            levels,
            core: core.map_or(&alone, |domain| &domain.span).clone(),
        }
    }
}

/// The constants of a domain by its level and the kernel's era.
fn tuned(
    machine: &Machine,
    rules: &Rules,
    cpu: CpuId,
    kind: Kind,
    span: &CpuSet,
    child: Option<&Domain>,
) -> Domain {
    let old = rules.era == Era::V4;
    let own = &machine.cpus[cpu.index()];
    let shares_cache = matches!(kind, Kind::Smt | Kind::Llc)
        || kind == Kind::Node && (own.llc.is_none() || within_cache(machine, cpu, span));
    let (pct, tries, busy, idle) = match kind {
        Kind::Smt => (110, 0, 0, 0),
        _ if shares_cache => (117, 1, 2, 0),
        Kind::Numa(_) => (if old { 125 } else { 117 }, 2, 3, 2),
        _ => (if old { 125 } else { 117 }, 1, 2, 1),
    };
    let child_prefers = child.is_some_and(|child| match child.kind {
        Kind::Smt | Kind::Node => true,
        Kind::Llc => !old || !nodes_share_packages(machine),
        Kind::Numa(_) => false,
    });
    Domain {
        span: Words::default(),
        weight: 0,
        kind,
        shares_cache,
        near: !matches!(kind, Kind::Numa(_)) || reach(machine, cpu, span) <= RECLAIM_DISTANCE,
        imbalance_pct: pct,
        cache_nice_tries: tries,
        busy_index: busy,
        idle_index: idle,
        prefer_sibling: child_prefers,
        tolerated: 0,
        groups: (0, 0),
        last_balance: 0,
        interval: 0,
        failed: 0,
        max_cost: 0,
        next_decay: 0,
        scan: u32::MAX,
    }
}

fn within_cache(machine: &Machine, cpu: CpuId, span: &CpuSet) -> bool {
    let llc = machine.cpus[cpu.index()].llc;
    span.iter().all(|other| machine.cpus[other.index()].llc == llc)
}

/// Whether some package holds several nodes: then 4.1 has no level of whole packages, whose flag
/// would have gone to the caches' level (`numa_inside_package_topology`).
fn nodes_share_packages(machine: &Machine) -> bool {
    let of = |cpu: &wastenot_model::Cpu| cpu.package.zip(cpu.node);
    let pairs: std::collections::BTreeSet<(u32, u32)> =
        machine.cpus.iter().filter_map(of).collect();
    let packages: std::collections::BTreeSet<u32> = pairs.iter().map(|pair| pair.0).collect();
    pairs.len() > packages.len()
}

/// The distance from the node of `cpu` to the furthest in `span`.
fn reach(machine: &Machine, cpu: CpuId, span: &CpuSet) -> u32 {
    let node = |cpu: CpuId| machine.cpus[cpu.index()].node.map(|node| node as usize);
    let nodes: std::collections::BTreeSet<usize> = span.iter().filter_map(node).collect();
    let from = node(cpu).unwrap_or(0);
    nodes.iter().filter_map(|&to| machine.node_distance(from, to)).max().unwrap_or(0)
}

/// How many running tasks a node may have before its neighbours pull some (`imb_numa_nr`): an
/// eighth of a node with one cache, else as many as there are caches.
fn tolerate(chain: &mut [Domain]) {
    let Some(first) = chain.iter().position(Domain::numa) else { return };
    let node = if first == 0 { 1 } else { chain[first - 1].weight };
    let shared = chain[..first].iter().rfind(|domain| domain.shares_cache);
    let caches = node / shared.map_or(1, |domain| domain.weight).max(1);
    let tolerated = if caches == 1 { node / 8 } else { caches }.max(1);
    let span = chain[first].weight;
    for domain in &mut chain[first..] {
        domain.tolerated = tolerated * (domain.weight / span).max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedulers::Settings;
    use crate::schedulers::cfs::presets;

    fn rules(set: &[(&str, &str)]) -> Rules {
        let set: Vec<(String, String)> =
            set.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        let settings = Settings::of(&presets::CFS_4_1, &set).expect("good settings");
        Rules::of("cfs-4.1", Era::V4, &settings)
    }

    fn bulldozer() -> Machine {
        wastenot_scenario::machine("bulldozer64").expect("a preset")
    }

    #[test]
    fn the_published_machine_has_four_levels_of_which_hotplug_loses_two() {
        let whole = Topology::of(&bulldozer(), &rules(&[]), true, 0);
        let weights = |topology: &Topology| -> Vec<u32> {
            topology.chains[8].iter().map(|domain| domain.weight).collect()
        };
        assert_eq!(weights(&whole), [2, 8, 48, 64]);
        let lost = Topology::of(&bulldozer(), &rules(&[]), false, 0);
        assert_eq!(weights(&lost), [2, 8]);
    }

    #[test]
    fn seen_from_core_0_every_group_of_node_1_is_local() {
        for (groups, local) in [("core0", 2), ("own", 1)] {
            let topology = Topology::of(&bulldozer(), &rules(&[("groups", groups)]), true, 0);
            let list = topology.groups(8, 3);
            let holds = list
                .iter()
                .filter(|&&group| mask::contains(&topology.groups[group as usize].cpus, 8));
            assert_eq!((list.len(), holds.count()), (2, local), "{groups}");
        }
    }

    #[test]
    fn a_node_with_one_cache_tolerates_an_eighth_of_its_cpus() {
        let xeon = wastenot_scenario::machine("xeon6130x4").expect("a preset");
        let topology = Topology::of(&xeon, &rules(&[]), true, 0);
        assert_eq!(topology.chains[0].last().map(|domain| domain.tolerated), Some(4));
        assert!(topology.share_cache(0, 31) && !topology.share_cache(0, 32));
    }
}
