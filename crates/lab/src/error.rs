//! Why there is no experiment.

use std::io;
use std::path::PathBuf;

use wastenot_sim::WrongSetting;

/// Why there is no experiment.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No scheduler of this name, or it has no such switch.
    #[error("{0}")]
    Scheduler(WrongSetting),
    /// The scenario has no such variant.
    #[error("there is no variant `{name}`")]
    Variant {
        /// As typed.
        name: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// A run came to no good end.
    #[error("variant `{variant}`, seed {seed}: {what}")]
    Run {
        /// Whose.
        variant: String,
        /// Which.
        seed: u64,
        /// Deadlock, livelock, or a fault of the policy.
        what: String,
        /// What to look at.
        help: String,
    },
    /// The file of results cannot be read or written.
    #[error("{}: {error}", file.display())]
    Store {
        /// Which.
        file: PathBuf,
        /// Why.
        error: io::Error,
    },
}

impl Error {
    /// What to do next.
    pub fn help(&self) -> String {
        match self {
            Error::Scheduler(wrong) => wrong.help().to_owned(),
            Error::Variant { known, .. } => format!("its variants are {}", known.join(", ")),
            Error::Run { help, .. } => help.clone(),
            Error::Store { .. } => "name another file, or none".into(),
        }
    }
}
