//! Errors in the description of a machine, a workload or a task set.

use wastenot_model::machine::Profile;
use wastenot_model::machine::draft::TooLarge;
use wastenot_model::{CpuId, Help, shortened};

/// Why a machine, workload or task set could not be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No preset has this name.
    #[error("there is no machine `{name}`{}", nearest.map(|n| format!("; did you mean `{n}`?")).unwrap_or_default())]
    UnknownPreset {
        /// As the user typed it.
        name: String,
        /// The preset with the nearest name, if one is near.
        nearest: Option<&'static str>,
        /// The forms of all presets.
        known: Vec<String>,
    },
    /// No profile has this name.
    #[error("there is no profile `{name}`{}", nearest.map(|n| format!("; did you mean `{n}`?")).unwrap_or_default())]
    UnknownProfile {
        /// As the user typed it.
        name: String,
        /// The profile with the nearest name, if one is near.
        nearest: Option<&'static str>,
    },
    /// A preset was given the wrong arguments.
    #[error("the arguments of the machine `{text}` are wrong: write {usage}")]
    Arguments {
        /// As the user typed it.
        text: String,
        /// The valid forms.
        usage: String,
    },
    /// A synthetic description cannot be read.
    #[error("the machine description `{text}` is invalid: {why} (at character {at})")]
    Synthetic {
        /// As the user typed it.
        text: String,
        /// Offset in characters.
        at: usize,
        /// The error at that offset.
        why: String,
    },
    /// More CPUs or nodes than a History may hold.
    #[error("the machine `{what}` has more than {} \
             {unit}", if *unit == "CPUs" { CpuId::LIMIT } else { crate::NODE_LIMIT })]
    TooLarge {
        /// The description or file.
        what: String,
        /// `CPUs` or `nodes`.
        unit: &'static str,
    },
    /// A file has none of the known formats.
    #[error("{file}: the file does not describe a machine in a known format")]
    Unrecognised {
        /// The file.
        file: String,
    },
    /// A file has a known format but is broken.
    #[error("{file}: {form}: {why}{}", line.map(|l| format!(" (line {l})")).unwrap_or_default())]
    Broken {
        /// The file.
        file: String,
        /// Its format: `hwloc XML`, `lscpu -p`, `/sys snapshot`.
        form: &'static str,
        /// The line, counted from 1, if it is known.
        line: Option<usize>,
        /// The error at that line.
        why: String,
    },
    /// An error in a scenario, or in a workload of another tool.
    #[error("{file}:{line}: {what}")]
    Wrong {
        /// The file.
        file: String,
        /// Line, counted from 1.
        line: usize,
        /// The error at that line.
        what: String,
        /// What to write instead.
        help: String,
    },
    /// An error in a setting that replaces a scenario's own ([`crate::scenario::Instead`]).
    #[error("--set {setting}: {what}")]
    Setting {
        /// `NAME=VALUE`.
        setting: String,
        /// The error in it.
        what: String,
        /// What to set.
        help: String,
    },
    /// A History lacks what is needed to extract the tasks' work.
    #[error("cannot extract the workload: {what}")]
    NoWork {
        /// What the History lacks.
        what: String,
        /// How to obtain it.
        help: String,
    },
    /// A task set with these properties cannot be made.
    #[error("{what}")]
    TaskSets {
        /// The error.
        what: String,
        /// What to write instead.
        help: String,
    },
}

impl Error {
    /// `what` describes too large a machine.
    pub(crate) fn too_large(what: &str) -> impl Fn(TooLarge) -> Error {
        move |TooLarge(unit)| Error::TooLarge { what: shortened(what), unit }
    }
}

impl Help for Error {
    fn help(&self) -> std::borrow::Cow<'_, str> {
        match self {
            Error::UnknownPreset { known, .. } => format!(
                "give a preset ({}), an hwloc description such as \"pack:2 core:4 pu:2\", or a \
                 path: a file from `lstopo FILE.xml` or `lscpu -p`, or the folder /sys",
                known.join(", ")
            ),
            Error::UnknownProfile { .. } => {
                let known = Profile::NAMED.map(|(known, _)| known);
                format!("use {}, or a file (docs/reference/profile.md)", known.join(", "))
            }
            Error::Arguments { .. } => {
                return "give numbers from 1 upwards, for example `flat(2,8)`".into();
            }
            Error::Synthetic { text, .. } => format!(
                "write the levels from the largest to the smallest, with pu last, and check them \
                 with `lstopo -i \"{text}\"`"
            ),
            Error::TooLarge { .. } => return "describe a smaller machine".into(),
            Error::Wrong { help, .. }
            | Error::Setting { help, .. }
            | Error::NoWork { help, .. }
            | Error::TaskSets { help, .. } => return help.into(),
            Error::Unrecognised { .. } | Error::Broken { .. } => format!(
                "create a description with `lstopo FILE.xml`, `lscpu -p > FILE` or `{} > FILE`",
                crate::SYS_COMMAND
            ),
        }
        .into()
    }
}
