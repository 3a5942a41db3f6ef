//! The length of a recording or of a deployment: until a signal, a time, or the end of a process,
//! cgroup or command.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use signal_hook::consts::SIGCHLD;
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::origin::WithOrigin;
use signal_hook::low_level::siginfo::Cause;
use signal_hook::low_level::signal_name;
use wastenot_host::Cgroup;
use wastenot_model::Span;

use super::child::{self, Child, Spawn};
use crate::args::record::Record;
use crate::fail::{Answer, Stop, reason};
use crate::verbs::signals;

/// The interval between two checks for the end.
pub(crate) const TURN: Duration = Duration::from_millis(100);

/// The requested end: the end of a subject, or a time, whichever comes first.
#[derive(Debug)]
pub(crate) struct Length {
    subject: Asked,
    most: Option<Duration>,
}

#[derive(Debug)]
enum Asked {
    Signal,
    Process(OwnedFd),
    Cgroup(Cgroup),
    Command(Vec<OsString>, Spawn),
}

/// The signals that arrived and were not handled yet.
pub(crate) type Signals = SignalsInfo<WithOrigin>;

/// A recording or deployment that runs until its end.
pub(crate) struct Running {
    signals: Signals,
    subject: Subject,
    /// Another signal that ends it.
    trigger: Option<i32>,
    told_to_end: bool,
    /// The end of the requested time.
    until: Option<Instant>,
    /// The end after a trigger fired.
    end: Option<Instant>,
}

enum Subject {
    None,
    Process(OwnedFd),
    Cgroup(Cgroup),
    Command(Child),
}

impl Length {
    /// The length that `args` request. Fails if the process or the cgroup does not exist.
    pub(crate) fn of(args: &Record) -> Result<Length, Stop> {
        let subject = match (args.pid, &args.cgroup) {
            (Some(pid), _) => Asked::Process(process(pid)?),
            (_, Some(path)) => Asked::Cgroup(cgroup(path)?),
            _ => return Ok(Length::of_command(&args.command, child::spawn, args.span)),
        };
        Ok(Length { subject, most: args.span.map(duration) })
    }

    /// Until the command ends, or without a command until a signal arrives. `most` is the longest
    /// time.
    pub(crate) fn of_command(words: &[OsString], spawn: Spawn, most: Option<Span>) -> Length {
        let subject = match words {
            [] => Asked::Signal,
            words => Asked::Command(words.to_vec(), spawn),
        };
        Length { subject, most: most.map(duration) }
    }

    /// From now on, signals do not end the process at once. The signal `trigger` is handled, too.
    pub(crate) fn listen(&self, trigger: Option<i32>) -> Result<Signals, Stop> {
        let mut heard = match self.subject {
            Asked::Command(..) => signals::of_a_command(),
            _ => signals::ends(),
        };
        heard.push(SIGCHLD);
        heard.extend(trigger);
        SignalsInfo::new(heard)
            .map_err(|error| Stop::io("cannot listen for signals", &error, "run `wastenot doctor`"))
    }

    /// Starts the time and the command. The signal `trigger` also ends the recording.
    pub(crate) fn begin(self, mut signals: Signals, trigger: Option<i32>) -> Result<Running, Stop> {
        let mut told_to_end = false;
        for origin in signals.pending() {
            if signals::ENDS.contains(&origin.signal) {
                return Err(too_early(origin.signal));
            }
            told_to_end |= Some(origin.signal) == trigger;
        }
        let until = self.most.map(|span| Instant::now() + span);
        let subject = match self.subject {
            Asked::Signal => Subject::None,
            Asked::Process(process) => Subject::Process(process),
            Asked::Cgroup(cgroup) => Subject::Cgroup(cgroup),
            Asked::Command(words, spawn) => Subject::Command(Child::begin(&words, spawn)?),
        };
        Ok(Running { signals, subject, trigger, told_to_end, until, end: None })
    }
}

impl Running {
    /// Whether the end is reached.
    pub(crate) fn is_over(&mut self) -> bool {
        self.listen();
        self.told_to_end
            || self.until.into_iter().chain(self.end).any(|end| Instant::now() >= end)
            || match &mut self.subject {
                Subject::None => false,
                Subject::Process(process) => has_ended(process),
                Subject::Cgroup(cgroup) => cgroup.is_empty(),
                Subject::Command(child) => child.ended().is_some(),
            }
    }

    fn listen(&mut self) {
        for origin in self.signals.pending() {
            match &self.subject {
                _ if origin.signal == SIGCHLD => {}
                _ if Some(origin.signal) == self.trigger => self.told_to_end = true,
                // The terminal also sends its signals to the command.
                Subject::Command(_) if origin.cause == Cause::Kernel => {}
                Subject::Command(child) => child.signal(origin.signal),
                _ => self.told_to_end = true,
            }
        }
    }

    /// Ends after `span`, unless an end is set already. Returns whether it set the end.
    pub(crate) fn end_after(&mut self, span: Duration) -> bool {
        let first = self.end.is_none();
        self.end.get_or_insert(Instant::now() + span);
        first
    }

    /// Whether there is a command.
    pub(crate) fn has_command(&self) -> bool {
        matches!(self.subject, Subject::Command(_))
    }

    /// Whether the command still runs.
    pub(crate) fn has_command_left(&mut self) -> bool {
        match &mut self.subject {
            Subject::Command(child) => child.ended().is_none(),
            _ => false,
        }
    }

    /// The answer at the end. It waits for a command that still runs.
    pub(crate) fn answer(&mut self) -> Answer {
        loop {
            self.listen();
            match &mut self.subject {
                Subject::Command(child) => match child.ended() {
                    Some(code) => return Answer::OfCommand(code),
                    None => thread::sleep(TURN),
                },
                _ => return Answer::Yes,
            }
        }
    }
}

fn duration(span: Span) -> Duration {
    Duration::from_nanos(span.0)
}

/// The exit code is the one that the signal causes by default.
fn too_early(signal: i32) -> Stop {
    let name = signal_name(signal).unwrap_or("a signal");
    let what = format!("received {name} before the start");
    let help = "try again; nothing was done, and no command was run";
    Stop::new(what, help).or_code(128 + signal as u8)
}

fn process(pid: u32) -> Result<OwnedFd, Stop> {
    let known = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let opened = known.ok_or(rustix::io::Errno::SRCH);
    opened.and_then(|pid| pidfd_open(pid, PidfdFlags::empty())).map_err(|error| {
        let why = reason(&io::Error::from(error));
        Stop::new(format_args!("--pid {pid}: {why}"), "list processes with `pgrep -a NAME`")
    })
}

fn has_ended(process: &OwnedFd) -> bool {
    let mut asked = [PollFd::new(process, PollFlags::IN)];
    poll(&mut asked, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}

fn cgroup(path: &Path) -> Result<Cgroup, Stop> {
    Cgroup::find(path).ok_or_else(|| {
        Stop::new(
            format_args!("--cgroup {}: this cgroup does not exist", path.display()),
            "list cgroups with `systemd-cgls`",
        )
    })
}
