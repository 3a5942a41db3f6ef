//! The packets before the events: clocks, system, CPUs, processes.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use wastenot_model::{Cpu, History};

use super::wire::Message;
use super::{Packets, Sequence};
use crate::perfetto::fields::{clocks, cpus, packet, system, tree};

pub(super) fn write<W: Write>(history: &History, packets: &mut Packets<W>) {
    let start = history.window().from.0;
    packets.write(Sequence::System, |packet| {
        packet.message(packet::CLOCK_SNAPSHOT, |snapshot| {
            for id in [clocks::BOOTTIME, clocks::MONOTONIC] {
                snapshot.message(clocks::CLOCKS, |clock| {
                    clock.uint(clocks::ID, id);
                    clock.uint(clocks::TIMESTAMP, start);
                });
            }
            snapshot.uint(clocks::PRIMARY, clocks::BOOTTIME);
        });
    });
    packets.write(Sequence::System, |packet| {
        packet.message(packet::SYSTEM_INFO, |info| system_info(history, info));
    });
    packets.write(Sequence::System, |packet| {
        packet.message(packet::CPU_INFO, |info| {
            for cpu in &history.head.machine.cpus {
                info.message(cpus::CPUS, |message| {
                    message.text(cpus::PROCESSOR, &place(cpu));
                    message.int(cpus::CAPACITY, cpu.capacity);
                });
            }
        });
    });
    packets.write(Sequence::System, |packet| {
        packet.message(packet::PROCESS_TREE, |tree| process_tree(history, tree));
    });
}

fn system_info(history: &History, info: &mut Message) {
    info.message(system::UTSNAME, |name| {
        name.text(system::SYSNAME, "Linux");
        if let Some(release) = history.head.source.release() {
            name.text(system::RELEASE, release);
        }
    });
    info.text(system::SERVICE_VERSION, concat!("wastenot ", env!("CARGO_PKG_VERSION")));
    info.int(system::CPUS, history.cpu_count() as u32);
}

/// The topology of a CPU, as text: there is no field for it.
pub(super) fn place(cpu: &Cpu) -> String {
    let parts =
        [("core", cpu.core), ("llc", cpu.llc), ("node", cpu.node), ("package", cpu.package)];
    let known = parts.into_iter().filter_map(|(key, value)| Some(format!("{key}={}", value?)));
    known.collect::<Vec<_>>().join(" ")
}

/// Tasks whose process is known. A tid that was reused is listed for its first task.
fn process_tree(history: &History, message: &mut Message) {
    let mut threads = BTreeMap::new();
    for (_, task) in history.tasks().filter(|(_, task)| task.pid.is_some()) {
        threads.entry(task.tid).or_insert(task);
    }
    let processes: BTreeSet<i32> = threads.values().filter_map(|task| task.pid).collect();
    for pid in processes {
        message.message(tree::PROCESSES, |process| {
            process.int(tree::PROCESS_PID, pid);
            if let Some(main) = threads.get(&pid) {
                process.text(tree::PROCESS_CMDLINE, history.name(main.name));
                process.uint(tree::PROCESS_CMDLINE_IS_COMM, 1);
            }
        });
    }
    for (tid, task) in &threads {
        message.message(tree::THREADS, |thread| {
            thread.int(tree::THREAD_TID, *tid);
            thread.text(tree::THREAD_NAME, history.name(task.name));
            thread.int(tree::THREAD_TGID, task.pid.unwrap_or(*tid));
        });
    }
}
