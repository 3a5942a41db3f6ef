//! `wastenot check`

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use wastenot_check::budget::Budget;
use wastenot_check::causes;
use wastenot_model::quantity::span;
use wastenot_model::{CpuSet, Report, Silent, Span};

use super::input::{self, Reading};
use super::when::WindowArgs;
use crate::fail::Stop;
use crate::out;

/// Report wasted CPU time: how much, when and where
#[derive(Args, Debug)]
#[command(after_help = "\
CPU time is wasted while a CPU is idle and a task that could run on it waits for
another CPU. By default, `check` prints the most important results on one
screen. --text prints the whole report.

Exit codes: 0 success; 1 the waste exceeds --budget; 2 failure; 3 the trace
lacks the information that --budget needs.

Examples:
  wastenot check trace.dat
  wastenot check trace.dat --from 100ms --to 200ms --cpus 0-15
  wastenot check trace.dat --task 'make*' --longer-than 1ms
  wastenot check perf.data --budget 1% --json
  cat trace.dat | wastenot check -")]
pub(crate) struct Check {
    #[arg(value_name = "FILE", help = input::FILE)]
    pub(crate) file: PathBuf,
    /// Exit with 1 if more than MAX is wasted: a share of the known CPU time (1%, compared with
    /// waste.share) or a time (20ms, compared with waste.cpu_ns)
    #[arg(long, value_name = "MAX")]
    pub(crate) budget: Option<Budget>,
    /// Also list, longest first, each stretch of time that was lost because of this cause or of a
    /// cause below it in the tree of causes. `wastenot list causes` shows the tree. Example:
    /// scheduler/placement
    #[arg(long, value_name = "CAUSE", value_parser = causes::node)]
    pub(crate) cause: Option<&'static str>,
    /// Do not determine causes; the check is then slightly faster
    #[arg(long, conflicts_with = "cause")]
    pub(crate) no_causes: bool,
    /// Report the cost of migrations, according to the [costs] table of this scenario (TOML,
    /// docs/reference/scenario.md)
    #[arg(long, value_name = "SCENARIO")]
    pub(crate) costs: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) face: Face,
    #[command(flatten)]
    pub(crate) looking: Looking,
}

/// The selected CPUs and tasks of a trace.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Selection")]
pub(crate) struct Which {
    /// Count only idle time and waits on these CPUs; a picture shows only them. Example: 0-3,8
    #[arg(long, value_name = "LIST", value_parser = cpus)]
    pub(crate) cpus: Option<CpuSet>,
    /// Count only waits of these tasks (a tid, or a name with * and ?); a picture shows the others
    /// in grey; may be repeated
    #[arg(long, value_name = "TASK")]
    pub(crate) task: Vec<String>,
}

/// The part of a trace that is counted, and the assumptions about the trace.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Selection")]
pub(crate) struct Select {
    #[command(flatten)]
    pub(crate) which: Which,
    /// List only episodes and violations of at least this length; totals do not change
    #[arg(long, value_name = "TIME", value_parser = span)]
    pub(crate) longer_than: Option<Span>,
    /// Assume that a CPU without any context switch is in this state: unknown or idle
    #[arg(long, value_name = "WHAT", default_value = "unknown", hide_possible_values = true)]
    pub(crate) silent_cpus: SilentCpus,
    /// Assume that CPUs share run queues (sched_ext, a global queue), so that the recorded CPU of a
    /// waiting task has no meaning
    #[arg(long)]
    pub(crate) shared_queue: bool,
    /// Allow an idle CPU this much time to start a task that is queued on it
    #[arg(long, value_name = "TIME", value_parser = span, default_value = "1ms")]
    pub(crate) wake_grace: Span,
}

impl Select {
    /// The whole trace, as if no option was given.
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

/// The part of a trace to look at, and how the trace is read.
#[derive(Args, Clone, Debug)]
pub(crate) struct Looking {
    #[command(flatten)]
    pub(crate) window: WindowArgs,
    #[command(flatten)]
    pub(crate) select: Select,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// The output format of a report.
#[derive(Args, Debug)]
pub(crate) struct Face {
    /// Print one JSON object (fields: docs/reference)
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the whole report as plain text, 72 columns wide
    #[arg(long, conflicts_with = "json")]
    pub(crate) text: bool,
}

impl Face {
    /// Prints a report in this format. By default, it prints the first screen if the report has
    /// one.
    pub(crate) fn print(&self, report: &Report) -> Result<(), Stop> {
        match (self.json, self.text || report.proportions.is_empty()) {
            (true, _) => out::print_json(report),
            (false, true) => out::print(&report.text()),
            (false, false) => out::print(&report.first_screen(&report.left_out())),
        }
    }
}

/// The assumed state of silent CPUs.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum SilentCpus {
    /// Not known: idle, busy, isolated or offline
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
    cpus.ok_or("expected a list of CPUs such as 0-3,8")
}
