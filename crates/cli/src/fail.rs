//! How a run ends: an answer, or a failure of two lines. Nothing else decides an exit code.

use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

pub(crate) use wastenot_host::reason;
use wastenot_model::printable;

/// What a verb answers; its exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Answered: 0.
    Yes,
    /// The answer is no, a stated bound is exceeded: 1.
    No,
    /// The trace cannot tell: 3.
    CannotTell,
    /// Whatever the command that was recorded answered.
    OfCommand(u8),
}

impl Answer {
    pub(crate) fn code(self) -> ExitCode {
        ExitCode::from(match self {
            Answer::Yes => 0,
            Answer::No => 1,
            Answer::CannotTell => 3,
            Answer::OfCommand(code) => code,
        })
    }
}

/// What misuse and failure exit with.
const FAILED: u8 = 2;

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum Stop {
    /// Wastenot failed or was misused: two lines on stderr, 2 unless said otherwise.
    Failure { what: String, help: String, code: u8 },
    /// Whoever read our output has seen enough (`| head`): quiet, 0.
    Pipe,
}

impl Stop {
    /// A failure: what went wrong and where, and the command that helps.
    pub(crate) fn new(what: impl Display, help: impl Display) -> Stop {
        Stop::Failure { what: what.to_string(), help: help.to_string(), code: FAILED }
    }

    /// The same with an exit code of its own, unless it has one.
    pub(crate) fn or_code(self, own: u8) -> Stop {
        match self {
            Stop::Failure { what, help, code: FAILED } => Stop::Failure { what, help, code: own },
            other => other,
        }
    }

    /// A failure of the system while `doing` something; a closed pipe stays quiet.
    pub(crate) fn io(doing: impl Display, error: &io::Error, help: impl Display) -> Stop {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Stop::Pipe,
            _ => Stop::new(format_args!("{doing}: {}", reason(error)), help),
        }
    }

    /// Says it on stderr.
    pub(crate) fn say(&self) -> ExitCode {
        match self {
            Stop::Pipe => ExitCode::SUCCESS,
            Stop::Failure { what, help, code } => {
                let (what, help) = (printable(what), printable(help));
                let text = format!("wastenot: error: {what}\nhelp: {help}\n");
                // Where stderr is closed there is nobody left to tell.
                let _ = io::stderr().write_all(text.as_bytes());
                ExitCode::from(*code)
            }
        }
    }
}
