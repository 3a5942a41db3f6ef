//! Regular machines, given by the numbers of packages, nodes, caches, cores and threads.

use wastenot_model::machine::Hops;
use wastenot_model::{CpuId, Machine, shortened};

use crate::error::Error;
use wastenot_model::machine::draft::{DistanceRows, Draft, Place};

/// A machine in which all parts of a kind are alike. CPUs are numbered by package, node, cache,
/// core and thread, in this order.
pub(crate) struct Regular {
    pub(crate) packages: usize,
    /// Per package.
    pub(crate) nodes: usize,
    /// Per node.
    pub(crate) llcs: usize,
    /// Per cache.
    pub(crate) cores: usize,
    /// Per core.
    pub(crate) threads: usize,
    /// The second threads of a cache's cores are numbered after all its first threads, as on Xeons
    /// (within a socket; real ones interleave sockets too).
    pub(crate) threads_apart: bool,
    /// All packages are within one node.
    pub(crate) one_node: bool,
    /// The neighbours of each node; empty if the interconnect is unknown.
    pub(crate) links: &'static [&'static [u32]],
    /// The distance by number of hops. Without links, all nodes are neighbours.
    pub(crate) far: &'static [u32],
    /// Distances that no graph explains; they override `far`.
    pub(crate) slit: &'static [&'static [u32]],
}

/// A machine of one CPU.
pub(crate) const ONE: Regular = Regular {
    packages: 1,
    nodes: 1,
    llcs: 1,
    cores: 1,
    threads: 1,
    threads_apart: false,
    one_node: false,
    links: &[],
    far: &[10],
    slit: &[],
};

impl Regular {
    /// The machine, called `name`.
    pub(crate) fn machine(&self, name: &str) -> Result<Machine, Error> {
        let too_large = || Error::TooLarge { what: shortened(name), unit: "CPUs" };
        let parts = [self.packages, self.nodes, self.llcs, self.cores, self.threads];
        let cpus = parts.iter().try_fold(1usize, |product, &n| product.checked_mul(n));
        let cpus = cpus.filter(|&cpus| cpus <= CpuId::LIMIT).ok_or_else(too_large)?;
        let mut draft = Draft::default();
        for cpu in 0..cpus {
            let in_llc = cpu % (self.cores * self.threads);
            let llc = cpu / (self.cores * self.threads);
            let node = llc / self.llcs;
            let core = if self.threads_apart { in_llc % self.cores } else { in_llc / self.threads };
            let place = Place {
                core: Some(llc * self.cores + core),
                llc: Some(llc),
                package: Some(node / self.nodes),
                node: Some(if self.one_node { 0 } else { node }),
                ..Place::default()
            };
            draft.place(cpu, place).map_err(Error::too_large(name))?;
        }
        let mut machine = draft.finish(&DistanceRows::new());
        machine.name = name.into();
        let links = self.links.iter().map(|row| row.to_vec()).collect();
        machine.links = (!self.links.is_empty()).then_some(links);
        machine.distances = Some(self.distances(&machine));
        Ok(machine)
    }

    fn distances(&self, machine: &Machine) -> Vec<Vec<u32>> {
        if !self.slit.is_empty() {
            return self.slit.iter().map(|row| row.to_vec()).collect();
        }
        let hops = Hops::of(machine);
        let nodes = machine.node_count();
        let distance = |a, b| {
            let hops = hops.between(a, b).unwrap_or(u32::from(a != b)) as usize;
            self.far[hops.min(self.far.len() - 1)]
        };
        (0..nodes).map(|a| (0..nodes).map(|b| distance(a, b)).collect()).collect()
    }
}
