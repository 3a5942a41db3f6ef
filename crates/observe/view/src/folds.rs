//! The meaning of a lane: one CPU, or all CPUs that share a resource.

use wastenot_model::{Cpu, CpuId, CpuSet, Machine};

/// One way to put CPUs on lanes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fold {
    /// What a lane is, in the plural.
    pub(crate) name: String,
    pub(crate) lanes: Vec<Lane>,
}

/// The CPUs of one lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lane {
    pub(crate) label: String,
    pub(crate) cpus: Vec<CpuId>,
}

type Key = fn(&Cpu) -> Option<u32>;

/// What CPUs can share, from the narrowest on.
const SHARED: [(&str, &str, Key); 4] = [
    ("cores", "core", |cpu| cpu.core),
    ("LLCs", "LLC", |cpu| cpu.llc),
    ("nodes", "node", |cpu| cpu.node),
    ("packages", "package", |cpu| cpu.package),
];

/// All ways that differ on this machine, of all its CPUs or of those that are `chosen`. The first
/// has a lane for each CPU; CPUs that share something are beside each other.
pub(crate) fn folds(machine: &Machine, chosen: Option<&CpuSet>) -> Vec<Fold> {
    let mut order = machine.socket_order();
    order.retain(|cpu| chosen.is_none_or(|chosen| chosen.contains(*cpu)));
    let single = |cpu: &CpuId| Lane { label: format!("CPU {cpu}"), cpus: vec![*cpu] };
    let mut folds =
        vec![Fold { name: "CPUs".to_owned(), lanes: order.iter().map(single).collect() }];
    let mut numbers = order.clone();
    numbers.sort_unstable();
    if numbers != order {
        let lanes = numbers.iter().map(single).collect();
        folds.push(Fold { name: "CPUs by number".to_owned(), lanes });
    }
    for (name, label, key) in SHARED {
        let mut lanes: Vec<(Option<u32>, Lane)> = Vec::new();
        for cpu in &order {
            let shared = machine.cpu(*cpu).and_then(key);
            match lanes.iter_mut().find(|(known, _)| *known == shared) {
                Some((_, lane)) => lane.cpus.push(*cpu),
                None => {
                    let label = match shared {
                        Some(n) => format!("{label} {n}"),
                        None => format!("no {label}"),
                    };
                    lanes.push((shared, Lane { label, cpus: vec![*cpu] }));
                }
            }
        }
        let lanes: Vec<Lane> = lanes.into_iter().map(|(_, lane)| lane).collect();
        let is_new = folds.iter().all(|fold| !is_same(&fold.lanes, &lanes));
        if is_new && lanes.len() > 1 {
            folds.push(Fold { name: name.to_owned(), lanes });
        }
    }
    if order.len() > 1 {
        let lanes = vec![Lane { label: "all CPUs".to_owned(), cpus: order }];
        folds.push(Fold { name: "whole machine".to_owned(), lanes });
    }
    folds
}

/// Whether the lanes have the same CPUs, whatever they are called.
fn is_same(some: &[Lane], others: &[Lane]) -> bool {
    some.len() == others.len() && some.iter().zip(others).all(|(a, b)| a.cpus == b.cpus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_has_every_cpu_once_and_none_is_there_twice() {
        let mut machine = Machine::flat(8);
        for (n, cpu) in machine.cpus.iter_mut().enumerate() {
            // Siblings are n and n + 4, as Linux numbers them; two nodes, each with one LLC.
            let n = n as u32;
            (cpu.core, cpu.llc, cpu.node) = (Some(n % 4), Some(n % 4 / 2), Some(n % 4 / 2));
            cpu.package = Some(0);
        }
        let folds = folds(&machine, None);
        let names: Vec<&str> = folds.iter().map(|fold| &*fold.name).collect();
        assert_eq!(names, ["CPUs", "CPUs by number", "cores", "LLCs", "whole machine"]);
        for fold in &folds {
            let mut all: Vec<CpuId> =
                fold.lanes.iter().flat_map(|lane| lane.cpus.iter().copied()).collect();
            all.sort_unstable();
            assert_eq!(all, (0..8).map(CpuId).collect::<Vec<_>>(), "{}", fold.name);
        }
        assert_eq!(folds[2].lanes[0].cpus, [CpuId(0), CpuId(4)]);
    }

    #[test]
    fn only_cpus_that_are_chosen_have_lanes() {
        let chosen: CpuSet = [CpuId(1), CpuId(3)].into_iter().collect();
        let folds = folds(&Machine::flat(4), Some(&chosen));
        let cpus: Vec<CpuId> = folds[0].lanes.iter().flat_map(|lane| lane.cpus.clone()).collect();
        assert_eq!(cpus, [CpuId(1), CpuId(3)]);
    }

    #[test]
    fn a_machine_of_which_nothing_is_known_has_cpus_alone() {
        let names: Vec<String> =
            folds(&Machine::flat(1), None).into_iter().map(|fold| fold.name).collect();
        assert_eq!(names, ["CPUs"]);
    }
}
