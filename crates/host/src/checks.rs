//! The checks of this machine, which read its files. They change and enable nothing.

use std::env;
use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use wastenot_model::CpuSet;

use crate::{reason, tracefs};

/// Whether something is available.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It is available.
    Yes,
    /// It is not available; `fix` describes how to get it.
    No,
    /// Information only; nothing needs it.
    Note,
}

impl State {
    /// Its name in one word.
    pub fn name(self) -> &'static str {
        match self {
            State::Yes => "yes",
            State::No => "no",
            State::Note => "note",
        }
    }
}

/// The result of one check.
#[derive(Clone, Debug)]
pub struct Check {
    /// What was checked.
    pub name: &'static str,
    /// Whether it is available.
    pub state: State,
    /// What was found.
    pub seen: String,
    /// How to get it.
    pub fix: Option<String>,
}

impl Check {
    /// It is available.
    pub fn yes(name: &'static str, seen: impl Into<String>) -> Check {
        Check { name, state: State::Yes, seen: seen.into(), fix: None }
    }
    /// It is not available.
    pub fn no(name: &'static str, seen: impl Into<String>, fix: impl Into<String>) -> Check {
        Check { name, state: State::No, seen: seen.into(), fix: Some(fix.into()) }
    }
    /// Information only.
    pub(crate) fn note(name: &'static str, seen: impl Into<String>) -> Check {
        Check { name, state: State::Note, seen: seen.into(), fix: None }
    }
}

/// The machine to check: `/`, or a folder with the same layout.
pub struct Host {
    tree: PathBuf,
    path: OsString,
    /// Whether we are root.
    pub root: bool,
}

impl Host {
    /// The machine that this program runs on.
    pub fn this() -> Host {
        let mut host = Host {
            tree: PathBuf::from("/"),
            path: env::var_os("PATH").unwrap_or_default(),
            root: false,
        };
        let status = host.read("proc/self/status").unwrap_or_default();
        let uids = status.lines().find_map(|line| line.strip_prefix("Uid:")).unwrap_or_default();
        // Real, effective, saved, file system: the effective id counts.
        host.root = uids.split_whitespace().nth(1) == Some("0");
        host
    }

    /// All checks, the required things first.
    pub fn checks(&self) -> Vec<Check> {
        vec![
            self.tracefs(),
            self.ftrace_switch(),
            self.tool("trace-cmd", ["trace-cmd", "trace-cmd", "trace-cmd"]),
            self.tool("perf", ["linux-perf", "linux-tools-$(uname -r)", "perf"]),
            self.perf_permission(),
            self.lockdown(),
            self.btf(),
            self.sched_ext(),
        ]
    }

    /// Kernel release.
    pub fn kernel(&self) -> String {
        self.read("proc/sys/kernel/osrelease").unwrap_or_else(|| "?".to_owned())
    }

    /// CPUs that are online.
    pub fn cpus(&self) -> Option<CpuSet> {
        CpuSet::parse(&self.read("sys/devices/system/cpu/online")?)
    }

    fn tracefs(&self) -> Check {
        const NAME: &str = "tracefs";
        let sudo = "record as root: `sudo ...`";
        let mounts = self.read("proc/self/mountinfo").unwrap_or_default();
        if let Some(place) = tracefs::place(&mounts) {
            let place = self.tree.join(place.strip_prefix("/").unwrap_or(&place));
            match fs::read_dir(place.join("events/sched")) {
                // Opening for writing changes nothing, and fails under lockdown and in containers.
                Ok(_) => match OpenOptions::new().write(true).open(place.join("tracing_on")) {
                    Ok(_) => return Check::yes(NAME, place.display().to_string()),
                    Err(error) => {
                        let seen = format!("{}: {}", place.display(), reason(&error));
                        let fix = if self.root { "record outside this container" } else { sudo };
                        return Check::no(NAME, seen, fix);
                    }
                },
                Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                    return Check::no(NAME, format!("{} requires root", place.display()), sudo);
                }
                Err(_) => {}
            }
        }
        // Mount points are closed to other users, so "not there" may only mean "no permission".
        match self.root {
            true => Check::no(NAME, "not mounted", "mount -t tracefs nodev /sys/kernel/tracing"),
            false => Check::no(NAME, "not visible without root", sudo),
        }
    }

    /// trace-cmd enables ftrace even if it is enabled, and fails if it may not (seen on locked
    /// virtual machines). Only a write shows whether we may: it writes the current value.
    fn ftrace_switch(&self) -> Check {
        const NAME: &str = "ftrace switch";
        let file = "proc/sys/kernel/ftrace_enabled";
        let instead = "record with perf, or with the tracefs commands below";
        match self.read(file) {
            None => Check::note(NAME, "the kernel has no such switch"),
            Some(value) if !self.root => Check::note(NAME, format!("ftrace_enabled is {value}")),
            Some(value) => match fs::write(self.tree.join(file), &value) {
                Ok(()) => Check::yes(NAME, format!("ftrace_enabled is {value}")),
                Err(error) => {
                    Check::no(NAME, format!("cannot be written: {}", reason(&error)), instead)
                }
            },
        }
    }

    /// `packages`: the name of the package in Debian, Ubuntu and other distributions.
    fn tool(&self, name: &'static str, packages: [&str; 3]) -> Check {
        if let Some(found) = env::split_paths(&self.path).find(|dir| is_program(&dir.join(name))) {
            return Check::yes(name, found.join(name).display().to_string());
        }
        let release = self.read("etc/os-release").unwrap_or_default();
        let id = |line: &str| line.strip_prefix("ID=").map(|id| id.trim_matches('"').to_owned());
        let sudo = if self.root { "" } else { "sudo " };
        let fix = match release.lines().find_map(id).as_deref() {
            Some("debian") => format!("{sudo}apt install {}", packages[0]),
            Some("ubuntu") => format!("{sudo}apt install {}", packages[1]),
            Some("fedora" | "rhel" | "centos" | "rocky" | "almalinux") => {
                format!("{sudo}dnf install {}", packages[2])
            }
            Some("arch") => format!("{sudo}pacman -S {}", packages[2]),
            _ => format!("install the package {}", packages[2]),
        };
        Check::no(name, "not found in PATH", fix)
    }

    /// Tracepoints of all CPUs with their data need CAP_PERFMON or a paranoia of -1
    /// (Documentation/admin-guide/perf-security.rst).
    fn perf_permission(&self) -> Check {
        const NAME: &str = "perf permission";
        let level = self.read("proc/sys/kernel/perf_event_paranoid");
        let number = level.as_deref().and_then(|level| level.parse::<i32>().ok());
        match number {
            None => Check::no(NAME, "this kernel has no perf events", "record with trace-cmd"),
            Some(level) if self.root => {
                Check::yes(NAME, format!("root (perf_event_paranoid is {level})"))
            }
            Some(level) if level < 0 => Check::yes(NAME, format!("perf_event_paranoid is {level}")),
            Some(level) => {
                let fix = "run `sudo sysctl kernel.perf_event_paranoid=-1`, or use `sudo perf ...`";
                Check::no(NAME, format!("perf_event_paranoid is {level}"), fix)
            }
        }
    }

    fn lockdown(&self) -> Check {
        const NAME: &str = "no lockdown";
        let modes = self.read("sys/kernel/security/lockdown").unwrap_or_default();
        if modes.contains("[confidentiality]") {
            let fix = "boot without lockdown=confidentiality, because it hides tracepoints from \
                       root too";
            return Check::no(NAME, "lockdown: confidentiality", fix);
        }
        Check::yes(NAME, if modes.is_empty() { "none".to_owned() } else { modes })
    }

    fn btf(&self) -> Check {
        let there = self.tree.join("sys/kernel/btf/vmlinux").exists();
        Check::note("BPF types", if there { "/sys/kernel/btf/vmlinux" } else { "no BTF" })
    }

    fn sched_ext(&self) -> Check {
        let name = self.read("sys/kernel/sched_ext/root/ops");
        let seen = match (self.read("sys/kernel/sched_ext/state"), name) {
            (None, _) => "this kernel has no sched_ext (CONFIG_SCHED_CLASS_EXT)".to_owned(),
            (Some(state), None) => state,
            // Reports judge a trace of a sched_ext scheduler differently, so its name matters.
            (Some(state), Some(name)) => format!("{state}: {name}"),
        };
        Check::note("sched_ext", seen)
    }

    fn read(&self, file: &str) -> Option<String> {
        fs::read_to_string(self.tree.join(file)).ok().map(|text| text.trim().to_owned())
    }
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine with these files.
    fn host(root: bool, files: &[(&str, &str)]) -> (tempfile::TempDir, Host) {
        let tree = tempfile::tempdir().expect("a folder");
        for (file, text) in files {
            let file = tree.path().join(file);
            fs::create_dir_all(file.parent().expect("a parent")).expect("a folder");
            fs::write(file, text).expect("a file");
        }
        let host = Host { tree: tree.path().to_owned(), path: OsString::new(), root };
        (tree, host)
    }

    fn check<'a>(checks: &'a [Check], name: &str) -> &'a Check {
        checks.iter().find(|check| check.name == name).expect(name)
    }

    #[test]
    fn every_refusal_comes_with_a_way_out() {
        let (_tree, host) = host(
            false,
            &[
                ("proc/sys/kernel/perf_event_paranoid", "2\n"),
                ("sys/kernel/security/lockdown", "none integrity [confidentiality]\n"),
                ("etc/os-release", "NAME=x\nID=debian\n"),
            ],
        );
        let checks = host.checks();
        for name in ["tracefs", "trace-cmd", "perf", "perf permission", "no lockdown"] {
            let check = check(&checks, name);
            assert_eq!(check.state, State::No, "{name}");
            assert!(check.fix.is_some(), "{name}");
        }
        assert_eq!(check(&checks, "perf").fix.as_deref(), Some("sudo apt install linux-perf"));
    }

    #[test]
    fn what_is_there_is_seen() {
        let (_tree, host) = host(
            true,
            &[
                ("proc/sys/kernel/perf_event_paranoid", "2\n"),
                ("proc/sys/kernel/osrelease", "6.12.1\n"),
                ("sys/devices/system/cpu/online", "0-127\n"),
                ("proc/self/mountinfo", "42 23 0:13 / /sys/kernel/tracing rw - tracefs none rw\n"),
                ("sys/kernel/tracing/events/sched/enable", "0\n"),
                ("sys/kernel/tracing/tracing_on", "1\n"),
                ("proc/sys/kernel/ftrace_enabled", "1\n"),
                ("sys/kernel/sched_ext/state", "enabled\n"),
                ("sys/kernel/sched_ext/root/ops", "rusty\n"),
            ],
        );
        let checks = host.checks();
        assert_eq!(host.kernel(), "6.12.1");
        assert_eq!(host.cpus().map(|cpus| cpus.len()), Some(128));
        assert_eq!(check(&checks, "tracefs").state, State::Yes);
        assert_eq!(check(&checks, "perf permission").state, State::Yes);
        assert_eq!(check(&checks, "sched_ext").seen, "enabled: rusty");
    }
}
