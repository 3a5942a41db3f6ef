//! A machine: its CPUs and what they share.

mod costs;
pub mod domains;
mod hops;
mod profile;

pub use costs::Costs;
pub use hops::Hops;
pub use profile::{Prices, Profile, Section, Spin};

use std::collections::BTreeSet;

use crate::{CpuId, CpuSet};

/// One logical CPU. What is not known is `None`.
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
    /// Whether it is kept out of load balancing (`isolcpus`, isolated cpusets).
    pub isolated: bool,
}

/// The CPUs of a machine, by id, and the distances between its nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// What it is called: a preset's name, a host name; empty when not told.
    pub name: String,
    /// CPU n is `cpus[n]`.
    pub cpus: Vec<Cpu>,
    /// `distances[a][b]` between nodes as firmware gives it (SLIT, 10 is local), where known.
    pub distances: Option<Vec<Vec<u32>>>,
    /// `links[a]` holds the nodes one hop away from `a`, where the interconnect is known. Where it
    /// is not, hops are ranks of distance.
    pub links: Option<Vec<Vec<u32>>>,
}

/// How near two CPUs are.
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
    /// Its word in tables and JSON.
    pub fn name(self) -> &'static str {
        ["same", "sibling", "llc", "node", "other", "unknown"][self as usize]
    }
}

impl Machine {
    /// `cpus` CPUs of which nothing is known but that they exist.
    pub fn flat(cpus: usize) -> Machine {
        let cpus = vec![Machine::unknown_cpu(); cpus.min(CpuId::LIMIT)];
        Machine { name: String::new(), cpus, distances: None, links: None }
    }
    /// A CPU of which nothing is known.
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
    /// Whether anything is known of what CPUs share.
    pub fn topology_known(&self) -> bool {
        self.cpus.iter().any(|cpu| {
            cpu.core.is_some() || cpu.llc.is_some() || cpu.node.is_some() || cpu.package.is_some()
        })
    }
    /// How near two CPUs are.
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
    /// The CPUs whose `key` equals that of `cpu`, itself among them.
    pub fn sharing(&self, cpu: CpuId, key: impl Fn(&Cpu) -> Option<u32>) -> CpuSet {
        let Some(own) = self.cpu(cpu).and_then(&key) else { return CpuSet::from_iter([cpu]) };
        let others = self.cpus.iter().enumerate().filter(|(_, other)| key(other) == Some(own));
        others.map(|(cpu, _)| CpuId(cpu as u16)).collect()
    }
    /// Number of distinct values of `key`; 0 when it is not known.
    pub fn count(&self, key: impl Fn(&Cpu) -> Option<u32>) -> usize {
        self.cpus.iter().filter_map(key).collect::<BTreeSet<_>>().len()
    }
    /// Highest node number plus one; 0 when nodes are not known.
    pub fn node_count(&self) -> usize {
        self.cpus.iter().filter_map(|cpu| cpu.node).max().map_or(0, |node| node as usize + 1)
    }
    /// The nodes that have CPUs, in ascending order.
    pub fn nodes(&self) -> impl Iterator<Item = usize> + use<> {
        let nodes: BTreeSet<u32> = self.cpus.iter().filter_map(|cpu| cpu.node).collect();
        nodes.into_iter().map(|node| node as usize)
    }
    /// Distance between two nodes as firmware gives it, where known. It is a byte there, so that
    /// greater numbers are none.
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
