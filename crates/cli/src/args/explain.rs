//! `wastenot explain`

use std::path::PathBuf;

use clap::Args;
use wastenot_check::causes;
use wastenot_experiment::confirm;

use super::check::Face;
use super::input::{FILE, Reading};
use super::scheduler::Scheduler;
use super::when::WindowArgs;

/// Show where tasks spent their time, or test a fix
#[derive(Args, Debug)]
#[command(override_usage = "\
wastenot explain <FILE> <--task|--pid|--command|--cgroup> [OPTIONS]
       wastenot explain <FILE> --confirm [OPTIONS]")]
#[command(after_help = "\
`explain` follows the critical path of the selected tasks. The path contains the
runs of a task and its waits for a CPU. While the task slept, the path follows
the task that woke it. The lengths of all parts of the path add up to the length
of the examined time interval.

The kernel writes a dump when it ejects a sched_ext scheduler. FILE may also be
the output of a loader or a log that contains such a dump
(journalctl | wastenot explain -). For such a file, do not select a task.

--confirm selects the largest loss of time with a known cause and fix. It
simulates the work of the trace in three ways: without a change, with the fix,
and without a change but with other seeds (the control). The output of --text
is suitable for a mailing list.

Exit codes: 0 success; 2 failure.
With --confirm: 0 the fix is confirmed; 1 the fix is refuted; 2 failure; 3 the
result is unknown.

Examples:
  wastenot explain trace.dat --command 'make*'
  wastenot explain trace.dat --task cc --from 100ms --to 200ms --text
  wastenot explain trace.dat --task cc --every
  wastenot explain trace.dat --confirm --text -o part.wn")]
pub(crate) struct Explain {
    #[arg(value_name = "FILE", help = FILE)]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) whom: Whom,
    /// List every activation (from a wakeup to the next sleep), and compare the slowest activation
    /// with the median
    #[arg(long)]
    pub(crate) every: bool,
    /// Test in the simulator the change that should remove the largest loss
    #[arg(long, conflicts_with_all = ["task", "pid", "command", "cgroup", "every"])]
    pub(crate) confirm: bool,
    #[command(flatten)]
    pub(crate) face: Face,
    #[command(flatten)]
    pub(crate) trial: Trial,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// The tasks to explain.
#[derive(Args, Debug, Default, PartialEq)]
#[group(multiple = false)]
pub(crate) struct Whom {
    /// Explain this task: a tid, or a name with * and ?
    #[arg(long, value_name = "TASK")]
    pub(crate) task: Option<String>,
    /// Explain all threads of this process
    #[arg(long, value_name = "PID")]
    pub(crate) pid: Option<i32>,
    /// Explain tasks with this command name (* and ? allowed)
    #[arg(long, value_name = "GLOB")]
    pub(crate) command: Option<String>,
    /// Explain tasks that were in this cgroup (* and ? allowed)
    #[arg(long, value_name = "GLOB")]
    pub(crate) cgroup: Option<String>,
}

/// The options of a trial.
#[derive(Args, Debug)]
#[group(requires = "confirm")]
#[command(next_help_heading = "With --confirm")]
pub(crate) struct Trial {
    /// Test the largest loss with this cause or a cause below it in the tree [default: the largest
    /// loss with a known fix]
    #[arg(long, value_name = "CAUSE", value_parser = causes::node)]
    pub(crate) cause: Option<&'static str>,
    /// Use this model for the scheduler of the trace, named as for `what-if` [default: the model of
    /// the trace's kernel]
    #[arg(long, value_name = "NAME")]
    pub(crate) scheduler: Option<Scheduler>,
    /// Run each of the three simulations with N seeds [default: 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(confirm::FEWEST..=confirm::MOST))]
    pub(crate) seeds: Option<u64>,
    /// Write the trace, or the selected part of it, so that others can repeat the test (.wn)
    #[arg(short, long, value_name = "TRACE")]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite the output file
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
}
