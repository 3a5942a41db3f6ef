//! A tracefs instance that does not outlive its creator.
//!
//! It removes itself when it is dropped. If its creator is killed, a shell that holds the other end
//! of a pipe removes it ([`Guard`]); if the shell is killed too, the next recorder does
//! ([`remove_left`]).

use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use wastenot_model::CpuId;

use crate::Error;

/// Names are `wastenot-PID-START-NUMBER`: a process and its start time, in the ticks of
/// /proc/PID/stat, since process ids are reused.
const PREFIX: &str = "wastenot-";

/// An instance, and the guard that removes it when we cannot.
#[derive(Debug)]
pub(super) struct Instance {
    path: PathBuf,
    guard: Guard,
}

/// An error for an operation that failed, on this file.
pub(super) fn failed<'a>(doing: &'a str, path: &'a Path) -> impl Fn(io::Error) -> Error + 'a {
    move |error| match error.kind() {
        io::ErrorKind::ReadOnlyFilesystem => Error::ReadOnly,
        io::ErrorKind::PermissionDenied if !rustix::process::geteuid().is_root() => Error::NotRoot,
        _ => Error::Failed { doing: format!("{doing} {}", path.display()), why: error.to_string() },
    }
}

impl Instance {
    /// Creates an instance. It records at once, but no event is enabled.
    pub(super) fn create(tracefs: &Path) -> Result<Instance, Error> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let (pid, number) = (std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let name = format!("{PREFIX}{pid}-{}-{number}", started(pid).unwrap_or(0));
        let path = tracefs.join("instances").join(name);
        // The guard first: we may be killed at any moment.
        let guard = Guard::post(&path);
        match fs::create_dir(&path) {
            Ok(()) => Ok(Instance { path, guard }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(Error::NoTracefs),
            Err(error) => Err(failed("make", &path)(error)),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a control file.
    pub(super) fn set(&self, file: &str, value: &str) -> Result<(), Error> {
        let path = self.path.join(file);
        let opened = fs::OpenOptions::new().write(true).open(&path);
        let written = opened.and_then(|mut file| file.write_all(value.as_bytes()));
        written.map_err(failed("write", &path))
    }

    /// The content of a file. Some of them end after the first read, however short (6.18's
    /// `header_page`), so the buffer has room for all of it at once.
    pub(super) fn read(&self, file: &str) -> Option<Vec<u8>> {
        let mut content = Vec::with_capacity(16 << 10);
        fs::File::open(self.path.join(file)).ok()?.read_to_end(&mut content).ok()?;
        Some(content)
    }

    /// The CPUs that have a buffer.
    pub(super) fn cpus(&self) -> Vec<CpuId> {
        let entries = fs::read_dir(self.path.join("per_cpu")).into_iter().flatten().flatten();
        let mut cpus: Vec<CpuId> = entries
            .filter_map(|entry| entry.file_name().to_str()?.strip_prefix("cpu")?.parse().ok())
            .map(CpuId)
            .filter(|cpu| cpu.index() < CpuId::LIMIT)
            .collect();
        cpus.sort_unstable();
        cpus
    }

    /// Events of a CPU that were overwritten or dropped, by its statistics.
    pub(super) fn lost(&self, cpu: CpuId) -> u64 {
        let text = self.read(&format!("per_cpu/cpu{cpu}/stats")).unwrap_or_default();
        overruns(&String::from_utf8_lossy(&text))
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.guard.dismiss(fs::remove_dir(&self.path).is_ok());
    }
}

/// The sum of the losses in `per_cpu/cpuN/stats`.
fn overruns(stats: &str) -> u64 {
    let count = |line: &str| {
        let (what, count) = line.split_once(": ")?;
        let lost = matches!(what, "overrun" | "commit overrun" | "dropped events");
        if lost { count.trim().parse::<u64>().ok() } else { None }
    };
    stats.lines().filter_map(count).sum()
}

/// Removes the instances of recorders that no longer live. An instance whose files are open stays:
/// a recorder in another PID namespace, which we do not see, uses it.
pub(super) fn remove_left(tracefs: &Path) {
    let entries = fs::read_dir(tracefs.join("instances")).into_iter().flatten().flatten();
    for entry in entries {
        if entry.file_name().to_str().is_some_and(|name| is_left(name, started)) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// Whether `name` is that of an instance whose creator is gone.
fn is_left(name: &str, started: impl Fn(u32) -> Option<u64>) -> bool {
    let Some(maker) = name.strip_prefix(PREFIX) else { return false };
    let mut numbers = maker.split('-').map(|number| number.parse::<u64>().ok());
    let (Some(Some(pid)), Some(Some(start))) = (numbers.next(), numbers.next()) else {
        return false;
    };
    u32::try_from(pid).is_ok_and(|pid| started(pid) != Some(start))
}

/// When a process started, in clock ticks since boot: field 22 of its stat (proc_pid_stat(5)).
fn started(pid: u32) -> Option<u64> {
    let stat = wastenot_host::read(&format!("/proc/{pid}/stat"))?;
    // The name before it may contain any character, even brackets.
    stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}

/// Waits until its input ends, then removes `$1`. Files of the killed process may stay open for a
/// moment. No signal that a terminal sends ends it.
const SCRIPT: &str = "trap '' HUP INT QUIT TERM; read -r _; tries=0; \
    while [ -d \"$1\" ] && ! rmdir \"$1\" && [ $tries -lt 100 ]; do \
    tries=$((tries + 1)); sleep 0.1 || sleep 1; done";

/// A shell that removes an instance when we are gone. Its input is a pipe whose other end only we
/// hold.
#[derive(Debug)]
struct Guard {
    /// None if there is no shell: then only the next recorder cleans up.
    shell: Option<Child>,
}

impl Guard {
    fn post(path: &Path) -> Guard {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", SCRIPT, "wastenot-guard"]).arg(path);
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // Out of the process group that a Ctrl-C or a kill of the whole job reaches, and without a
        // working directory that it would keep busy.
        shell.process_group(0).current_dir("/");
        Guard { shell: shell.spawn().ok() }
    }

    /// Releases the guard. It ends at once if the instance is `removed`; else it keeps trying
    /// without us.
    fn dismiss(&mut self, removed: bool) {
        let Some(mut shell) = self.shell.take() else { return };
        drop(shell.stdin.take());
        if removed {
            let _ = shell.wait();
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.dismiss(true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_dead_recorder_made_is_left() {
        let started = |pid| (pid == 7).then_some(100);
        assert!(!is_left("wastenot-7-100-0", started), "it lives");
        assert!(is_left("wastenot-7-99-0", started), "its number is used again");
        assert!(is_left("wastenot-8-100-3", started), "it is gone");
        for foreign in ["other-8-100-0", "wastenot-", "wastenot-8", "wastenot-x-1-0", "8-100-0"] {
            assert!(!is_left(foreign, started), "{foreign} is not ours");
        }
    }

    #[test]
    fn a_process_has_one_start() {
        let start = started(std::process::id());
        assert!(start.is_some_and(|ticks| ticks > 0));
        assert_eq!(start, started(std::process::id()));
        assert_eq!(started(u32::MAX), None);
    }

    #[test]
    fn all_kinds_of_losses_are_summed() {
        let stats = "entries: 12\noverrun: 30\ncommit overrun: 4\nbytes: 816\n\
                     oldest event ts:  5.0\nnow ts: 9.1\ndropped events: 5\nread events: 60\n";
        assert_eq!(overruns(stats), 39);
        assert_eq!(overruns(""), 0);
    }
}
