//! A command that runs while wastenot records or schedules. Its signals and its exit code pass
//! through.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{self, Command};

use rustix::process::{Pid, Signal, kill_process};

use crate::fail::{Stop, reason};

/// A running command.
#[derive(Debug)]
pub(crate) struct Child {
    process: process::Child,
    ended: Option<u8>,
}

/// How a command is run.
pub(crate) type Spawn = fn(&[OsString]) -> io::Result<process::Child>;

/// The exit code for a failure of wastenot itself, as in env(1) and timeout(1).
pub(crate) const OWN_FAILURE: u8 = 125;

/// Runs a command unchanged.
pub(crate) fn spawn(words: &[OsString]) -> io::Result<process::Child> {
    let (name, arguments) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    Command::new(name).args(arguments).spawn()
}

impl Child {
    /// Runs `words`.
    pub(crate) fn begin(words: &[OsString], spawn: Spawn) -> Result<Child, Stop> {
        let name = words.first().expect("a command has a word");
        let process = spawn(words).map_err(|error| {
            let code = if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 };
            let what = format!("cannot run {}: {}", name.display(), reason(&error));
            Stop::new(what, "give a program after `--`, with its path if necessary").or_code(code)
        })?;
        Ok(Child { process, ended: None })
    }

    /// The exit code of the command once it has ended: 128 + N after signal N.
    pub(crate) fn ended(&mut self) -> Option<u8> {
        if self.ended.is_none() {
            self.ended = match self.process.try_wait() {
                Ok(None) => None,
                Ok(Some(status)) => Some(match (status.code(), status.signal()) {
                    (Some(code), _) => code as u8,
                    (None, signal) => 128 + signal.unwrap_or(0) as u8,
                }),
                // Another part of the program waited for the process.
                Err(_) => Some(OWN_FAILURE),
            };
        }
        self.ended
    }

    /// Sends a signal to the command.
    pub(crate) fn signal(&self, signal: i32) {
        if let (Some(pid), Some(signal)) =
            (Pid::from_raw(self.process.id() as i32), Signal::from_named_raw(signal))
        {
            // The command may have ended meanwhile.
            let _ = kill_process(pid, signal);
        }
    }
}
