//! A machine as QEMU builds it.

use std::fmt::Write as _;

use wastenot_model::{Cpu, CpuId, CpuSet, Machine};

/// Memory of the guest, beside that of its CPUs, in MiB. The verifier takes most of it: 768 are too
/// few for large policies that log their steps.
const MEMORY: usize = 1536;
/// Memory for each CPU, in MiB.
const OF_A_CPU: usize = 12;

/// Why QEMU cannot build a machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unbuildable {
    /// More CPUs than it can have.
    #[error("the machine has {cpus} CPUs; guests of Wastenot have at most 255 CPUs")]
    Crowd {
        /// How many.
        cpus: usize,
    },
    /// CPUs that belong together have not the same number everywhere.
    #[error("the {what} of the machine do not all have the same number of CPUs")]
    Uneven {
        /// What: packages, caches, cores.
        what: &'static str,
    },
    /// CPUs that belong together are not numbered one after the other.
    #[error("the CPUs of the {what} do not have consecutive numbers")]
    Scattered {
        /// What: packages, caches, cores.
        what: &'static str,
    },
    /// CPUs of different speed.
    #[error("the CPUs of the machine differ in capacity")]
    Unequal,
}

/// The arguments that make QEMU build a machine.
///
/// # Errors
/// It cannot be built: QEMU numbers CPUs one after the other, and all packages, caches and cores
/// are alike. `by_kvm`: the CPUs are those of this machine.
pub(crate) fn arguments(machine: &Machine, by_kvm: bool) -> Result<Vec<String>, Unbuildable> {
    let cpus = machine.len();
    if cpus > 255 {
        return Err(Unbuildable::Crowd { cpus });
    }
    if machine.cpus.windows(2).any(|pair| pair[0].capacity != pair[1].capacity) {
        return Err(Unbuildable::Unequal);
    }
    let caches = groups(machine, "caches", |cpu| cpu.llc)?;
    let sockets = match groups(machine, "packages", |cpu| cpu.package)? {
        Some(packages) => packages,
        // A cache is in one package.
        None => {
            let nodes = groups(machine, "nodes", |cpu| cpu.node)?.unwrap_or(1);
            caches.map_or(nodes, |caches| caches.min(nodes))
        }
    };
    let caches = caches.unwrap_or(sockets);
    if caches < sockets {
        return Err(Unbuildable::Uneven { what: "caches" });
    }
    let cores = groups(machine, "cores", |cpu| cpu.core)?.unwrap_or(cpus).max(caches);
    let (dies, threads) = (caches / sockets, cpus / cores);
    let smp =
        format!("{cpus},sockets={sockets},dies={dies},cores={},threads={threads}", cores / caches);
    let memory = MEMORY + OF_A_CPU * cpus;
    let nodes: Vec<CpuSet> = nodes(machine);
    let each = (memory / nodes.len()).next_multiple_of(2);
    // Of the models of CPUs that QEMU has, those of Intel report dies, from leaf 31 of CPUID on.
    let cpu = if dies > 1 { "qemu64,vendor=GenuineIntel,level=31" } else { "qemu64" };
    let mut all = vec!["-smp".into(), smp, "-m".into(), format!("{}M", each * nodes.len())];
    if !by_kvm {
        all.extend(["-cpu".into(), cpu.into()]);
    }
    for (n, cpus) in nodes.iter().enumerate() {
        let mut node = format!("node,nodeid={n},memdev=m{n}");
        for run in cpus.to_string().split(',').filter(|_| !cpus.is_empty()) {
            let _ = write!(node, ",cpus={run}");
        }
        let backend = format!("memory-backend-ram,id=m{n},size={each}M");
        all.extend(["-object".into(), backend, "-numa".into(), node]);
    }
    for (from, row) in machine.distances.iter().flatten().enumerate().take(nodes.len()) {
        for (to, distance) in row.iter().enumerate().take(nodes.len()) {
            let value = format!("dist,src={from},dst={to},val={distance}");
            all.extend(["-numa".into(), value]);
        }
    }
    Ok(all)
}

/// How many groups of CPUs there are, if they are known: each with as many, one after the other.
fn groups(
    machine: &Machine,
    what: &'static str,
    of: impl Fn(&Cpu) -> Option<u32>,
) -> Result<Option<usize>, Unbuildable> {
    let Some(all) = machine.cpus.iter().map(of).collect::<Option<Vec<u32>>>() else {
        return Ok(None);
    };
    let runs: Vec<usize> = all.chunk_by(|a, b| a == b).map(<[u32]>::len).collect();
    let mut distinct = all;
    distinct.sort_unstable();
    distinct.dedup();
    if runs.len() != distinct.len() {
        return Err(Unbuildable::Scattered { what });
    }
    if runs.windows(2).any(|pair| pair[0] != pair[1]) {
        return Err(Unbuildable::Uneven { what });
    }
    Ok(Some(runs.len()))
}

/// The CPUs of each node; one node where they are not known.
fn nodes(machine: &Machine) -> Vec<CpuSet> {
    let last = machine.cpus.iter().filter_map(|cpu| cpu.node).max().unwrap_or(0);
    let of = |node: u32| {
        let cpus = machine.cpus.iter().enumerate();
        let mine = cpus.filter(|(_, cpu)| cpu.node.unwrap_or(0) == node);
        mine.map(|(n, _)| CpuId(n as u16)).collect()
    };
    (0..=last).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(text: &str) -> Result<String, Unbuildable> {
        let machine = wastenot_scenario::machine(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        arguments(&machine, false).map(|words| words.join(" "))
    }

    #[test]
    fn machines_are_built_as_they_are() {
        let t4x4 = built("numa:4 core:4 pu:1").expect("a machine");
        assert!(t4x4.starts_with("-smp 16,sockets=4,dies=1,cores=4,threads=1 "), "{t4x4}");
        assert!(t4x4.contains("-numa node,nodeid=3,memdev=m3,cpus=12-15"), "{t4x4}");
        let dies = built("chiplet(2,2,4)").expect("a machine");
        assert!(dies.starts_with("-smp 16,sockets=2,dies=2,cores=4,threads=1 "), "{dies}");
        assert!(dies.contains("level=31"), "{dies}");
        let siblings = built("pack:2 core:4 pu:2").expect("a machine");
        assert!(siblings.starts_with("-smp 16,sockets=2,dies=1,cores=4,threads=2 "), "{siblings}");
        // A cache that two nodes share is in one package.
        let shared = built("l3:2 numa:2 core:2 pu:1").expect("a machine");
        assert!(shared.starts_with("-smp 8,sockets=2,dies=1,cores=4,threads=1 "), "{shared}");
        let distances = built("bulldozer64").expect("a machine");
        assert!(distances.contains("-numa dist,src=7,dst=0,val="), "{distances}");
    }

    #[test]
    fn what_cannot_be_built_is_refused() {
        assert_eq!(built("core:300 pu:1"), Err(Unbuildable::Crowd { cpus: 300 }));
        let scattered = built("xeon6130x4");
        assert!(matches!(scattered, Err(Unbuildable::Scattered { .. })), "{scattered:?}");
    }
}
