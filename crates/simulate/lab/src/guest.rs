//! In a guest: this program is the first one, and the only one.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use crate::runner::Told;
use rustix::mount::{MountFlags, mount};
use rustix::system::{RebootCommand, reboot};
use wastenot_model::{Help, History};
use wastenot_rota::step_log::Log;

use crate::job::{self, Cell, Done, Evidence, Job, say};
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
        let what = "this command is only for the first process of a guest";
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

fn work() -> io::Result<()> {
    for (kind, path) in MOUNTS {
        let _ = fs::create_dir_all(path);
        // Files of the image may be there, which programs of users need.
        if path == "/tmp" && fs::read_dir(path).is_ok_and(|mut it| it.next().is_some()) {
            continue;
        }
        let _ = mount(kind, path, kind, MountFlags::empty(), None);
    }
    // The counters of balancing belong to each recording.
    let _ = fs::write("/proc/sys/kernel/sched_schedstats", "1");
    // From 6.3 on debugfs has scheduling domains, and what balancing costs there, only then.
    let _ = fs::write("/sys/kernel/debug/sched/verbose", "Y");
    if Path::new(SHELL).exists() {
        return shell();
    }
    let job: Job = serde_json::from_slice(&fs::read(job::FILE)?)?;
    let disk = File::options().write(true).open(job::DISK)?;
    let mut results = tar::Builder::new(disk);
    let cpus = wastenot_host::machine().len();
    say(&format!("up {} {cpus}", wastenot_host::kernel()));
    thread::sleep(SETTLES);
    config_of_kernel();
    let mut desk = Desk { job: &job, loaded: None, refused: HashMap::new() };
    for (n, cell) in job.cells.iter().enumerate() {
        say(&format!("begin {n}"));
        let (ran, evidence, reloads) = desk.run(cell);
        let (json, wn) = Done::files(n);
        let told = match ran {
            Ok((history, told)) => {
                let mut bytes = Vec::new();
                let written = wastenot_read::write::wn(&history, &mut bytes);
                written.map_err(|error| io::Error::other(error.to_string()))?;
                append(&mut results, &wn, &bytes)?;
                Ok(told)
            }
            Err(why) => Err(why),
        };
        let done = Done { told, evidence, reloads };
        append(&mut results, &json, &serde_json::to_vec(&done)?)?;
        results.get_mut().sync_data()?;
        say(&format!("done {n}"));
    }
    drop(desk);
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

/// What is loaded, and what cannot be.
struct Desk<'j> {
    job: &'j Job,
    /// Which of the schedulers.
    loaded: Option<(usize, Loaded)>,
    /// The same program is refused again: that takes minutes, and says no more.
    refused: HashMap<usize, Box<Evidence>>,
}

/// The run, or an error and its help; evidence if the scheduler failed; the reason of each reload
/// during the run.
type Came = (Result<(History, Told), (String, String)>, Option<Box<Evidence>>, Vec<String>);

impl Desk<'_> {
    fn run(&mut self, cell: &Cell) -> Came {
        // A log begins with its scheduler: then it is known where each task was.
        if cell.steps.is_some() {
            self.loaded = None;
        }
        if let Err(evidence) = self.ready(cell.scheduler) {
            let why = (String::from("its scheduler was not loaded"), String::new());
            return (Err(why), Some(evidence), Vec::new());
        }
        let ran = run(cell, self.loaded.as_mut().map(|(_, it)| it));
        let ran = ran.map_err(|error| (error.to_string(), error.help().into_owned()));
        let Some((_, scheduler)) = &mut self.loaded else { return (ran, None, Vec::new()) };
        match scheduler.look() {
            Ok(reloads) => (ran, None, reloads),
            Err(evidence) => {
                // One that the kernel ended is loaded again for the next run.
                self.loaded = None;
                (ran, Some(evidence), Vec::new())
            }
        }
    }

    /// Loads a scheduler, unless it is loaded.
    fn ready(&mut self, wanted: Option<usize>) -> Result<(), Box<Evidence>> {
        if self.loaded.as_ref().map(|(which, _)| *which) == wanted {
            return Ok(());
        }
        self.loaded = None;
        let Some(which) = wanted else { return Ok(()) };
        if let Some(evidence) = self.refused.get(&which) {
            return Err(evidence.clone());
        }
        match Loaded::load(&self.job.schedulers[which]) {
            Ok(loaded) => {
                self.loaded = Some((which, loaded));
                Ok(())
            }
            Err(evidence) => {
                self.refused.insert(which, evidence.clone());
                Err(evidence)
            }
        }
    }
}

/// Programs that load schedulers ask for the kernel's configuration, as libbpf does: a timer's
/// length depends on CONFIG_HZ. Debian's packages have no file of it from 6.19 on, so it has what
/// can be told without.
fn config_of_kernel() {
    let kernel = rustix::system::uname();
    let path = format!("/boot/config-{}", kernel.release().to_string_lossy());
    if Path::new(&path).exists() {
        return;
    }
    // The coarse clock moves with the tick.
    let tick = rustix::time::clock_getres(rustix::time::ClockId::MonotonicCoarse);
    let mut text = String::new();
    if tick.tv_nsec > 0 {
        text += &format!("CONFIG_HZ={}\n", 1_000_000_000 / tick.tv_nsec);
    }
    let most = wastenot_host::read("/sys/devices/system/cpu/kernel_max");
    if let Some(most) = most.and_then(|it| it.parse::<u32>().ok()) {
        text += &format!("CONFIG_NR_CPUS={}\n", most + 1);
    }
    let _ = fs::create_dir_all("/boot");
    let _ = fs::write(path, text);
}

fn run(cell: &Cell, loaded: Option<&mut Loaded>) -> Result<(History, Told), Error> {
    let loaded = RefCell::new(loaded);
    let (placed, unplaced) = (std::cell::Cell::new(None::<Instant>), RefCell::new(None));
    let place = || {
        placed.set(Some(Instant::now()));
        if let Some(Err(error)) = loaded.borrow().as_ref().map(|it| it.place()) {
            *unplaced.borrow_mut() = Some(error);
        }
    };
    let log = RefCell::new(Log { whole: true, ..Log::default() });
    let drain = || {
        let loaded = loaded.borrow();
        loaded.as_ref().map_or(Ok(()), |it| it.drain(&mut log.borrow_mut()))
    };
    let has_scheduler = loaded.borrow().is_some();
    let (begun, dumped) = (std::cell::OnceCell::new(), std::cell::Cell::new(false));
    let limit = Duration::from_nanos(cell.limit_ns).saturating_sub(DUMPS);
    let turn = || {
        // A task may starve that no watchdog has found yet: where it waits is in a dump.
        let ran = begun.get_or_init(Instant::now).elapsed();
        if has_scheduler && ran >= limit && !dumped.replace(true) {
            let _ = fs::write("/proc/sysrq-trigger", "D");
        }
        if let Some(loaded) = &mut *loaded.borrow_mut()
            && loaded.reload()
        {
            placed.set(None);
        }
        if placed.get().is_none_or(|at| at.elapsed() >= PLACE) {
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
    Ok(ran)
}

/// So long before a run reaches its limit the kernel dumps the state of its scheduler.
const DUMPS: Duration = Duration::from_millis(300);

/// How often new cgroups and processes are placed.
const PLACE: Duration = Duration::from_secs(1);
