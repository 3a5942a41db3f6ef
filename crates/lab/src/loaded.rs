//! In a guest: a scheduler that is not the kernel's own.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use wastenot_deploy::{Object, Running, Verified};
use wastenot_model::Machine;
use wastenot_rota::ir::Program;
use wastenot_rota::steps::Log;

use crate::Error;
use crate::guest::say;
use crate::job::{How, Scheduler};

/// A scheduler that schedules. The kernel's own takes over when it is dropped.
pub(crate) struct Loaded {
    pub(crate) name: String,
    by: By,
}

/// Who loaded it.
enum By {
    /// This program.
    Us { running: Running, program: Box<Program> },
    /// A program of its own.
    Command(Child),
}

/// What the program of a scheduler says.
const LOG: &str = "/tmp/scheduler.log";
/// How long a scheduler may take until it schedules. Large ones are verified for half a minute.
const LOADS: Duration = Duration::from_secs(240);
/// How long its program may take to end.
const ENDS: Duration = Duration::from_secs(20);
/// How often it is looked whether it does.
const TURN: Duration = Duration::from_millis(50);

impl Loaded {
    /// Loads a scheduler.
    pub(crate) fn load(scheduler: &Scheduler, machine: &Machine) -> Result<Loaded, Error> {
        let name = scheduler.name.clone();
        let by = match &scheduler.how {
            How::Policy { text, object } => policy(&name, text, object, machine)?,
            How::Command(words) => command(&name, words)?,
        };
        Ok(Loaded { name, by })
    }

    /// Why the kernel ended it, once it has.
    pub(crate) fn exit(&self) -> Option<String> {
        match &self.by {
            By::Us { running, .. } => running.exit().map(|exit| exit.to_string()),
            By::Command(_) if is_enabled() => None,
            By::Command(_) => Some(last_said()),
        }
    }

    /// Takes out what it logged of its steps since the last time.
    pub(crate) fn drain(&self, log: &mut Log) -> Result<(), Error> {
        match &self.by {
            By::Us { running, .. } => Ok(running.drain(log)?),
            By::Command(_) => Ok(()),
        }
    }

    /// Puts cgroups and processes into their partitions.
    pub(crate) fn place(&self) -> Result<(), Error> {
        match &self.by {
            By::Us { running, program } => Ok(running.place(program)?),
            By::Command(_) => Ok(()),
        }
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        let By::Command(child) = &mut self.by else { return };
        if let Some(pid) = Pid::from_raw(child.id() as i32) {
            let _ = kill_process(pid, Signal::INT);
        }
        if !comes_true(ENDS, || child.try_wait().is_ok_and(|it| it.is_some())) {
            let _ = child.kill();
            let _ = child.wait();
        }
        comes_true(ENDS, || !is_enabled());
    }
}

fn policy(name: &str, text: &str, object: &[u8], machine: &Machine) -> Result<By, Error> {
    let faulty = |_| Error::Faulty { policy: name.to_owned() };
    let program = Box::new(wastenot_rota::compile(text).map_err(faulty)?);
    let mut object = Object::of(Path::new(name), object)?;
    object.fill(&wastenot_deploy::tables(&program, machine)?)?;
    let loaded = object.load()?;
    say_verified(name, &loaded.programs());
    Ok(By::Us { running: loaded.start()?, program })
}

fn command(name: &str, words: &[String]) -> Result<By, Error> {
    let failed = |exit: String| Error::Ended { scheduler: name.to_owned(), exit };
    let open = || Ok((File::create(LOG)?, File::options().append(true).open(LOG)?));
    let (out, err) = open().map_err(|error: std::io::Error| failed(error.to_string()))?;
    let Some((program, arguments)) = words.split_first() else { return Err(failed(String::new())) };
    let child = Command::new(program).args(arguments).stdout(out).stderr(err).spawn();
    let mut child = child.map_err(|error| failed(format!("cannot run {program}: {error}")))?;
    let ended = std::cell::Cell::new(false);
    let is_there = comes_true(LOADS, || {
        ended.set(child.try_wait().is_ok_and(|it| it.is_some()));
        is_enabled() || ended.get()
    });
    if !is_there || ended.get() {
        let _ = child.kill();
        let _ = child.wait();
        return Err(failed(format!("it did not begin to schedule: {}", last_said())));
    }
    say_verified(name, &wastenot_deploy::operations());
    Ok(By::Command(child))
}

/// Tells the one who booted this what the kernel has verified.
fn say_verified(name: &str, programs: &[Verified]) {
    let (count, all) = (programs.len(), Verified::instructions_of(programs));
    say(&format!("verified {name}: {count} programs, {all} instructions"));
}

/// Whether something comes true within a time.
fn comes_true(within: Duration, mut is: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < within {
        if is() {
            return true;
        }
        sleep(TURN);
    }
    false
}

fn is_enabled() -> bool {
    wastenot_host::read("/sys/kernel/sched_ext/state").is_some_and(|it| it == "enabled")
}

/// The end of what the program of a scheduler said.
fn last_said() -> String {
    const LINES: usize = 4;
    let text = fs::read(LOG).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|it| !it.is_empty()).collect();
    match &lines[lines.len().saturating_sub(LINES)..] {
        [] => "its program said nothing".into(),
        last => last.join("; "),
    }
}
