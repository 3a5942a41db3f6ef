//! Facts about the machine and its tasks in addition to the events.

use std::collections::HashMap;

use wastenot_model::{CpuId, Machine};

use super::fields::{cpus, stats, system, tree};
use super::wire::{Fields, Wire};

/// System, CPUs, processes.
#[derive(Debug, Default)]
pub(super) struct System {
    sysname: Option<String>,
    version: Option<String>,
    pub(super) release: Option<String>,
    machine: Option<String>,
    pub(super) notes: Vec<(String, String)>,
    /// How many CPUs the machine has, if known.
    pub(super) cpu_count: usize,
    infos: Vec<Info>,
    pub(super) names: HashMap<i32, String>,
    pub(super) pids: HashMap<i32, i32>,
}

#[derive(Clone, Debug, Default)]
struct Info {
    processor: String,
    capacity: Option<u16>,
}

impl System {
    pub(super) fn system_info(&mut self, message: &[u8]) {
        for (number, wire) in Fields::of(message) {
            match number {
                system::UTSNAME => self.utsname(wire.bytes()),
                system::SERVICE_VERSION => self.notes.push(("recorder".into(), wire.text())),
                system::CPUS => self.know_cpus(wire.int_or(0)),
                _ => {}
            }
        }
    }

    fn utsname(&mut self, message: &[u8]) {
        for (number, wire) in Fields::of(message) {
            let text = Some(wire.text());
            match number {
                system::SYSNAME => self.sysname = text,
                system::VERSION => self.version = text,
                system::RELEASE => self.release = text,
                system::MACHINE => self.machine = text,
                _ => {}
            }
        }
    }

    pub(super) fn cpu_info(&mut self, message: &[u8]) {
        self.infos.clear();
        let all = Fields::of(message).filter(|(number, _)| *number == cpus::CPUS);
        for (_, cpu) in all.take(CpuId::LIMIT) {
            let mut info = Info::default();
            for (number, wire) in Fields::of(cpu.bytes()) {
                match number {
                    cpus::PROCESSOR => info.processor = wire.text(),
                    cpus::CAPACITY => info.capacity = wire.int().and_then(|n| n.try_into().ok()),
                    _ => {}
                }
            }
            self.infos.push(info);
        }
        self.know_cpus(self.infos.len() as u64);
    }

    fn know_cpus(&mut self, count: u64) {
        let count = usize::try_from(count).unwrap_or(usize::MAX).min(CpuId::LIMIT);
        self.cpu_count = self.cpu_count.max(count);
    }

    pub(super) fn process_tree(&mut self, message: &[u8]) {
        for (number, wire) in Fields::of(message) {
            match number {
                tree::PROCESSES => self.process(wire.bytes()),
                tree::THREADS => self.thread(wire.bytes()),
                _ => {}
            }
        }
    }

    fn process(&mut self, message: &[u8]) {
        let (mut pid, mut command, mut is_comm) = (None, None, false);
        for (number, wire) in Fields::of(message) {
            match number {
                tree::PROCESS_PID => pid = Some(wire.int32()),
                tree::PROCESS_CMDLINE => command = command.or(Some(wire)),
                tree::PROCESS_CMDLINE_IS_COMM => is_comm = wire.int_or(0) != 0,
                _ => {}
            }
        }
        let Some(pid) = pid else { return };
        self.pids.entry(pid).or_insert(pid);
        // A command line is not the name that the scheduler's events would show.
        if let (true, Some(command)) = (is_comm, command) {
            self.names.entry(pid).or_insert_with(|| command.text());
        }
    }

    fn thread(&mut self, message: &[u8]) {
        let (mut tid, mut pid, mut name) = (None, None, None);
        for (number, wire) in Fields::of(message) {
            match number {
                tree::THREAD_TID => tid = Some(wire.int32()),
                tree::THREAD_TGID => pid = Some(wire.int32()),
                tree::THREAD_NAME => name = Some(wire.text()),
                _ => {}
            }
        }
        let Some(tid) = tid else { return };
        self.pids.extend(pid.map(|pid| (tid, pid)));
        self.names.extend(name.filter(|name| !name.is_empty()).map(|name| (tid, name)));
    }

    pub(super) fn process_stats(&mut self, message: &[u8]) {
        let is = |wanted: u32| move |(number, _): &(u32, Wire<'_>)| *number == wanted;
        for (_, process) in Fields::of(message).filter(is(stats::PROCESSES)) {
            let pid = Fields::of(process.bytes()).find(is(stats::PID));
            let Some(pid) = pid.map(|(_, wire)| wire.int32()) else { continue };
            self.pids.entry(pid).or_insert(pid);
            for (_, thread) in Fields::of(process.bytes()).filter(is(stats::THREADS)) {
                let tid = Fields::of(thread.bytes()).find(is(stats::TID));
                self.pids.extend(tid.map(|(_, wire)| (wire.int32(), pid)));
            }
        }
    }

    /// In the format of `uname`.
    pub(super) fn kernel(&self) -> Option<String> {
        let parts = [&self.sysname, &self.release, &self.version, &self.machine];
        let parts: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
        (!parts.is_empty()).then(|| parts.join(" "))
    }

    /// Writes what is known of CPUs into `machine`. Perfetto has no field for topology; our own
    /// writer puts it into the text that describes a CPU: `core=3 llc=0 node=1 package=0`.
    pub(super) fn describe(&self, machine: &mut Machine) {
        for (cpu, info) in machine.cpus.iter_mut().zip(&self.infos) {
            cpu.capacity = info.capacity.unwrap_or(cpu.capacity);
            for (key, value) in info.processor.split(' ').filter_map(|word| word.split_once('=')) {
                let value = value.parse().ok();
                match key {
                    "core" => cpu.core = value,
                    "llc" => cpu.llc = value,
                    "node" => cpu.node = value,
                    "package" => cpu.package = value,
                    _ => {}
                }
            }
        }
    }
}
