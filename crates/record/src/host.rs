//! What is known of this machine before anything is recorded.

use std::fs;

use wastenot_model::{Carries, Clock, CpuId, Head, Machine, Source};

/// The head of a recording that begins now.
pub(crate) fn head(format: &str, carries: Carries) -> Head {
    let machine = machine();
    let known = machine.topology_known();
    let mut head = Head::new(machine);
    head.clock = Clock { name: "mono".into(), nanoseconds: true };
    head.carries = if known { carries | Carries::TOPOLOGY } else { carries };
    head.source = Source {
        format: format.into(),
        name: String::new(),
        kernel: Some(kernel()),
        notes: notes(),
    };
    head
}

/// This machine; where /sys tells nothing, as many CPUs as there can be.
pub(crate) fn machine() -> Machine {
    let mut machine = wastenot_scenario::from_sys(read).unwrap_or_else(|_| Machine::flat(0));
    let possible = read("/sys/devices/system/cpu/possible");
    let possible = possible.and_then(|list| wastenot_model::CpuSet::parse(&list));
    let count = possible.and_then(|cpus| cpus.iter().last()).map_or(1, |last| last.index() + 1);
    while machine.cpus.len() < count.min(CpuId::LIMIT) {
        machine.cpus.push(wastenot_model::Cpu { online: false, ..Machine::unknown_cpu() });
    }
    machine
}

pub(crate) fn kernel() -> String {
    let name = rustix::system::uname();
    format!("{} {}", name.release().to_string_lossy(), name.machine().to_string_lossy())
}

fn notes() -> Vec<(String, String)> {
    let version = format!("wastenot {}", env!("CARGO_PKG_VERSION"));
    let mut notes = vec![("recorder".to_owned(), version)];
    let mut note = |key: &str, text: Option<String>| {
        notes.extend(text.map(|text| (key.to_owned(), text)));
    };
    // Its own threads are in the recording too: this tells them apart.
    note("recorder_pid", is_first_namespace().then(|| std::process::id().to_string()));
    note("command_line", read("/proc/cmdline"));
    let guest = read("/proc/cpuinfo").is_some_and(|text| {
        let flags = text.lines().find(|line| line.starts_with("flags"));
        flags.is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor"))
    });
    note("hypervisor", Some(if guest { "yes" } else { "no" }.to_owned()));
    notes
}

/// Whether processes have the numbers here that the kernel tells: not so in most containers. That
/// namespace has a fixed number (PROC_PID_INIT_INO, include/linux/proc_ns.h).
fn is_first_namespace() -> bool {
    fs::read_link("/proc/self/ns/pid").is_ok_and(|name| name.as_os_str() == "pid:[4026531836]")
}

/// The content of a file of the system, without its last line break.
pub(crate) fn read(path: &str) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim_end().to_owned())
}
