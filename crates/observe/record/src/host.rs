//! What is known of this machine before the recording.

use crate::sched_ext;
use wastenot_host::{is_first_namespace, is_guest, kernel, read};
use wastenot_model::{Carries, Clock, Cpu, CpuId, CpuSet, Head, Machine, Source};

/// The head of a recording of this `machine`.
pub(crate) fn head(machine: Machine, format: &str, carries: Carries) -> Head {
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

/// Whether the facts that may change while a machine runs are still as in `machine`: which CPUs are
/// online, and which are isolated. Reading the rest takes thousands of small files on a large
/// machine. `read` returns the content of a file.
pub(crate) fn is_still(machine: &Machine, read: impl Fn(&str) -> Option<String>) -> bool {
    let same = |name: &str, is_so: fn(&Cpu) -> bool| {
        let list = read(&format!("/sys/devices/system/cpu/{name}"));
        let cpus = machine.cpus.iter().enumerate().filter(|(_, cpu)| is_so(cpu));
        let cpus: CpuSet = cpus.map(|(index, _)| CpuId(index as u16)).collect();
        // A list that has no file does not change.
        list.and_then(|list| CpuSet::parse(&list)).is_none_or(|list| list == cpus)
    };
    same("online", |cpu| cpu.online) && same("isolated", |cpu| cpu.isolated)
}

fn notes() -> Vec<(String, String)> {
    let version = format!("wastenot {}", env!("CARGO_PKG_VERSION"));
    let mut notes = vec![("recorder".to_owned(), version)];
    let mut note = |key: &str, text: Option<String>| {
        notes.extend(text.map(|text| (key.to_owned(), text)));
    };
    // The recorder's own threads are in the recording too: this identifies them.
    note("recorder_pid", is_first_namespace().then(|| std::process::id().to_string()));
    note("command_line", read("/proc/cmdline"));
    // No time of the fair class is lost where another scheduler has the tasks.
    note("sched_ext", sched_ext::loaded());
    note("hypervisor", Some(if is_guest() { "yes" } else { "no" }.to_owned()));
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_another_once_a_cpu_comes_goes_or_is_isolated() {
        let mut machine = Machine::flat(4);
        (machine.cpus[2].isolated, machine.cpus[3].online) = (true, false);
        let is_still = |online: &str, isolated: &str| {
            super::is_still(&machine, |path| match path {
                "/sys/devices/system/cpu/online" => Some(online.to_owned()),
                "/sys/devices/system/cpu/isolated" => Some(isolated.to_owned()),
                _ => panic!("{path} is read, too"),
            })
        };
        assert!(is_still("0-2", "2"));
        assert!(!is_still("0-3", "2"));
        assert!(!is_still("0,2", "2"));
        assert!(!is_still("0-2", ""));
        assert!(super::is_still(&machine, |_| None));
    }

    #[test]
    fn this_machine_is_still_what_it_was_just_now() {
        assert!(is_still(&wastenot_host::machine(), read));
    }
}
