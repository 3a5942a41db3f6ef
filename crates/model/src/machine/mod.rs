//! A machine: its CPUs and the resources that they share.

mod costs;
pub mod domains;
pub mod draft;
mod hops;
mod profile;
mod sys;

pub use costs::Costs;
pub use hops::Hops;
pub use profile::{Prices, Profile, Section, Spin};
pub use sys::from_sys;

use std::collections::BTreeSet;

use crate::{CpuId, CpuSet};

/// One logical CPU. `None` means unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cpu {
    /// Its core: CPUs with the same number are SMT siblings. Unique over the machine.
    pub core: Option<u32>,
    /// Its last-level cache. Unique over the machine.
    pub llc: Option<u32>,
    /// Its NUMA node.
    pub node: Option<u32>,
    /// Its package (socket).
    pub package: Option<u32>,
    /// Compute capacity; 1024 is the largest of the machine, as in the kernel.
    pub capacity: u16,
    /// Whether it was online when the History began.
    pub online: bool,
    /// Whether it is excluded from load balancing (`isolcpus`, isolated cpusets).
    pub isolated: bool,
}

/// The CPUs of a machine, by id, and the distances between its nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Its name: a preset's name or a host name; empty if unknown.
    pub name: String,
    /// CPU n is `cpus[n]`.
    pub cpus: Vec<Cpu>,
    /// `distances[a][b]` between nodes as given by firmware (SLIT, 10 is local), if known.
    pub distances: Option<Vec<Vec<u32>>>,
    /// `links[a]` holds the nodes one hop away from `a`, if the interconnect is known. Otherwise
    /// hops are ranks of distance.
    pub links: Option<Vec<Vec<u32>>>,
}

/// How close two CPUs are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Distance {
    /// The same CPU.
    Same,
    /// The same core.
    Sibling,
    /// The same last-level cache.
    Llc,
    /// The same NUMA node.
    Node,
    /// Another node.
    Other,
    /// The topology is not known.
    Unknown,
}

impl Distance {
    /// From near to far, then unknown.
    pub const ALL: [Distance; 6] = [
        Distance::Same,
        Distance::Sibling,
        Distance::Llc,
        Distance::Node,
        Distance::Other,
        Distance::Unknown,
    ];
    /// Its name in tables and JSON.
    pub fn name(self) -> &'static str {
        ["same", "sibling", "llc", "node", "other", "unknown"][self as usize]
    }
}

impl Machine {
    /// `cpus` CPUs with unknown topology.
    pub fn flat(cpus: usize) -> Machine {
        let cpus = vec![Machine::unknown_cpu(); cpus.min(CpuId::LIMIT)];
        Machine { name: String::new(), cpus, distances: None, links: None }
    }
    /// A CPU with unknown topology.
    pub fn unknown_cpu() -> Cpu {
        Cpu {
            core: None,
            llc: None,
            node: None,
            package: None,
            capacity: 1024,
            online: true,
            isolated: false,
        }
    }
    /// Number of CPUs.
    pub fn len(&self) -> usize {
        self.cpus.len()
    }
    /// Whether it has no CPU.
    pub fn is_empty(&self) -> bool {
        self.cpus.is_empty()
    }
    /// One CPU.
    pub fn cpu(&self, cpu: CpuId) -> Option<&Cpu> {
        self.cpus.get(cpu.index())
    }
    /// Whether any shared resource of CPUs is known.
    pub fn topology_known(&self) -> bool {
        self.cpus.iter().any(|cpu| {
            cpu.core.is_some() || cpu.llc.is_some() || cpu.node.is_some() || cpu.package.is_some()
        })
    }
    /// How close two CPUs are.
    #[inline]
    pub fn distance(&self, a: CpuId, b: CpuId) -> Distance {
        if a == b {
            return Distance::Same;
        }
        let (Some(a), Some(b)) = (self.cpu(a), self.cpu(b)) else { return Distance::Unknown };
        let same = |a: Option<u32>, b: Option<u32>| a.is_some() && a == b;
        if same(a.core, b.core) {
            Distance::Sibling
        } else if same(a.llc, b.llc) {
            Distance::Llc
        } else if same(a.node, b.node) {
            Distance::Node
        } else if a.node.is_some() && b.node.is_some() || a.llc.is_some() && b.llc.is_some() {
            Distance::Other
        } else {
            Distance::Unknown
        }
    }
    /// The CPUs whose `key` equals that of `cpu`, `cpu` included.
    pub fn sharing(&self, cpu: CpuId, key: impl Fn(&Cpu) -> Option<u32>) -> CpuSet {
        let Some(own) = self.cpu(cpu).and_then(&key) else { return CpuSet::from_iter([cpu]) };
        let others = self.cpus.iter().enumerate().filter(|(_, other)| key(other) == Some(own));
        others.map(|(cpu, _)| CpuId(cpu as u16)).collect()
    }
    /// The number of distinct values of `key`; 0 if they are unknown.
    pub fn count(&self, key: impl Fn(&Cpu) -> Option<u32>) -> usize {
        self.cpus.iter().filter_map(key).collect::<BTreeSet<_>>().len()
    }
    /// The highest node number plus one; 0 if nodes are unknown.
    pub fn node_count(&self) -> usize {
        self.cpus.iter().filter_map(|cpu| cpu.node).max().map_or(0, |node| node as usize + 1)
    }
    /// The nodes that have CPUs, in ascending order.
    pub fn nodes(&self) -> impl Iterator<Item = usize> + use<> {
        let nodes: BTreeSet<u32> = self.cpus.iter().filter_map(|cpu| cpu.node).collect();
        nodes.into_iter().map(|node| node as usize)
    }
    /// The distance between two nodes as given by firmware, if known. Firmware stores it in a byte,
    /// so greater numbers count as unknown.
    pub fn node_distance(&self, a: usize, b: usize) -> Option<u32> {
        let distance = self.distances.as_ref()?.get(a)?.get(b).copied()?;
        (distance <= 255).then_some(distance)
    }
    /// CPUs that are online.
    pub fn online(&self) -> CpuSet {
        let online = self.cpus.iter().enumerate().filter(|(_, cpu)| cpu.online);
        online.map(|(cpu, _)| CpuId(cpu as u16)).collect()
    }
    /// CPUs by package, node, LLC, core, number: the order of `--socket-order`.
    pub fn socket_order(&self) -> Vec<CpuId> {
        let mut order: Vec<CpuId> = (0..self.cpus.len()).map(|cpu| CpuId(cpu as u16)).collect();
        order.sort_by_key(|&id| {
            let cpu = &self.cpus[id.index()];
            (cpu.package, cpu.node, cpu.llc, cpu.core, id)
        });
        order
    }
}
