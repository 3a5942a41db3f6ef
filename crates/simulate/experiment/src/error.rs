//! Why there is no experiment.

use std::io;

use wastenot_model::Help;
use wastenot_sim::WrongSetting;

use crate::PACE;

/// Why there is no experiment.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No scheduler of this name, or it has no such tunable.
    #[error("{0}")]
    Scheduler(WrongSetting),
    /// The file of a policy cannot be read.
    #[error("cannot read the policy {file}: {}", in_words(error))]
    NoPolicy {
        /// As named.
        file: String,
        /// Why.
        error: io::Error,
    },
    /// The file of a profile cannot be read.
    #[error("cannot read the profile {file}: {}", in_words(error))]
    NoProfile {
        /// As named.
        file: String,
        /// Why.
        error: io::Error,
    },
    /// A profile with a fault.
    #[error("{0}")]
    Profile(wastenot_scenario::Error),
    /// A scenario that Wastenot wrote is refused.
    #[error("{0}")]
    Scenario(wastenot_scenario::Error),
    /// A policy that means nothing: its first fault.
    #[error("{at}: {code}: {what}")]
    Policy {
        /// File, line and column, both from 1.
        at: String,
        /// What `rota error` takes.
        code: &'static str,
        /// What is wrong, and how many other faults there are.
        what: String,
        /// What to write instead.
        help: String,
    },
    /// A policy that cannot be run with these parameters.
    #[error("{file}: {wrong}")]
    Parameter {
        /// As named.
        file: String,
        /// What is wrong.
        wrong: wastenot_rota::interpret::Error,
    },
    /// Steps of decisions that take no such time.
    #[error("{file}: the parameter `{name}` cannot be `{value}`")]
    Steps {
        /// As named.
        file: String,
        /// `steps`, or `pace`.
        name: String,
        /// As typed.
        value: String,
    },
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
        /// Deadlock or livelock.
        what: String,
        /// What to look at.
        help: String,
    },
    /// The scheduler of a run did what none may do, whatever the tasks are.
    #[error("variant `{variant}`, seed {seed}: {what}")]
    Wrong {
        /// Whose.
        variant: String,
        /// Which.
        seed: u64,
        /// What it did.
        what: String,
        /// What to look at.
        help: String,
    },
    /// A real-time scheduler, and tasks that are not sporadic.
    #[error("variant `{variant}` under {scheduler}: {what}")]
    NotSporadic {
        /// Whose.
        variant: String,
        /// The scheduler.
        scheduler: &'static str,
        /// What is not.
        what: String,
        /// What to write instead.
        help: String,
    },
    /// The History does not tell what its tasks had to do.
    #[error("{0}")]
    Extract(wastenot_scenario::Error),
    /// The work of a History came to no good end under another scheduler.
    #[error("the replay under {scheduler} failed: {what}")]
    Replay {
        /// The scheduler.
        scheduler: String,
        /// Deadlock, livelock, or a fault of the policy.
        what: String,
        /// What to look at.
        help: String,
    },
    /// Nothing tells which scheduler is a model of the one that ran.
    #[error("wastenot has no model of the scheduler in the trace: {what}")]
    NoModel {
        /// Why.
        what: String,
    },
    /// A bench cannot run a variant, or not at all.
    #[error("{what}")]
    Bench {
        /// What it cannot do, and why.
        what: String,
        /// What to do about it.
        help: String,
    },
    /// Results cannot be kept.
    #[error("{0}")]
    Store(#[from] wastenot_host::store::Error),
}

impl Help for Error {
    fn help(&self) -> std::borrow::Cow<'_, str> {
        match self {
            Error::Scheduler(wrong) => wrong.help(),
            Error::NoPolicy { .. } => "give a file that ends in .rota, for example one from \
                                       policies/"
                .into(),
            Error::NoProfile { .. } => {
                "give a profile file (TOML, see docs/reference/profile.md)".into()
            }
            Error::Policy { help, .. } => help.into(),
            Error::Parameter { wrong, .. } => wrong.help(),
            Error::Steps { name, .. } if name == PACE => {
                "set the tunable `pace` to `even` or `varied`, and also set the tunable `steps`"
                    .into()
            }
            Error::Steps { .. } => "set `steps` to the time of the longest step of a decision, at \
                                    most 1 ms, for example `20us`"
                .into(),
            Error::Variant { known, .. } => {
                format!("use one of the variants {}", known.join(", ")).into()
            }
            Error::NoModel { .. } => "choose a model: `--scheduler cfs-6.1`, or a policy file \
                                      FILE.rota"
                .into(),
            Error::Extract(error) | Error::Profile(error) | Error::Scenario(error) => error.help(),
            Error::Store(error) => error.help(),
            Error::Run { help, .. }
            | Error::Wrong { help, .. }
            | Error::Bench { help, .. }
            | Error::NotSporadic { help, .. }
            | Error::Replay { help, .. } => help.into(),
        }
    }
}

fn in_words(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file",
        io::ErrorKind::PermissionDenied => "permission denied",
        io::ErrorKind::IsADirectory => "the path is a directory",
        _ => "the file cannot be read",
    }
}
