//! In a guest: this program is the first one, and the only one.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::mount::{MountFlags, mount};
use rustix::system::{RebootCommand, reboot};
use wastenot_deploy::{Object, Running};
use wastenot_model::{History, Machine};
use wastenot_rota::ir::Program;
use wastenot_runner::Told;

use crate::job::{self, Cell, Done, Job, Policy};
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
fn say(what: &str) {
    let mut out = io::stdout();
    let _ = writeln!(out, "{} {what}", job::SAYS);
    let _ = out.flush();
}

fn work() -> io::Result<()> {
    for (kind, path) in MOUNTS {
        let _ = fs::create_dir_all(path);
        let _ = mount(kind, path, kind, MountFlags::empty(), None);
    }
    let job: Job = serde_json::from_slice(&fs::read(job::FILE)?)?;
    let disk = File::options().write(true).open(job::DISK)?;
    let mut results = tar::Builder::new(disk);
    let machine = wastenot_record::machine();
    say(&format!("up {} {}", wastenot_host::kernel(), machine.len()));
    let mut scheduling: Option<(usize, Scheduling)> = None;
    for (n, cell) in job.cells.iter().enumerate() {
        say(&format!("begin {n}"));
        if scheduling.as_ref().map(|(policy, _)| *policy) != cell.policy {
            drop(scheduling.take());
        }
        let ran = cell.policy.map_or(Ok(()), |policy| {
            // One that the kernel ended begins again.
            let goes_on = scheduling.as_ref().is_some_and(|(_, it)| it.running.exit().is_none());
            if !goes_on {
                drop(scheduling.take());
                scheduling = Some((policy, Scheduling::begin(&job.policies[policy], &machine)?));
            }
            Ok(())
        });
        let ran = ran.and_then(|()| run(cell, scheduling.as_ref().map(|(_, it)| it)));
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
    results.into_inner()?.sync_all()?;
    say("end");
    Ok(())
}

fn append(to: &mut tar::Builder<File>, name: &str, bytes: &[u8]) -> io::Result<()> {
    let mut header = tar::Header::new_gnu();
    header.set_size(bytes.len() as u64);
    header.set_mode(0o644);
    to.append_data(&mut header, name, bytes)
}

fn run(cell: &Cell, scheduling: Option<&Scheduling>) -> Result<(History, Told), Error> {
    let placed = std::cell::Cell::new(None::<Instant>);
    let turn = || {
        if placed.get().is_none_or(|at| at.elapsed() >= PLACE) {
            scheduling.iter().for_each(|it| it.place());
            placed.set(Some(Instant::now()));
        }
        false
    };
    let ran = real::run(&cell.plan, cell.decisions, &turn)?;
    match scheduling.and_then(|it| it.running.exit().map(|exit| (it, exit))) {
        None => Ok(ran),
        Some((it, exit)) => Err(Error::Ended { policy: it.name.clone(), exit: exit.to_string() }),
    }
}

/// How often new cgroups are placed.
const PLACE: Duration = Duration::from_secs(1);

/// A policy that schedules.
struct Scheduling {
    name: String,
    program: Program,
    running: Running,
}

impl Scheduling {
    fn begin(policy: &Policy, machine: &Machine) -> Result<Scheduling, Error> {
        let name = policy.name.clone();
        let program = wastenot_rota::compile(&policy.text)
            .map_err(|_| Error::Faulty { policy: name.clone() })?;
        let mut object = Object::of(Path::new(&name), &policy.object)?;
        object.fill(&wastenot_deploy::tables(&program, machine)?)?;
        let running = object.load()?.start()?;
        Ok(Scheduling { name, program, running })
    }

    fn place(&self) {
        // What it cannot place is scheduled by the first partition.
        let _ = self.running.place(&self.program);
    }
}
