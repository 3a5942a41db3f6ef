//! Whole idle cores: a task that gets one does not share it with a sibling.

use wastenot_model::{CpuId, History};

use crate::Scope;

/// How many CPUs of each core are idle.
#[derive(Debug)]
pub(super) struct Cores {
    of_cpu: Vec<usize>,
    size: Vec<u32>,
    idle: Vec<u32>,
    /// Cores of which every CPU is idle.
    pub(super) whole: u32,
}

impl Cores {
    /// A sibling that is offline or does not count does not keep its core from being whole.
    pub(super) fn new(history: &History, scope: &Scope) -> Option<Cores> {
        let cpus = &history.head.machine.cpus;
        let mut names: Vec<u32> = cpus.iter().map(|cpu| cpu.core).collect::<Option<_>>()?;
        names.sort_unstable();
        names.dedup();
        let find = |core: Option<u32>| core.and_then(|core| names.binary_search(&core).ok());
        let of_cpu: Vec<usize> = cpus.iter().map(|cpu| find(cpu.core)).collect::<Option<_>>()?;
        let mut size = vec![0; names.len()];
        for cpu in scope.cpus().filter(|cpu| cpus[cpu.index()].online) {
            size[of_cpu[cpu.index()]] += 1;
        }
        Some(Cores { of_cpu, idle: vec![0; size.len()], size, whole: 0 })
    }
    pub(super) fn set(&mut self, cpu: CpuId, idle: bool) {
        let core = self.of_cpu[cpu.index()];
        let was_whole = self.idle[core] == self.size[core];
        if idle {
            self.idle[core] += 1;
        } else {
            self.idle[core] -= 1;
        }
        let is_whole = self.idle[core] == self.size[core];
        self.whole = self.whole + u32::from(is_whole) - u32::from(was_whole);
    }
}
