//! A machine under construction: CPUs are added in any order, shared resources have keys of any
//! type.

use std::collections::BTreeMap;

use wastenot_model::{Cpu, CpuId, Machine};

use crate::NODE_LIMIT;
use crate::error::{Error, shown};

/// The resources of a CPU, each under the key that the source uses.
#[derive(Clone, Debug)]
pub(crate) struct Place<K> {
    pub(crate) core: Option<K>,
    pub(crate) llc: Option<K>,
    pub(crate) package: Option<K>,
    /// Nodes keep their number.
    pub(crate) node: Option<usize>,
    pub(crate) capacity: u16,
    pub(crate) online: bool,
    pub(crate) isolated: bool,
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
pub(crate) struct Draft<K> {
    what: String,
    places: BTreeMap<usize, Place<K>>,
}

impl<K: Ord> Draft<K> {
    /// `what` is the description's name in messages.
    pub(crate) fn new(what: &str) -> Draft<K> {
        Draft { what: shown(what), places: BTreeMap::new() }
    }

    /// Places `cpu`; `false` if it was placed before.
    pub(crate) fn place(&mut self, cpu: usize, place: Place<K>) -> Result<bool, Error> {
        let too_large = |unit| Err(Error::TooLarge { what: self.what.clone(), unit });
        if cpu >= CpuId::LIMIT {
            return too_large("CPUs");
        }
        if place.node.is_some_and(|node| node >= NODE_LIMIT) {
            return too_large("nodes");
        }
        Ok(self.places.insert(cpu, place).is_none())
    }

    /// Whether no CPU was placed.
    pub(crate) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The machine; cores, caches and packages are numbered in the order of their lowest CPU.
    pub(crate) fn finish(self, rows: &DistanceRows) -> Machine {
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
pub(crate) type DistanceRows = BTreeMap<usize, BTreeMap<usize, u32>>;

/// The rows as a square matrix over node numbers, if they contain all distances between nodes that
/// have CPUs. Where there is no node, or a node without CPUs at an unknown distance, the entry is
/// the SLIT value for "unreachable".
fn matrix(rows: &DistanceRows, machine: &Machine) -> Option<Vec<Vec<u32>>> {
    const UNREACHABLE: u32 = 255;
    let entry = |a: usize, b: usize| rows.get(&a).and_then(|row| row.get(&b)).copied();
    let known = machine.nodes().all(|a| machine.nodes().all(|b| entry(a, b).is_some()));
    let last = rows.iter().flat_map(|(node, row)| row.keys().chain([node])).max()?;
    if !known || machine.node_count() == 0 || *last >= NODE_LIMIT {
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
