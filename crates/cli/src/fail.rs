//! The end of a verb: an answer, or an error of two lines. Only this file sets exit codes.

use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

pub(crate) use wastenot_host::reason;
use wastenot_model::{Help, printable};

/// The answer of a verb, which determines the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Answered: 0.
    Yes,
    /// The answer is no, or a bound is exceeded: 1.
    No,
    /// The trace lacks the information for an answer: 3.
    CannotTell,
    /// The exit code of the command that ran.
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

/// The exit code of errors.
const FAILED: u8 = 2;

/// The reason for the lack of an answer.
#[derive(Debug)]
pub(crate) enum Stop {
    /// An error: two lines on stderr. The exit code is 2 unless `code` is another one.
    Failure { what: String, help: String, code: u8 },
    /// The reader of the output closed the pipe (`| head`): no message, exit code 0.
    Pipe,
}

impl Stop {
    /// An error: the fault and its place, and the command or action that helps.
    pub(crate) fn new(what: impl Display, help: impl Display) -> Stop {
        Stop::Failure { what: what.to_string(), help: help.to_string(), code: FAILED }
    }

    /// Sets the exit code of an error, unless another code is set already.
    pub(crate) fn or_code(self, own: u8) -> Stop {
        match self {
            Stop::Failure { what, help, code: FAILED } => Stop::Failure { what, help, code: own },
            other => other,
        }
    }

    /// An error of the system while `doing` something. A closed pipe prints nothing.
    pub(crate) fn io(doing: impl Display, error: &io::Error, help: impl Display) -> Stop {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Stop::Pipe,
            _ => Stop::new(format_args!("{doing}: {}", reason(error)), help),
        }
    }

    /// Prints the error on stderr.
    pub(crate) fn say(&self) -> ExitCode {
        match self {
            Stop::Pipe => ExitCode::SUCCESS,
            Stop::Failure { what, help, code } => {
                let (what, help) = (printable(what), printable(help));
                let text = format!("wastenot: error: {what}\nhelp: {help}\n");
                // If stderr is closed, no reader is left.
                let _ = io::stderr().write_all(text.as_bytes());
                ExitCode::from(*code)
            }
        }
    }
}

impl<E: Help> From<E> for Stop {
    fn from(error: E) -> Stop {
        Stop::new(&error, error.help())
    }
}
