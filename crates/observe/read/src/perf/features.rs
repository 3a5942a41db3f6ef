//! The feature sections of a perf.data: facts about the machine.
//!
//! Layouts as in perf's `tools/perf/Documentation/perf.data-file-format.txt`.

use wastenot_model::{Cpu, CpuId, CpuSet, Machine};

use super::bytes::Bytes;
use crate::ftrace::Cursor;

/// Feature numbers.
mod feature {
    pub(super) const TRACING_DATA: u32 = 1;
    pub(super) const HOSTNAME: u32 = 3;
    pub(super) const OSRELEASE: u32 = 4;
    pub(super) const VERSION: u32 = 5;
    pub(super) const ARCH: u32 = 6;
    pub(super) const NRCPUS: u32 = 7;
    pub(super) const CPUDESC: u32 = 8;
    pub(super) const CMDLINE: u32 = 11;
    pub(super) const CPU_TOPOLOGY: u32 = 13;
    pub(super) const NUMA_TOPOLOGY: u32 = 14;
    pub(super) const CACHE: u32 = 20;
    pub(super) const DIR_FORMAT: u32 = 24;
}

/// No machine has more sets of one kind; a damaged count must not cost time.
const SETS_MAX: u32 = 4 * CpuId::LIMIT as u32;

/// What the features contained so far.
#[derive(Debug, Default)]
pub(super) struct Features<'a> {
    /// The descriptions of the tracepoints: the head of a trace.dat.
    pub(super) tracing_data: Option<&'a [u8]>,
    /// The samples are in other files of a directory.
    pub(super) directory: bool,
    /// Features that could not be read.
    pub(super) damaged: u64,
    /// Features that are beyond the end of the file.
    pub(super) cut: u64,
    host: Option<String>,
    release: Option<String>,
    arch: Option<String>,
    /// Key and value of other facts.
    pub(super) notes: Vec<(String, String)>,
    cpus_available: usize,
    cpus_online: usize,
    packages: Vec<CpuSet>,
    cores: Vec<CpuSet>,
    nodes: Vec<(u32, CpuSet)>,
    /// Level and CPUs of each cache that holds data.
    caches: Vec<(u32, CpuSet)>,
}

impl<'a> Features<'a> {
    /// Reads one feature; features without facts about scheduling are ignored.
    pub(super) fn read(&mut self, number: u32, bytes: Bytes<'a>) {
        if self.feature(number, bytes).is_none() {
            self.damaged += 1;
        }
    }

    fn feature(&mut self, number: u32, bytes: Bytes<'a>) -> Option<()> {
        let mut from = bytes.cursor();
        match number {
            feature::TRACING_DATA => self.tracing_data = Some(bytes.data),
            feature::HOSTNAME => self.host = Some(text(&mut from)?),
            feature::OSRELEASE => self.release = Some(text(&mut from)?),
            feature::ARCH => self.arch = Some(text(&mut from)?),
            feature::VERSION => self.note("perf", text(&mut from)?),
            feature::CPUDESC => self.note("cpu", text(&mut from)?),
            feature::CMDLINE => self.note("command", texts(&mut from)?.join(" ")),
            feature::NRCPUS => {
                self.cpus_available = from.u32()? as usize;
                self.cpus_online = from.u32()? as usize;
            }
            feature::CPU_TOPOLOGY => {
                self.packages = sets(&texts(&mut from)?);
                self.cores = sets(&texts(&mut from)?);
            }
            feature::NUMA_TOPOLOGY => {
                self.nodes.clear();
                for _ in 0..from.u32()?.min(SETS_MAX) {
                    let node = from.u32()?;
                    from.take(16)?; // its memory, in all and free
                    let cpus = CpuSet::parse(&text(&mut from)?);
                    self.nodes.extend(cpus.map(|cpus| (node, cpus)));
                }
            }
            feature::CACHE => {
                self.caches.clear();
                from.u32()?; // version
                for _ in 0..from.u32()?.min(SETS_MAX) {
                    let level = from.u32()?;
                    from.take(12)?; // line size, sets, ways
                    let kind = text(&mut from)?;
                    text(&mut from)?; // size
                    let cpus = CpuSet::parse(&text(&mut from)?);
                    if kind != "Instruction" {
                        self.caches.extend(cpus.map(|cpus| (level, cpus)));
                    }
                }
            }
            feature::DIR_FORMAT => self.directory = true,
            _ => {}
        }
        Some(())
    }

    fn note(&mut self, key: &str, value: String) {
        self.notes.push((key.to_owned(), value));
    }

    /// The kernel's release and architecture.
    pub(super) fn kernel(&self) -> Option<String> {
        let parts = [self.release.as_deref(), self.arch.as_deref()];
        let known: Vec<&str> = parts.into_iter().flatten().collect();
        (!known.is_empty()).then(|| known.join(" "))
    }

    /// The machine as far as the features describe it.
    pub(super) fn machine(&self) -> Machine {
        let mut machine = Machine::flat(self.cpus_available);
        machine.name = self.host.clone().unwrap_or_default();
        let listed = self.cores.iter().fold(CpuSet::new(), |all, core| all.or(core));
        if !listed.is_empty() && listed.len() == self.cpus_online {
            for (index, cpu) in machine.cpus.iter_mut().enumerate() {
                cpu.online = listed.contains(CpuId(index as u16));
            }
        }
        let numbered = |sets: &[CpuSet]| -> Vec<(u32, CpuSet)> {
            sets.iter().enumerate().map(|(n, set)| (n as u32, set.clone())).collect()
        };
        assign(&mut machine, &numbered(&self.packages), |cpu| &mut cpu.package);
        assign(&mut machine, &numbered(&self.cores), |cpu| &mut cpu.core);
        assign(&mut machine, &self.nodes, |cpu| &mut cpu.node);
        assign(&mut machine, &self.last_level(), |cpu| &mut cpu.llc);
        machine
    }

    /// The caches that are the last level of some CPU, numbered. CPUs of one machine may have
    /// different levels, so the caches of the highest level come first.
    fn last_level(&self) -> Vec<(u32, CpuSet)> {
        let mut caches = self.caches.clone();
        caches.sort_by_key(|(level, cpus)| (std::cmp::Reverse(*level), cpus.iter().next()));
        let mut covered = CpuSet::new();
        let mut last = Vec::new();
        for (_, cpus) in caches {
            if !cpus.is_subset(&covered) {
                covered = covered.or(&cpus);
                last.push((last.len() as u32, cpus));
            }
        }
        last
    }
}

/// Assigns each CPU the set that contains it; the first one if sets overlap.
fn assign(
    machine: &mut Machine,
    sets: &[(u32, CpuSet)],
    field: impl Fn(&mut Cpu) -> &mut Option<u32>,
) {
    for (number, cpus) in sets {
        for id in cpus.iter() {
            if let Some(cpu) = machine.cpus.get_mut(id.index()) {
                field(cpu).get_or_insert(*number);
            }
        }
    }
}

/// A text: u32 length, then that many bytes, padded with NULs.
fn text(from: &mut Cursor<'_>) -> Option<String> {
    let len = from.u32()? as usize;
    let text = from.take(len)?;
    let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
    Some(String::from_utf8_lossy(&text[..end]).into_owned())
}

/// A list of texts: u32 count, then the texts.
fn texts(from: &mut Cursor<'_>) -> Option<Vec<String>> {
    (0..from.u32()?).map(|_| text(from)).collect()
}

fn sets(lists: &[String]) -> Vec<CpuSet> {
    let lists = lists.iter().take(SETS_MAX as usize);
    lists.filter_map(|list| CpuSet::parse(list)).filter(|set| !set.is_empty()).collect()
}
