//! In a guest: a scheduler that is not the kernel's own.

use std::fs::{self, File};
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitStatus};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use wastenot_deploy::{Running, Scheduler, Verified};
use wastenot_host::sched_ext::is_enabled;
use wastenot_model::Help;
use wastenot_rota::step_log;

use crate::Error;
use crate::job::{self, Evidence, How, say};
use crate::kmsg::{self, Line, Log};

/// A scheduler that schedules. The kernel's own takes over when it is dropped.
pub(crate) struct Loaded {
    name: String,
    by: By,
    kernel: Log,
    /// What the kernel said of it so far.
    said: Vec<Line>,
}

/// Who loaded it.
enum By {
    /// This program; an error once it could not load it again.
    Us { scheduler: Box<Scheduler>, running: Result<Running, wastenot_deploy::Error> },
    /// A program of its own.
    Command(Child),
}

/// What the program of a scheduler says.
const LOG: &str = "/tmp/scheduler.log";
/// How long a scheduler may take until it schedules. Large ones are verified for half a minute.
const LOADS: Duration = Duration::from_secs(150);
/// How often a guest says that it still waits: one that is silent is taken for dead.
const WAITS: Duration = Duration::from_secs(10);
/// How long its program may take to end.
const ENDS: Duration = Duration::from_secs(20);
/// How long its program may take to load it again, as many do when a CPU comes or goes.
const RELOADS: Duration = Duration::from_secs(5);
/// How often it is looked whether it does.
const TURN: Duration = Duration::from_millis(50);

impl Loaded {
    /// Loads a scheduler.
    pub(crate) fn load(scheduler: &job::Scheduler) -> Result<Loaded, Box<Evidence>> {
        let name = scheduler.name.clone();
        say(&format!("loads {name}"));
        let mut kernel = Log::from_now();
        let failed = |evidence: Evidence, kernel: &mut Log| {
            Box::new(Evidence { scheduler: name.clone(), kernel: kernel.read(), ..evidence })
        };
        let by = match &scheduler.how {
            How::Policy { text, object } => policy(&name, text, object)
                .map_err(|error| Some((error.to_string(), error.help().into_owned())))
                .map_err(|ours| failed(Evidence { ours, ..Default::default() }, &mut kernel))?,
            How::Command(words) => {
                command(&name, words).map_err(|evidence| failed(*evidence, &mut kernel))?
            }
        };
        let said = kernel.read();
        Ok(Loaded { name, by, kernel, said })
    }

    /// Loads a policy again that the kernel ended because a CPU came or went. One that logs its
    /// steps ends: no step shows where tasks are afterwards. Whether it was loaded again.
    pub(crate) fn reload(&mut self) -> bool {
        let By::Us { scheduler, running } = &mut self.by else { return false };
        let Ok(it) = running else { return false };
        if it.has_log() || !it.exit().is_some_and(|exit| exit.restarts()) {
            return false;
        }
        it.unload();
        *running = scheduler.load_again();
        true
    }

    /// Whether it still schedules, and why it was loaded again since the last look.
    pub(crate) fn look(&mut self) -> Result<Vec<String>, Box<Evidence>> {
        self.reload();
        let mut ended = None;
        let mut ours = None;
        match &mut self.by {
            By::Us { running: Ok(running), .. } => {
                ours = running.exit().map(|it| (it.to_string(), it.help().into_owned()));
            }
            By::Us { running: Err(error), .. } => {
                ours = Some((error.to_string(), error.help().into_owned()));
            }
            By::Command(child) => {
                let mut has_ended = || child.try_wait().ok().flatten().map(in_words);
                comes_true(RELOADS, || {
                    ended = has_ended();
                    is_enabled() || ended.is_some()
                });
            }
        }
        let since = self.kernel.read();
        if is_enabled() && ours.is_none() && ended.is_none() {
            let reloads = kmsg::reasons(&since);
            self.said.extend(since);
            return Ok(reloads);
        }
        if let By::Command(child) = &mut self.by {
            // What its program has not written yet it writes when it ends.
            let last = end(child);
            ended = ended.or(last);
        }
        self.said.extend(since);
        let is_command = matches!(self.by, By::Command(_));
        Err(Box::new(Evidence {
            scheduler: self.name.clone(),
            scheduled: true,
            ours,
            ended,
            waited_s: 0,
            said: if is_command { said() } else { String::new() },
            kernel: std::mem::take(&mut self.said),
        }))
    }

    /// Takes out what it logged of its steps since the last time.
    pub(crate) fn drain(&self, log: &mut step_log::Log) -> Result<(), Error> {
        match &self.by {
            By::Us { running: Ok(running), .. } => Ok(running.drain(log)?),
            _ => Ok(()),
        }
    }

    /// Puts cgroups and processes into their partitions.
    pub(crate) fn place(&self) -> Result<(), Error> {
        match &self.by {
            By::Us { scheduler, running: Ok(running) } => Ok(running.place(&scheduler.program)?),
            _ => Ok(()),
        }
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        let By::Command(child) = &mut self.by else { return };
        end(child);
        comes_true(ENDS, || !is_enabled());
    }
}

/// Ends the program of a scheduler: by itself if it can. How it ended, if that was before.
fn end(child: &mut Child) -> Option<String> {
    if let Ok(Some(status)) = child.try_wait() {
        return Some(in_words(status));
    }
    if let Some(pid) = Pid::from_raw(child.id() as i32) {
        let _ = kill_process(pid, Signal::INT);
    }
    if !comes_true(ENDS, || child.try_wait().is_ok_and(|it| it.is_some())) {
        let _ = child.kill();
        let _ = child.wait();
    }
    None
}

fn in_words(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (_, Some(signal)) => format!("signal {signal}"),
        _ => "unknown".into(),
    }
}

fn policy(name: &str, text: &str, object: &[u8]) -> Result<By, Error> {
    let faulty = |_| Error::Faulty { policy: name.to_owned() };
    let scheduler = Box::new(Scheduler {
        object: name.into(),
        elf: object.to_owned(),
        program: wastenot_rota::compile(text).map_err(faulty)?,
        machine: Box::new(wastenot_host::machine),
        partial: false,
    });
    let loaded = scheduler.load()?;
    say_verified(name, &loaded.programs());
    let running = Ok(loaded.start()?);
    Ok(By::Us { scheduler, running })
}

fn command(name: &str, words: &[String]) -> Result<By, Box<Evidence>> {
    let ours = |error: io::Error| {
        let help = "give a program that runs on this machine".to_owned();
        Box::new(Evidence { ours: Some((error.to_string(), help)), ..Default::default() })
    };
    // Both append: else one would overwrite what the other wrote.
    let open = || {
        let file = File::options().append(true).create(true).open(LOG)?;
        file.set_len(0)?;
        Ok((file.try_clone()?, file))
    };
    let (out, err) = open().map_err(ours)?;
    let Some((program, arguments)) = words.split_first() else { return Err(Box::default()) };
    let child = Command::new(program).args(arguments).stdout(out).stderr(err).spawn();
    let mut child = child.map_err(ours)?;
    let (begun, mut told) = (Instant::now(), WAITS);
    let mut ended = None;
    let is_there = comes_true(LOADS, || {
        if begun.elapsed() > told {
            say(&format!("waits {} s for {name}", told.as_secs()));
            told += WAITS;
        }
        ended = child.try_wait().ok().flatten().map(in_words);
        is_enabled() || ended.is_some()
    });
    if is_there && ended.is_none() {
        say_verified(name, &wastenot_deploy::operations());
        return Ok(By::Command(child));
    }
    let last = end(&mut child);
    let waited_s = begun.elapsed().as_secs();
    let ended = ended.or(last);
    Err(Box::new(Evidence { ended, waited_s, said: said(), ..Default::default() }))
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

/// What the program of a scheduler said: the beginning and the end. The log of a verifier may have
/// a million lines.
fn said() -> String {
    const FIRST: usize = 16 << 10;
    const LAST: usize = 128 << 10;
    let text = fs::read(LOG).unwrap_or_default();
    let cut = text.len().saturating_sub(LAST);
    match cut > FIRST {
        false => String::from_utf8_lossy(&text).into_owned(),
        true => {
            let [first, last] = [&text[..FIRST], &text[cut..]].map(String::from_utf8_lossy);
            format!("{first}\n[...]\n{last}")
        }
    }
}
