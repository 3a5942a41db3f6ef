//! A machine under construction. Its CPUs come in any order, and its shared resources have keys of
//! any type.

use std::collections::BTreeMap;

use super::Hops;
use crate::{Cpu, CpuId, Machine};

/// The resources of a CPU, each under the key that the source uses.
#[derive(Clone, Debug)]
pub struct Place<K> {
    /// Its core.
    pub core: Option<K>,
    /// Its last-level cache.
    pub llc: Option<K>,
    /// Its package.
    pub package: Option<K>,
    /// Its node. Nodes keep their number.
    pub node: Option<usize>,
    /// As in [`Cpu::capacity`].
    pub capacity: u16,
    /// As in [`Cpu::online`].
    pub online: bool,
    /// As in [`Cpu::isolated`].
    pub isolated: bool,
}

/// A machine has more CPUs or nodes than a History may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the machine has too many {0}")]
pub struct TooLarge(
    /// `CPUs` or `nodes`.
    pub &'static str,
);

/// Why /sys does not describe a machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Undescribed {
    /// It has too many CPUs or nodes.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    /// The source lists no CPU.
    #[error("no CPU is listed")]
    NoCpus,
    /// A list of CPUs is not valid.
    #[error("{path}: `{text}` is not a valid list of CPUs")]
    List {
        /// The file in /sys.
        path: String,
        /// The beginning of its content.
        text: String,
    },
}

impl<K> Default for Place<K> {
    fn default() -> Place<K> {
        let capacity = Machine::unknown_cpu().capacity;
        let (core, llc, package, node) = (None, None, None, None);
        Place { core, llc, package, node, capacity, online: true, isolated: false }
    }
}

/// CPUs by number. A number below the highest that was not placed is an offline CPU.
#[derive(Debug)]
pub struct Draft<K> {
    places: BTreeMap<usize, Place<K>>,
}

impl<K> Default for Draft<K> {
    fn default() -> Draft<K> {
        Draft { places: BTreeMap::new() }
    }
}

impl<K: Ord> Draft<K> {
    /// Places `cpu`; `false` if it was placed before.
    ///
    /// # Errors
    /// The number of the CPU or of its node is too large.
    pub fn place(&mut self, cpu: usize, place: Place<K>) -> Result<bool, TooLarge> {
        if cpu >= CpuId::LIMIT {
            return Err(TooLarge("CPUs"));
        }
        if place.node.is_some_and(|node| node >= Hops::NODE_LIMIT) {
            return Err(TooLarge("nodes"));
        }
        Ok(self.places.insert(cpu, place).is_none())
    }

    /// Whether no CPU was placed.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The machine; cores, caches and packages are numbered in the order of their lowest CPU.
    pub fn finish(self, rows: &DistanceRows) -> Machine {
        let (mut cores, mut llcs, mut packages) = (Numbers::new(), Numbers::new(), Numbers::new());
        let len = self.places.keys().next_back().map_or(0, |last| last + 1);
        let mut machine = Machine::flat(len);
        machine.cpus.iter_mut().for_each(|cpu| cpu.online = false);
        for (cpu, place) in self.places {
            machine.cpus[cpu] = Cpu {
                core: place.core.map(|key| cores.of(key)),
                llc: place.llc.map(|key| llcs.of(key)),
                package: place.package.map(|key| packages.of(key)),
                node: place.node.map(|node| node as u32),
                capacity: place.capacity,
                online: place.online,
                isolated: place.isolated,
            };
        }
        machine.distances = matrix(rows, &machine);
        machine
    }
}

/// Distances as sources list them: from a node to some others.
pub type DistanceRows = BTreeMap<usize, BTreeMap<usize, u32>>;

/// The rows as a square matrix over node numbers, if they contain all distances between nodes that
/// have CPUs. Where there is no node, or a node without CPUs at an unknown distance, the entry is
/// the SLIT value for "unreachable".
fn matrix(rows: &DistanceRows, machine: &Machine) -> Option<Vec<Vec<u32>>> {
    const UNREACHABLE: u32 = 255;
    let entry = |a: usize, b: usize| rows.get(&a).and_then(|row| row.get(&b)).copied();
    let known = machine.nodes().all(|a| machine.nodes().all(|b| entry(a, b).is_some()));
    let last = rows.iter().flat_map(|(node, row)| row.keys().chain([node])).max()?;
    if !known || machine.node_count() == 0 || *last >= Hops::NODE_LIMIT {
        return None;
    }
    let nodes = last + 1;
    let row = |a| (0..nodes).map(|b| entry(a, b).unwrap_or(UNREACHABLE)).collect();
    Some((0..nodes).map(row).collect())
}

/// Numbers keys in the order of their first use.
struct Numbers<K>(BTreeMap<K, u32>);

impl<K: Ord> Numbers<K> {
    fn new() -> Numbers<K> {
        Numbers(BTreeMap::new())
    }
    fn of(&mut self, key: K) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry(key).or_insert(next)
    }
}
