//! Why there is no answer.

use wastenot_bounds::overheads::{Beyond, Twice};
use wastenot_model::Help;
use wastenot_model::report::counted;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// CPUs cannot be divided into such clusters.
    #[error("{cpus} CPUs cannot be divided into clusters of {size} CPUs")]
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
        "{file}: the table of overheads is for {whose}, not for {name} on {}",
        counted(*cpus, "CPU")
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
    #[error("{file}: the table of overheads has no averages")]
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
    #[error("`--cpus` requests {asked} CPUs, but this process may use {count}")]
    Crowd {
        /// The request.
        asked: usize,
        /// How many it may use.
        count: usize,
        /// Which.
        list: String,
    },
    /// What is to be measured takes two CPUs.
    #[error(
        "messages and cache lines cannot be measured on one CPU, because one CPU writes and \
         another CPU reads"
    )]
    TwoCpus {
        /// How many this process may use.
        count: usize,
    },
}

impl Help for Error {
    fn help(&self) -> std::borrow::Cow<'_, str> {
        match self {
            Error::Clusters { .. } => "choose a `--cluster` that divides `--cpus`",
            Error::NoCpu { help, .. } => help,
            Error::Stranger { .. } => {
                "use a table for this implementation; `wastenot bounds overheads` simulates one. \
                 If your table is valid for this implementation, remove its columns \
                 `implementation` and `cpus`"
            }
            Error::Twice { .. } => "remove one of the two values",
            Error::Averages { .. } => "add a column `average_us`, or set `criteria = [\"hard\"]`",
            Error::Beyond { beyond, .. } => match (beyond.is_size, beyond.at) {
                (true, 0) => {
                    "set `wss_kb` for each task in the file of tasks, or extrapolate with \
                     `--extrapolate`"
                }
                _ => "measure the overhead at this point, or extrapolate with `--extrapolate`",
            },
            Error::Draw { error, .. } => return error.help(),
            Error::Store(error) => return error.help(),
            Error::Measure(_) => {
                "run the command outside a container, because a container may forbid a thread to \
                 choose its CPU"
            }
            Error::Crowd { count, list, .. } => {
                let cpus = counted(*count, "CPU");
                return format!(
                    "use at most {cpus} ({list}), or allow the process more CPUs with `taskset` \
                     or cpusets"
                )
                .into();
            }
            Error::TwoCpus { count: 1 } => {
                "allow the process two CPUs, or remove `--design` to measure the other designs"
            }
            Error::TwoCpus { .. } => "use `--cpus 2` or more",
        }
        .into()
    }
}

/// Where an overhead is needed that was not measured, in a sentence on the file.
pub(crate) fn words(beyond: &Beyond) -> String {
    let Beyond { kind, at, first, last, is_size } = beyond;
    let (unit, here) = match is_size {
        true => ("KiB", format!("a task has a working set of {at} KiB")),
        false => ("tasks", format!("the task set has {at}")),
    };
    let range = if first == last { format!("{first}") } else { format!("{first} to {last}") };
    format!("{kind} was measured at {range} {unit}, but {here}")
}
