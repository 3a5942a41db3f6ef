//! Why there is no answer.

use wastenot_bounds::overheads::{Beyond, Twice};

use crate::overheads::words;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// CPUs cannot be divided into such clusters.
    #[error("{cpus} CPUs cannot be divided into clusters of {size}")]
    Clusters {
        /// All of them.
        cpus: u32,
        /// Of a cluster.
        size: u32,
    },
    /// The implementation takes all CPUs for itself.
    #[error("{name} leaves no CPU for tasks")]
    NoCpu {
        /// The implementation.
        name: &'static str,
        /// What to do.
        help: &'static str,
    },
    /// A table states that it is for something else.
    #[error(
        "{file}: the table is for {whose}, not for {name} on {cpus} CPU{}",
        if *cpus == 1 { "" } else { "s" }
    )]
    Stranger {
        /// The table.
        file: String,
        /// What it is for.
        whose: String,
        /// The implementation.
        name: &'static str,
        /// CPUs of the machine, or of a cluster.
        cpus: u32,
    },
    /// A kind of overhead was measured twice at one place.
    #[error("{file}: {kind}: {twice}")]
    Twice {
        /// The table.
        file: String,
        /// Of which kind.
        kind: &'static str,
        /// Where.
        twice: Twice,
    },
    /// A table has no averages.
    #[error("{file} has no averages")]
    Averages {
        /// The table.
        file: String,
    },
    /// An overhead is needed that was not measured.
    #[error("{file}: {}{}", words(beyond), place)]
    Beyond {
        /// The table.
        file: String,
        /// Where.
        beyond: Beyond,
        /// In which cluster, in words.
        place: String,
    },
    /// The sets of a point cannot be made.
    #[error("{point}: {error}")]
    Draw {
        /// The point.
        point: String,
        /// Why.
        error: wastenot_scenario::Error,
    },
    /// Results cannot be kept.
    #[error("{0}")]
    Store(#[from] wastenot_host::store::Error),
    /// Nothing can be measured.
    #[error("{0}")]
    Measure(#[from] wastenot_measure::Error),
    /// More CPUs are requested than this process may use.
    #[error("{asked} CPUs are requested, but this process may use {count}")]
    Crowd {
        /// The request.
        asked: usize,
        /// How many it may use.
        count: usize,
        /// Which.
        list: String,
    },
    /// What is to be measured takes two CPUs.
    #[error("messages and lines need two CPUs: one writes, the other reads")]
    TwoCpus {
        /// How many this process may use.
        count: usize,
    },
}

impl Error {
    /// What to do next.
    pub fn help(&self) -> String {
        match self {
            Error::Clusters { .. } => "`--cluster` must divide `--cpus`".into(),
            Error::NoCpu { help, .. } => (*help).into(),
            Error::Stranger { .. } => {
                "use a table for that (`wastenot bounds overheads` simulates \
                                       one), or remove its columns `implementation` and `cpus` if \
                                       it is valid there, too"
                    .into()
            }
            Error::Twice { .. } => "leave one out".into(),
            Error::Averages { .. } => {
                "add a column `average_us`, or set `criteria = [\"hard\"]`".into()
            }
            Error::Beyond { beyond, .. } => match (beyond.is_size, beyond.at) {
                (true, 0) => "give each task its wss_kb, or extrapolate: `--extrapolate`".into(),
                _ => "measure there, or extrapolate: `--extrapolate`".into(),
            },
            Error::Draw { error, .. } => error.help(),
            Error::Store(error) => error.help().into(),
            Error::Measure(_) => "containers may forbid it: run outside a container".into(),
            Error::Crowd { count, list, .. } => {
                let s = if *count == 1 { "" } else { "s" };
                format!("use at most {count} CPU{s} ({list}), or allow it more: `taskset`, cpusets")
            }
            Error::TwoCpus { count: 1 } => {
                "this process may use one; remove `--design` to measure the other designs".into()
            }
            Error::TwoCpus { .. } => "use `--cpus 2` or more".into(),
        }
    }
}
