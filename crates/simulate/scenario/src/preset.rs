//! Machines by name: those of papers and of our recordings, and a few families.

use wastenot_model::{Machine, shortened};

use crate::error::Error;
use crate::regular::{ONE, Regular};
use wastenot_model::nearest;

/// A named machine, or a named family of machines.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// What to type.
    pub name: &'static str,
    /// The numbers that follow it in brackets; empty for a single machine.
    pub arguments: &'static [&'static str],
    /// What it is, in one line.
    pub about: &'static str,
    /// The source of its numbers.
    pub source: &'static str,
    make: fn(&[usize]) -> Regular,
}

impl Preset {
    /// What to type, with the names of its arguments: `flat(nodes,cpus)`.
    pub(crate) fn usage(&self) -> String {
        match self.arguments {
            [] => self.name.into(),
            arguments => format!("{}({})", self.name, arguments.join(",")),
        }
    }
}

const WASTED_CORES: &str =
    "Lozi et al., The Linux Scheduler: a Decade of Wasted Cores, EuroSys 2016";
const WAKE_AFFINE: &str = "Lawall, slides on wake_affine_idle and scheduler graphing";
const GANG: &str = "case studies of mis-scheduling on small multiprocessors";
const KERNEL: &str = "comments and documentation of Linux on overlapping NUMA domains";
const RECORDED: &str = "traces of kernels under QEMU from this project (traces/README.md)";
const FAMILY: &str = "ours";

/// Every preset, in the order of the help text.
pub fn presets() -> &'static [Preset] {
    PRESETS
}

const PRESETS: &[Preset] = &[
    Preset {
        name: "bulldozer64",
        arguments: &[],
        about: "64 CPUs: 8 nodes of 4 core pairs, with the 20 published links of the AMD Opteron \
                6272",
        source: WASTED_CORES,
        make: |_| Regular { links: BULLDOZER_LINKS, far: &[10, 16, 22], ..BULLDOZER },
    },
    Preset {
        name: "bulldozer64-slit",
        arguments: &[],
        about: "like bulldozer64, but with the distances from the firmware table, which has 18 \
                pairs of neighbouring nodes",
        source: "firmware table of an Opteron 6272 in the topology tests of XenServer",
        make: |_| Regular { slit: BULLDOZER_SLIT, ..BULLDOZER },
    },
    Preset {
        name: "magny48",
        arguments: &[],
        about: "48 CPUs: 8 nodes of 6 cores, AMD Opteron (Magny-Cours)",
        source: "firmware table of a 48-core Opteron in the topology tests of XenServer",
        make: |_| Regular { packages: 4, nodes: 2, cores: 6, slit: MAGNY_SLIT, ..ONE },
    },
    Preset {
        name: "xeon6130x4",
        arguments: &[],
        about: "128 CPUs: 4 sockets of 16 cores x 2 threads, one node and one cache per socket; \
                Xeon Gold 6130",
        source: WAKE_AFFINE,
        make: |_| Regular { packages: 4, cores: 16, threads: 2, far: &[10, 21], ..THREADS_APART },
    },
    Preset {
        name: "e7-8870x4",
        arguments: &[],
        about: "160 CPUs: 4 sockets of 20 cores x 2 threads, one node and one cache per socket; \
                Xeon E7-8870 v4",
        source: "commit d8fcb81f1acf of Linux",
        make: |_| Regular { packages: 4, cores: 20, threads: 2, far: &[10, 21], ..THREADS_APART },
    },
    Preset {
        name: "smp4",
        arguments: &[],
        about: "4 CPUs that share no cache: Alpha EV6, Pentium III",
        source: GANG,
        make: |_| Regular { packages: 4, one_node: true, ..ONE },
    },
    Preset {
        name: "xeon4ht",
        arguments: &[],
        about: "8 CPUs: 4 single-core Xeons with 2 threads each",
        source: GANG,
        make: |_| Regular { packages: 4, threads: 2, one_node: true, ..ONE },
    },
    Preset { name: "up1", arguments: &[], about: "one CPU", source: GANG, make: |_| ONE },
    Preset {
        name: "osv2",
        arguments: &[],
        about: "2 CPUs of a virtual machine",
        source: "the scheduler tests of OSv",
        make: |_| Regular { cores: 2, ..ONE },
    },
    Preset {
        name: "ring4",
        arguments: &[],
        about: "4 CPUs in a ring, each in its own node",
        source: KERNEL,
        make: |_| Regular { packages: 4, links: RING_LINKS, far: &[10, 20, 30], ..ONE },
    },
    Preset {
        name: "line4",
        arguments: &[],
        about: "4 CPUs in a line, each in its own node; the first and the last node are 3 hops \
                apart",
        source: KERNEL,
        make: |_| Regular { packages: 4, links: LINE_LINKS, far: &[10, 20, 30, 40], ..ONE },
    },
    Preset {
        name: "mesh-asym4",
        arguments: &[],
        about: "4 CPUs, each in its own node; all nodes are neighbours except the first and the \
                last",
        source: KERNEL,
        make: |_| Regular { packages: 4, links: MESH_LINKS, far: &[10, 20, 30], ..ONE },
    },
    Preset {
        name: "t4x4",
        arguments: &[],
        about: "16 CPUs: 4 nodes of 4 cores",
        source: RECORDED,
        make: |_| Regular { packages: 4, cores: 4, far: &[10, 20], ..ONE },
    },
    Preset {
        name: "b8x2",
        arguments: &[],
        about: "16 CPUs: 8 nodes of 2 cores, 17 links",
        source: RECORDED,
        make: |_| Regular { packages: 8, cores: 2, links: B8X2_LINKS, far: &[10, 16, 22], ..ONE },
    },
    Preset {
        name: "k920",
        arguments: &[],
        about: "16 CPUs: 4 nodes of 4 cores, with the distances of a Kunpeng 920",
        source: RECORDED,
        make: |_| Regular { packages: 4, cores: 4, slit: K920_SLIT, ..ONE },
    },
    Preset {
        name: "b8x8",
        arguments: &[],
        about: "64 CPUs: 8 nodes of 8 cores, with the 20 links of bulldozer64",
        source: RECORDED,
        make: |_| Regular {
            packages: 8,
            cores: 8,
            links: BULLDOZER_LINKS,
            far: &[10, 16, 22],
            ..ONE
        },
    },
    Preset {
        name: "s4x16x2",
        arguments: &[],
        about: "128 CPUs: 4 sockets of 16 cores x 2 threads, one node and one cache per socket; \
                siblings have adjacent numbers",
        source: RECORDED,
        make: |_| Regular { packages: 4, cores: 16, threads: 2, far: &[10, 20], ..ONE },
    },
    Preset {
        name: "flat",
        arguments: &["nodes", "cores"],
        about: "nodes at equal distances; each node has one cache and single-threaded cores",
        source: FAMILY,
        make: |n| Regular { packages: n[0], cores: n[1], far: &[10, 20], ..ONE },
    },
    Preset {
        name: "smt",
        arguments: &["cores"],
        about: "one node; each core has two threads",
        source: FAMILY,
        make: |n| Regular { cores: n[0], threads: 2, ..ONE },
    },
    Preset {
        name: "chiplet",
        arguments: &["nodes", "caches", "cores"],
        about: "nodes with several last-level caches and single-threaded cores",
        source: FAMILY,
        make: |n| Regular { packages: n[0], llcs: n[1], cores: n[2], far: &[10, 32], ..ONE },
    },
    Preset {
        name: "chiplet",
        arguments: &[],
        about: "128 CPUs: 2 nodes with 8 caches each; 8 cores share a cache",
        source: FAMILY,
        make: |_| Regular { packages: 2, llcs: 8, cores: 8, far: &[10, 32], ..ONE },
    },
];

/// The forms of all presets.
fn usages() -> Vec<String> {
    PRESETS.iter().map(Preset::usage).collect()
}

/// The machine for `name` or `name(n,...)`.
pub(crate) fn find(text: &str) -> Result<Machine, Error> {
    let (name, arguments) = match text.split_once('(') {
        Some((name, rest)) => (name.trim(), rest.trim_end().strip_suffix(')')),
        None => (text, Some("")),
    };
    let named: Vec<&Preset> = PRESETS.iter().filter(|preset| preset.name == name).collect();
    if named.is_empty() {
        let names = PRESETS.iter().map(|preset| preset.name);
        let (name, nearest) = (shortened(text), nearest(name, names));
        return Err(Error::UnknownPreset { name, nearest, known: usages() });
    }
    let wrong = || {
        let usage = named.iter().map(|preset| preset.usage()).collect::<Vec<_>>().join(" or ");
        Error::Arguments { text: shortened(text), usage }
    };
    let arguments = arguments.ok_or_else(wrong)?;
    let numbers: Option<Vec<usize>> = match arguments.trim() {
        "" => Some(Vec::new()),
        numbers => numbers.split(',').map(|n| n.trim().parse().ok().filter(|&n| n > 0)).collect(),
    };
    let numbers = numbers.ok_or_else(wrong)?;
    let fits = |preset: &&&Preset| preset.arguments.len() == numbers.len();
    let preset = named.iter().find(fits).ok_or_else(wrong)?;
    (preset.make)(&numbers).machine(text)
}

/// Xeons, numbered as in the slides.
const THREADS_APART: Regular = Regular { threads_apart: true, ..ONE };
/// A pair of cores (a module) shares its front end, FPU and L2; the kernel treats it as SMT.
const BULLDOZER: Regular = Regular { packages: 4, nodes: 2, cores: 4, threads: 2, ..ONE };

/// Figure 4 of the paper: the neighbours of each node.
const BULLDOZER_LINKS: &[&[u32]] = &[
    &[1, 2, 4, 6],
    &[0, 3, 4, 5, 7],
    &[0, 3, 4, 5, 6, 7],
    &[1, 2, 4, 5, 7],
    &[0, 1, 2, 3, 5, 6],
    &[1, 2, 3, 4, 7],
    &[0, 2, 4, 7],
    &[1, 2, 3, 5, 6],
];
const B8X2_LINKS: &[&[u32]] = &[
    &[1, 2, 4, 6],
    &[0, 3, 5, 7],
    &[0, 3, 4, 6],
    &[1, 2, 4, 5, 7],
    &[0, 2, 3, 5, 6],
    &[1, 3, 4, 7],
    &[0, 2, 4, 7],
    &[1, 3, 5, 6],
];
const RING_LINKS: &[&[u32]] = &[&[1, 3], &[0, 2], &[1, 3], &[0, 2]];
const LINE_LINKS: &[&[u32]] = &[&[1], &[0, 2], &[1, 3], &[2]];
const MESH_LINKS: &[&[u32]] = &[&[1, 2], &[0, 2, 3], &[0, 1, 3], &[1, 2]];

const BULLDOZER_SLIT: &[&[u32]] = &[
    &[10, 16, 16, 22, 16, 22, 16, 22],
    &[16, 10, 22, 16, 16, 22, 22, 16],
    &[16, 22, 10, 16, 16, 16, 16, 16],
    &[22, 16, 16, 10, 16, 16, 22, 22],
    &[16, 16, 16, 16, 10, 16, 16, 22],
    &[22, 22, 16, 16, 16, 10, 22, 16],
    &[16, 22, 16, 22, 16, 22, 10, 16],
    &[22, 16, 16, 22, 22, 16, 16, 10],
];
const MAGNY_SLIT: &[&[u32]] = &[
    &[10, 16, 16, 22, 16, 22, 16, 22],
    &[16, 10, 16, 22, 22, 16, 22, 16],
    &[16, 16, 10, 16, 16, 16, 16, 22],
    &[22, 22, 16, 10, 16, 16, 22, 16],
    &[16, 22, 16, 16, 10, 16, 16, 16],
    &[22, 16, 16, 16, 16, 10, 22, 22],
    &[16, 22, 16, 22, 16, 22, 10, 16],
    &[22, 16, 22, 16, 16, 22, 16, 10],
];
const K920_SLIT: &[&[u32]] =
    &[&[10, 12, 20, 22], &[12, 10, 22, 24], &[20, 22, 10, 12], &[22, 24, 12, 10]];
