//! The groups of a machine, as policies see them: five levels, each of which partitions the CPUs.

use wastenot_model::machine::domains::{Domains, Grouping};
use wastenot_model::{CpuId, CpuSet, Machine};

use crate::ir::Level;

/// Which CPUs share what. The groups of each level are numbered from 0 in the order of their lowest
/// CPU, so that group n of [`Level::Cpu`] is the nth CPU of the policy.
#[derive(Clone, Debug)]
pub struct Tree {
    cpus: Vec<CpuId>,
    levels: [Groups; Level::ALL.len()],
    /// `blind[to]` holds the CPUs from which `to` can never take, if groups are built from CPU 0.
    blind: Vec<CpuSet>,
}

#[derive(Clone, Debug, Default)]
struct Groups {
    /// The group by CPU number; `NONE` for CPUs of other policies.
    of: Vec<u16>,
    members: Vec<Vec<CpuId>>,
}

const NONE: u16 = u16::MAX;

impl Tree {
    /// The groups of those CPUs of `machine` that the policy has. Unknown properties do not split a
    /// group: CPUs without a known cache share one within their node, and CPUs without a known core
    /// are cores of their own.
    ///
    /// For any machine description, each level partitions all CPUs, and its groups lie within those
    /// of the next level: a cache that spans several nodes counts as one cache in each of them, and
    /// so does a core that spans several caches. Proofs rely on this.
    pub fn of(machine: &Machine, cpus: &CpuSet) -> Tree {
        let key = |level: Level, id: CpuId| -> [u64; 3] {
            let cpu = &machine.cpus[id.index()];
            let known = |value: Option<u32>| value.map_or(0, |value| u64::from(value) + 1);
            // No real core has such a number.
            let core = cpu.core.map_or(u64::MAX - u64::from(id.0), u64::from);
            match level {
                Level::Cpu => [u64::from(id.0), 0, 0],
                Level::Smt => [known(cpu.node), known(cpu.llc), core],
                Level::Llc => [known(cpu.node), known(cpu.llc), 0],
                Level::Node => [known(cpu.node), 0, 0],
                Level::Machine => [0; 3],
            }
        };
        let cpus: Vec<CpuId> = cpus.iter().filter(|cpu| cpu.index() < machine.len()).collect();
        let levels = Level::ALL.map(|level| {
            let mut keys: Vec<[u64; 3]> = Vec::new();
            let mut groups = Groups { of: vec![NONE; machine.len()], members: Vec::new() };
            for &cpu in &cpus {
                let key = key(level, cpu);
                let group = keys.iter().position(|&known| known == key).unwrap_or_else(|| {
                    keys.push(key);
                    groups.members.push(Vec::new());
                    keys.len() - 1
                });
                groups.of[cpu.index()] = group as u16;
                groups.members[group].push(cpu);
            }
            groups
        });
        Tree { cpus, levels, blind: Vec::new() }
    }

    /// The same, but each CPU takes only from CPUs that it can see in groups built from CPU 0
    /// ([`Grouping::Core0`]).
    pub fn from_cpu0(machine: &Machine, cpus: &CpuSet) -> Tree {
        let mut tree = Tree::of(machine, cpus);
        let domains = Domains::of(machine, Grouping::Core0);
        let blind = |to: CpuId| cpus.iter().filter(|&from| domains.blind(from, to)).collect();
        tree.blind = (0..machine.len()).map(|to| blind(CpuId(to as u16))).collect();
        tree
    }

    /// The CPUs, in ascending order.
    pub fn cpus(&self) -> &[CpuId] {
        &self.cpus
    }
    /// How many groups a level has.
    pub fn count(&self, level: Level) -> usize {
        self.levels[level as usize].members.len()
    }
    /// The group of a level that contains `cpu`, one of these CPUs.
    pub fn group(&self, level: Level, cpu: CpuId) -> usize {
        usize::from(self.levels[level as usize].of[cpu.index()])
    }
    /// Whether `cpu` is one of these CPUs.
    pub fn has(&self, cpu: CpuId) -> bool {
        self.levels[0].of.get(cpu.index()).is_some_and(|&group| group != NONE)
    }
    /// The CPUs of a group, in ascending order; at least one.
    pub fn members(&self, level: Level, group: usize) -> &[CpuId] {
        &self.levels[level as usize].members[group]
    }
    /// Whether `to` may look at the queues of `from`.
    fn sees(&self, to: CpuId, from: CpuId) -> bool {
        !self.blind.get(to.index()).is_some_and(|blind| blind.contains(from))
    }
    /// The groups of level `per` from which a CPU may take on the `n`th of the searched levels:
    /// those in its group of that level, except its own and those of the level before.
    pub fn victims(
        &self,
        cpu: CpuId,
        per: Level,
        levels: &[Level],
        n: usize,
    ) -> impl Iterator<Item = usize> + '_ {
        let (within, beyond) = (levels[n], n.checked_sub(1).map(|before| levels[before]));
        let shares =
            move |level: Level, other: CpuId| self.group(level, cpu) == self.group(level, other);
        (0..self.count(per)).filter(move |&group| {
            let first = self.members(per, group)[0];
            group != self.group(per, cpu)
                && shares(within, first)
                && !beyond.is_some_and(|level| shares(level, first))
                && self.sees(cpu, first)
        })
    }
    /// The distance of two CPUs: the narrowest level that they share.
    pub(crate) fn distance(&self, a: CpuId, b: CpuId) -> Level {
        self.distance_by(&Level::ALL, a, b)
    }
    /// The same, for some levels only, narrow to wide; the machine if they share none of them.
    fn distance_by(&self, levels: &[Level], a: CpuId, b: CpuId) -> Level {
        let shared = levels.iter().find(|&&level| self.group(level, a) == self.group(level, b));
        if a == b { Level::Cpu } else { shared.copied().unwrap_or(Level::Machine) }
    }
    /// The CPU nearest to `cpu` that passes; ties go to the lowest CPU.
    pub(crate) fn nearest(&self, cpu: CpuId, mut pass: impl FnMut(CpuId) -> bool) -> Option<CpuId> {
        let passing = self.cpus.iter().copied().filter(|&other| pass(other));
        passing.min_by_key(|&other| (self.distance(cpu, other), other))
    }
}

#[cfg(test)]
mod tests {
    use wastenot_model::workload::Random;

    use super::*;

    fn machine() -> Machine {
        let mut machine = Machine::flat(8);
        for (n, cpu) in machine.cpus.iter_mut().enumerate() {
            let n = n as u32;
            (cpu.core, cpu.llc, cpu.node) = (Some(n / 2), Some(n / 4), Some(n / 4));
        }
        machine
    }

    #[test]
    fn groups_are_numbered_by_their_lowest_cpu() {
        let tree = Tree::of(&machine(), &CpuSet::first(8));
        let counts = Level::ALL.map(|level| tree.count(level));
        assert_eq!(counts, [8, 4, 2, 2, 1]);
        assert_eq!(tree.members(Level::Smt, 3), &[CpuId(6), CpuId(7)]);
        assert_eq!(tree.group(Level::Llc, CpuId(5)), 1);
        assert_eq!(tree.distance(CpuId(0), CpuId(1)), Level::Smt);
        assert_eq!(tree.distance(CpuId(0), CpuId(5)), Level::Machine);
        assert_eq!(tree.nearest(CpuId(5), |cpu| cpu.0 < 7 && cpu.0 != 5), Some(CpuId(4)));
    }

    #[test]
    fn levels_part_all_cpus_and_nest_on_every_machine() {
        let mut random = Random::stream(7, 0, 0);
        for _ in 0..2_000 {
            let mut machine = Machine::flat(1 + random.below(12) as usize);
            for cpu in &mut machine.cpus {
                let mut some = || random.below(4).checked_sub(1).map(|n| n as u32);
                (cpu.core, cpu.llc, cpu.node) = (some(), some(), some());
            }
            let all = CpuSet::first(machine.len());
            let cpus: CpuSet = all.iter().filter(|_| random.below(4) > 0).collect();
            let tree = Tree::of(&machine, &cpus);
            for level in Level::ALL {
                let groups = (0..tree.count(level)).map(|group| tree.members(level, group));
                let mut members: Vec<CpuId> = groups.flatten().copied().collect();
                members.sort();
                assert_eq!(members, tree.cpus(), "{level:?} of {machine:?}");
            }
            for (narrow, wide) in Level::ALL.into_iter().zip(Level::ALL.into_iter().skip(1)) {
                for group in 0..tree.count(narrow) {
                    let members = tree.members(narrow, group).iter();
                    let mut around = members.map(|&cpu| tree.group(wide, cpu));
                    let first = around.next();
                    assert!(around.all(|it| Some(it) == first), "{narrow:?} of {machine:?}");
                }
            }
        }
    }

    #[test]
    fn what_is_unknown_parts_nothing() {
        let tree = Tree::of(&Machine::flat(3), &CpuSet::first(3));
        assert_eq!(Level::ALL.map(|level| tree.count(level)), [3, 3, 1, 1, 1]);
    }

    #[test]
    fn a_policy_with_some_cpus_knows_only_those() {
        let tree = Tree::of(&machine(), &[3, 4, 5].map(CpuId).into_iter().collect());
        assert_eq!(Level::ALL.map(|level| tree.count(level)), [3, 2, 2, 2, 1]);
        assert!(!tree.has(CpuId(0)) && tree.has(CpuId(4)));
    }
}
