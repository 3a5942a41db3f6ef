//! Why a trace could not be read at all. A trace read in part has a Loss, not an error.

use thiserror::Error as ThisError;
use wastenot_model::Help;

/// A failure to read, with its reason and place.
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// The source has no bytes.
    #[error("the file is empty")]
    Empty,
    /// No format recognised the beginning.
    #[error("the file is not a trace in a known format{}", .looks.map(|l| format!(": it is {l}")).unwrap_or_default())]
    Unrecognised {
        /// What it seems to be instead.
        looks: Option<&'static str>,
    },
    /// A known format in an unknown version.
    #[error("{format}: wastenot cannot read version {version} of this format")]
    Version {
        /// The format.
        format: &'static str,
        /// The version the file states.
        version: String,
    },
    /// The head is damaged, so that nothing can be read.
    #[error("{format}: {what} (at byte {offset})")]
    Damaged {
        /// The format.
        format: &'static str,
        /// What is wrong.
        what: String,
        /// The byte offset.
        offset: usize,
    },
    /// The trace holds no scheduling events.
    #[error("{format}: the file contains no scheduling events ({what})")]
    NoEvents {
        /// The format.
        format: &'static str,
        /// What is there instead.
        what: String,
    },
    /// The trace lacks something without which its events cannot be interpreted.
    #[error("{format}: {what}")]
    Unusable {
        /// The format.
        format: &'static str,
        /// What is missing.
        what: String,
        /// How to record one that has it.
        help: &'static str,
    },
    /// The source could not be read.
    #[error("cannot read the file: {0}")]
    Io(std::io::Error),
    /// The output could not be written.
    #[error("cannot write the file: {0}")]
    Write(std::io::Error),
}

impl Help for Error {
    fn help(&self) -> std::borrow::Cow<'_, str> {
        match self {
            Error::Empty => "check that the recorder ended normally, then record again",
            Error::Unrecognised { .. } => {
                "give a trace.dat, perf.data, Perfetto or .wn file, or the text of ftrace, \
                 `trace-cmd report` or `perf script`; `wastenot doctor` prints a command that \
                 records one"
            }
            Error::Version { .. } => {
                "convert the file with the tool that recorded it, for example `trace-cmd convert \
                 --file-version 7`"
            }
            Error::Damaged { .. } => "copy the file again, or record again",
            Error::NoEvents { .. } => {
                "record with -e sched_switch -e sched_waking -e sched_wakeup; `wastenot doctor` \
                 prints the whole command"
            }
            Error::Write(_) => "check the path, its permissions and the free disk space",
            Error::Unusable { help, .. } => help,
            Error::Io(_) => "check the path and its permissions",
        }
        .into()
    }
}
