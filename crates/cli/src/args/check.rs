//! `wastenot check`

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use wastenot_check::budget::Budget;
use wastenot_check::causes;
use wastenot_model::quantity::span;
use wastenot_model::{CpuSet, Silent, Span};

use super::input::{self, Reading};
use super::when::WindowArgs;

/// Report wasted CPU time: how much, when and where
#[derive(Args, Debug)]
#[command(after_help = "\
Waste is the time that CPUs were idle while tasks that could run there waited.
Prints what matters most, on one screen; --text prints all of it.

Exit codes: 0 success; 1 over --budget; 2 failure; 3 unknown from this trace.

Examples:
  wastenot check trace.dat
  wastenot check trace.dat --from 100ms --to 200ms --cpus 0-15
  wastenot check trace.dat --task 'make*' --longer-than 1ms
  wastenot check perf.data --budget 1% --json
  cat trace.dat | wastenot check -")]
pub(crate) struct Check {
    #[arg(value_name = "FILE", help = input::FILE)]
    pub(crate) file: PathBuf,
    /// Exit with 1 if more CPU time is wasted: 1% of known CPU time (`waste.share`), or 20ms
    /// (`waste.cpu_ns`)
    #[arg(long, value_name = "MAX")]
    pub(crate) budget: Option<Budget>,
    /// Also list the stretches of lost time with this cause, or one below it, longest first:
    /// scheduler/placement. Names: `wastenot list causes`
    #[arg(long, value_name = "CAUSE", value_parser = causes::node)]
    pub(crate) cause: Option<&'static str>,
    /// Assign no causes: a little faster
    #[arg(long, conflicts_with = "cause")]
    pub(crate) no_causes: bool,
    /// What migrations cost: by the [costs] of this scenario (TOML), as
    /// docs/reference/scenario.md says
    #[arg(long, value_name = "SCENARIO")]
    pub(crate) costs: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) face: Face,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
    #[command(flatten)]
    pub(crate) select: Select,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// Which CPUs and tasks of a trace.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Selection")]
pub(crate) struct Which {
    /// Only these CPUs: only idle time and waits on them count, and pictures have only their lines.
    /// A list such as 0-3,8
    #[arg(long, value_name = "LIST", value_parser = cpus)]
    pub(crate) cpus: Option<CpuSet>,
    /// Only these tasks: only their waits count, and in pictures all other tasks are grey. A name
    /// with * and ?, or a tid; may be repeated
    #[arg(long, value_name = "TASK")]
    pub(crate) task: Vec<String>,
}

/// What of a trace counts, and how.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Selection")]
pub(crate) struct Select {
    #[command(flatten)]
    pub(crate) which: Which,
    /// List only episodes and violations of at least this length; does not change totals
    #[arg(long, value_name = "TIME", value_parser = span)]
    pub(crate) longer_than: Option<Span>,
    /// State of a CPU without any switch: unknown or idle
    #[arg(long, value_name = "WHAT", default_value = "unknown", hide_possible_values = true)]
    pub(crate) silent_cpus: SilentCpus,
    /// Run queues are shared (sched_ext, a global queue): the CPU of a waiting task is nominal
    #[arg(long)]
    pub(crate) shared_queue: bool,
    /// Time allowed for a CPU to start the task that it was woken for
    #[arg(long, value_name = "TIME", value_parser = span, default_value = "1ms")]
    pub(crate) wake_grace: Span,
}

impl Select {
    /// Everything, as without any option.
    pub(crate) fn all(silent_cpus: SilentCpus) -> Select {
        Select {
            which: Which::default(),
            longer_than: None,
            silent_cpus,
            shared_queue: false,
            wake_grace: Span::ms(1),
        }
    }
}

/// How a report is shown.
#[derive(Args, Debug)]
pub(crate) struct Face {
    /// Print one JSON object (names: docs/reference)
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the whole report as plain text of 72 columns
    #[arg(long, conflicts_with = "json")]
    pub(crate) text: bool,
}

/// What silent CPUs are taken for.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum SilentCpus {
    /// Idle, busy, isolated or offline: not known
    Unknown,
    /// Idle all the time
    Idle,
}

impl From<SilentCpus> for Silent {
    fn from(silent: SilentCpus) -> Silent {
        match silent {
            SilentCpus::Unknown => Silent::Unknown,
            SilentCpus::Idle => Silent::Idle,
        }
    }
}

fn cpus(text: &str) -> Result<CpuSet, &'static str> {
    let cpus = CpuSet::parse(text).filter(|cpus| !cpus.is_empty());
    cpus.ok_or("expected a list of CPUs: 0-3,8")
}
