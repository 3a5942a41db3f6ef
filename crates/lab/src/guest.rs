//! In a guest: this program is the first one, and the only one.

use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use rustix::mount::{MountFlags, mount};
use rustix::system::{RebootCommand, reboot};
use wastenot_model::History;
use wastenot_rota::steps::Log;
use wastenot_runner::Told;

use crate::job::{self, Cell, Done, Job};
use crate::loaded::Loaded;
use crate::{Error, real};

/// What is mounted where. What a kernel lacks is left out.
const MOUNTS: [(&str, &str); 8] = [
    ("proc", "/proc"),
    ("sysfs", "/sys"),
    ("devtmpfs", "/dev"),
    ("tmpfs", "/tmp"),
    ("debugfs", "/sys/kernel/debug"),
    ("tracefs", "/sys/kernel/tracing"),
    ("bpf", "/sys/fs/bpf"),
    ("cgroup2", "/sys/fs/cgroup"),
];

/// Does the job in the image, writes what came of it to the disk, and powers off. It must be the
/// first process of its machine.
///
/// # Errors
/// It is not, or the job cannot be read or its results not be written.
pub fn guest() -> io::Result<()> {
    if std::process::id() != 1 {
        let what = "this is for the first process of a guest";
        return Err(io::Error::new(io::ErrorKind::Unsupported, what));
    }
    let done = work();
    if let Err(error) = &done {
        say(&format!("failed: {error}"));
    }
    rustix::fs::sync();
    reboot(RebootCommand::PowerOff)?;
    done
}

/// Tells the one who booted this.
pub(crate) fn say(what: &str) {
    let mut out = io::stdout();
    let _ = writeln!(out, "{} {what}", job::SAYS);
    let _ = out.flush();
}

fn work() -> io::Result<()> {
    for (kind, path) in MOUNTS {
        let _ = fs::create_dir_all(path);
        let _ = mount(kind, path, kind, MountFlags::empty(), None);
    }
    // The counters of balancing belong to each recording.
    let _ = fs::write("/proc/sys/kernel/sched_schedstats", "1");
    if Path::new(SHELL).exists() {
        return shell();
    }
    let job: Job = serde_json::from_slice(&fs::read(job::FILE)?)?;
    let disk = File::options().write(true).open(job::DISK)?;
    let mut results = tar::Builder::new(disk);
    let machine = wastenot_record::machine();
    say(&format!("up {} {}", wastenot_host::kernel(), machine.len()));
    thread::sleep(SETTLES);
    let mut loaded: Option<(usize, Loaded)> = None;
    for (n, cell) in job.cells.iter().enumerate() {
        say(&format!("begin {n}"));
        // A log begins with its scheduler: then it is known where each task was.
        if cell.steps.is_some() || loaded.as_ref().map(|(which, _)| *which) != cell.scheduler {
            drop(loaded.take());
        }
        let ready = cell.scheduler.map_or(Ok(()), |which| {
            // One that the kernel ended is loaded again.
            if loaded.as_ref().is_some_and(|(_, it)| it.exit().is_none()) {
                return Ok(());
            }
            drop(loaded.take());
            loaded = Some((which, Loaded::load(&job.schedulers[which], &machine)?));
            Ok(())
        });
        let ran = ready.and_then(|()| run(cell, loaded.as_ref().map(|(_, it)| it)));
        let (json, wn) = Done::files(n);
        let told = match ran {
            Ok((history, told)) => {
                let mut bytes = Vec::new();
                let written = wastenot_read::write::wn(&history, &mut bytes);
                written.map_err(|error| io::Error::other(error.to_string()))?;
                append(&mut results, &wn, &bytes)?;
                Ok(told)
            }
            Err(error) => Err((error.to_string(), error.help())),
        };
        append(&mut results, &json, &serde_json::to_vec(&Done { told })?)?;
        results.get_mut().sync_data()?;
        say(&format!("done {n}"));
    }
    drop(loaded);
    results.into_inner()?.sync_all()?;
    say("end");
    Ok(())
}

/// How long a kernel has work of its own after it has booted, as tests of its cryptography. A guest
/// that is idle sleeps through it in no time.
const SETTLES: Duration = Duration::from_secs(3);

/// Where a guest to look into has busybox.
pub(crate) const SHELL: &str = "/bin/busybox";

/// Lets the one who booted this type.
fn shell() -> io::Result<()> {
    Command::new(SHELL).args(["--install", "-s", "/bin"]).status()?;
    Command::new(SHELL).arg("sh").env("PATH", "/bin:/").env("PS1", "guest# ").status()?;
    Ok(())
}

fn append(to: &mut tar::Builder<File>, name: &str, bytes: &[u8]) -> io::Result<()> {
    let mut header = tar::Header::new_gnu();
    header.set_size(bytes.len() as u64);
    header.set_mode(0o644);
    to.append_data(&mut header, name, bytes)
}

fn run(cell: &Cell, loaded: Option<&Loaded>) -> Result<(History, Told), Error> {
    let (placed, unplaced) = (std::cell::Cell::new(Instant::now()), RefCell::new(None));
    let place = || {
        placed.set(Instant::now());
        if let Some(Err(error)) = loaded.map(Loaded::place) {
            *unplaced.borrow_mut() = Some(error);
        }
    };
    let log = RefCell::new(Log { whole: true, ..Log::default() });
    let drain = || loaded.map_or(Ok(()), |it| it.drain(&mut log.borrow_mut()));
    let turn = || {
        if placed.get().elapsed() >= PLACE {
            place();
        }
        // What cannot be read is missing at the end, and reported there.
        let _ = drain();
        false
    };
    // Before its tasks exist: a policy may keep this program from a CPU afterwards.
    let mut ran = real::run(&cell.plan, cell.decisions, &place, &turn)?;
    if let Some(error) = unplaced.take() {
        return Err(error);
    }
    if let Some(text) = &cell.steps {
        drain()?;
        let mut log = log.take();
        log.text.clone_from(text);
        log.order();
        ran.0.annexes.extend(log.annexes());
    }
    match loaded.and_then(|it| it.exit().map(|exit| (it, exit))) {
        None => Ok(ran),
        Some((it, exit)) => Err(Error::Ended { scheduler: it.name.clone(), exit }),
    }
}

/// How often new cgroups and processes are placed.
const PLACE: Duration = Duration::from_secs(1);
