//! What may be wrong with what a user calls a machine, a workload or a task set.

use wastenot_model::CpuId;
use wastenot_model::machine::Profile;

/// Why no machine, workload or task set could be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No preset has this name.
    #[error("there is no machine `{name}`{}", nearest.map(|n| format!("; nearest is `{n}`")).unwrap_or_default())]
    UnknownPreset {
        /// As typed.
        name: String,
        /// The preset whose name is nearest, if one is near.
        nearest: Option<&'static str>,
    },
    /// No profile has this name.
    #[error("there is no profile `{name}`{}", nearest.map(|n| format!("; nearest is `{n}`")).unwrap_or_default())]
    UnknownProfile {
        /// As typed.
        name: String,
        /// The profile whose name is nearest, if one is near.
        nearest: Option<&'static str>,
    },
    /// A preset was given the wrong arguments.
    #[error("`{text}`: write {usage}")]
    Arguments {
        /// As typed.
        text: String,
        /// The forms that it has.
        usage: String,
    },
    /// A synthetic description cannot be read.
    #[error("synthetic machine `{text}`: {why} (character {at})")]
    Synthetic {
        /// As typed.
        text: String,
        /// Offset in characters.
        at: usize,
        /// What is wrong there.
        why: String,
    },
    /// More CPUs or nodes than a History may hold.
    #[error("`{what}` is a machine of more than {} {unit}", if *unit == "CPUs" { CpuId::LIMIT } else { crate::NODE_LIMIT })]
    TooLarge {
        /// The description or file.
        what: String,
        /// `CPUs` or `nodes`.
        unit: &'static str,
    },
    /// A file is none of the forms that are understood.
    #[error("{file}: not a description of a machine")]
    Unrecognised {
        /// The file.
        file: String,
    },
    /// A file is of a known form, and broken.
    #[error("{file}: {form}: {why}{}", line.map(|l| format!(" (line {l})")).unwrap_or_default())]
    Broken {
        /// The file.
        file: String,
        /// Its form: `hwloc XML`, `lscpu -p`, `/sys snapshot`.
        form: &'static str,
        /// Line, counted from 1, where it is known.
        line: Option<usize>,
        /// What is wrong there.
        why: String,
    },
    /// A scenario, or a workload of another tool, is wrong.
    #[error("{file}:{line}: {what}")]
    Wrong {
        /// The file.
        file: String,
        /// Line, counted from 1.
        line: usize,
        /// What is wrong there.
        what: String,
        /// What to write instead.
        help: String,
    },
    /// What was set in place of a scenario's own ([`crate::scenario::Instead`]) is wrong.
    #[error("--set {setting}: {what}")]
    Setting {
        /// `NAME=VALUE`.
        setting: String,
        /// What is wrong with it.
        what: String,
        /// What to set.
        help: String,
    },
    /// A History does not tell what tasks had to do.
    #[error("no work can be taken out: {what}")]
    NoWork {
        /// What it lacks.
        what: String,
        /// How to get it.
        help: String,
    },
    /// No task set can be made like that.
    #[error("{what}")]
    TaskSets {
        /// What is wrong.
        what: String,
        /// What to write instead.
        help: String,
    },
}

impl Error {
    /// What to do next.
    pub fn help(&self) -> String {
        match self {
            Error::UnknownPreset { .. } => format!(
                "give a preset ({}), an hwloc description such as \"pack:2 core:4 pu:2\", or a \
                 file from `lstopo FILE.xml`, `lscpu -p` or /sys",
                crate::preset::usages().join(", ")
            ),
            Error::UnknownProfile { .. } => {
                let known = Profile::NAMED.map(|(known, _)| known);
                format!("profiles are {}, or a file (docs/profile.md)", known.join(", "))
            }
            Error::Arguments { .. } => "the numbers count from 1: `flat(2,8)`".into(),
            Error::Synthetic { text, .. } => format!(
                "write levels from wide to narrow, the last being pu, and compare with `lstopo -i \
                 \"{text}\"`"
            ),
            Error::TooLarge { .. } => "describe fewer".into(),
            Error::Wrong { help, .. }
            | Error::Setting { help, .. }
            | Error::NoWork { help, .. }
            | Error::TaskSets { help, .. } => help.clone(),
            Error::Unrecognised { .. } | Error::Broken { .. } => format!(
                "make one with `lstopo FILE.xml`, `lscpu -p > FILE` or `{} > FILE`",
                crate::sys::COMMAND
            ),
        }
    }
}

/// What a user typed, short enough for a message.
pub(crate) fn shown(text: &str) -> String {
    const CHARS: usize = 100;
    match text.char_indices().nth(CHARS) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.into(),
    }
}
