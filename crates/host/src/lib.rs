//! The machine that the program runs on.
//!
//! Facts about it are read from the files of its kernel: mounts, cgroups, tasks, and the ways of
//! tracing that it allows ([`checks`]). Reading them changes nothing. Other crates find three more
//! things here: a [`store`] of results that survives a kill, the lock on a file that is being
//! written ([`part`]), and a small HTTP server ([`serve`]), also for [`metrics`].

mod cgroup;
mod cgroups;
pub mod checks;
pub mod metrics;
mod mounts;
pub mod part;
mod proc;
pub mod recipe;
pub mod sched_ext;
pub mod serve;
mod shares;
pub mod store;
pub mod tracefs;

use std::os::fd::{AsRawFd, BorrowedFd};
use std::path::PathBuf;
use std::{env, fs, io};

use sha2::{Digest as _, Sha256};
use wastenot_model::machine::from_sys;
use wastenot_model::{Cpu, CpuId, CpuSet, Machine};

pub use cgroup::Cgroup;
pub use cgroups::{Cgroups, Hierarchy};
pub use checks::{Check, Host, State};
pub use proc::Proc;
pub use shares::Share;

/// The content of a system file, without white space at its end; `None` if it cannot be read.
pub fn read(path: &str) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim_end().to_owned())
}

/// The number that the kernel tells of `key` for an open file of this process
/// (/proc/self/fdinfo); `None` if it tells none.
pub fn fdinfo(file: BorrowedFd<'_>, key: &str) -> Option<u64> {
    let info = read(&format!("/proc/self/fdinfo/{}", file.as_raw_fd()))?;
    let is = |line: &str| line.strip_prefix(key)?.strip_prefix(':').map(str::to_owned);
    info.lines().find_map(is)?.trim().parse().ok()
}

/// `bytes` in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The SHA-256 of `bytes`, in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// The user's folder for what a part of the program keeps between runs:
/// `$XDG_CACHE_HOME/wastenot/PART`, or below `~/.cache`. `None` if the environment names no folder.
pub fn cache(part: &str) -> Option<PathBuf> {
    let named = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let caches = named.filter(|folder| folder.is_absolute()).or_else(home)?;
    Some(caches.join("wastenot").join(part))
}

/// This machine; if /sys has no information, one with as many CPUs as there can be.
pub fn machine() -> Machine {
    let mut machine = from_sys(read).unwrap_or_else(|_| Machine::flat(0));
    let possible = read("/sys/devices/system/cpu/possible");
    let possible = possible.and_then(|list| CpuSet::parse(&list));
    let count = possible.and_then(|cpus| cpus.iter().last()).map_or(1, |last| last.index() + 1);
    while machine.cpus.len() < count.min(CpuId::LIMIT) {
        machine.cpus.push(Cpu { online: false, ..Machine::unknown_cpu() });
    }
    machine
}

/// Release and architecture of the kernel: `6.12.1 x86_64`.
pub fn kernel() -> String {
    let name = rustix::system::uname();
    format!("{} {}", name.release().to_string_lossy(), name.machine().to_string_lossy())
}

/// Whether this process sees the tids that trace events contain: in most containers it does not.
/// The first PID namespace has a fixed number (PROC_PID_INIT_INO, include/linux/proc_ns.h).
pub fn is_first_namespace() -> bool {
    fs::read_link("/proc/self/ns/pid").is_ok_and(|name| name.as_os_str() == "pid:[4026531836]")
}

/// Whether a hypervisor runs this machine (the CPU flag of x86).
pub fn is_guest() -> bool {
    read("/proc/cpuinfo").is_some_and(|text| {
        let flags = text.lines().find(|line| line.starts_with("flags"));
        flags.is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor"))
    })
}

/// The system's message, without Rust's ` (os error 2)`.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_lowercase().collect::<String>() + letters.as_str()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS 180-4, example of one block.
    #[test]
    fn a_known_text_has_its_sha_256() {
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(b"abc"), abc);
    }

    #[test]
    fn what_the_kernel_tells_of_an_open_file_is_found_by_its_whole_key() {
        use std::os::fd::AsFd;
        let file = fs::File::open("/proc/self/exe").expect("this program");
        assert_eq!(fdinfo(file.as_fd(), "pos"), Some(0));
        assert_eq!((fdinfo(file.as_fd(), "po"), fdinfo(file.as_fd(), "none")), (None, None));
    }
}
