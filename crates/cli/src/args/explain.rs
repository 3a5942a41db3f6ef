//! `wastenot explain`

use std::path::PathBuf;

use clap::Args;
use wastenot_check::causes;
use wastenot_experiment::confirm;

use super::check::Face;
use super::input::{FILE, Reading};
use super::scheduler::Scheduler;
use super::when::WindowArgs;

/// Report where time went, or which change removes a loss
#[derive(Args, Debug)]
#[command(override_usage = "\
wastenot explain <FILE> <--task|--pid|--command|--cgroup> [OPTIONS]
       wastenot explain <FILE> --confirm [OPTIONS]")]
#[command(after_help = "\
Follows the critical path: the runs of a task, its waits for a CPU, and where it
slept, the task that woke it. The parts sum to the interval.

FILE may be a dump that the kernel wrote when it ejected a sched_ext scheduler,
as its loader prints it, or a log (journalctl | wastenot explain -): name no
task.

--confirm takes the largest loss for which `check` knows a cause and a change is
known, and runs the recorded work in the simulator: as it was, with the change,
and as it was with other seeds. --text is fit for a mailing list.

Exit codes: 0 success; 2 failure; with --confirm: 0 confirmed; 1 refuted;
3 unknown.

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
    /// Of each activation, from a wakeup to the next sleep: all of them, and the slowest beside the
    /// median
    #[arg(long)]
    pub(crate) every: bool,
    /// Try the one change that should remove the largest loss, in the simulator
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

/// Whose time it is.
#[derive(Args, Debug, Default, PartialEq)]
#[group(multiple = false)]
pub(crate) struct Whom {
    /// A task: its tid, or a name with * and ?
    #[arg(long, value_name = "TASK")]
    pub(crate) task: Option<String>,
    /// All threads of a process
    #[arg(long, value_name = "PID")]
    pub(crate) pid: Option<i32>,
    /// All tasks with this command name, with * and ?
    #[arg(long, value_name = "GLOB")]
    pub(crate) command: Option<String>,
    /// All tasks that were in this cgroup, with * and ?
    #[arg(long, value_name = "GLOB")]
    pub(crate) cgroup: Option<String>,
}

/// What is tried, and how often.
#[derive(Args, Debug)]
#[group(requires = "confirm")]
#[command(next_help_heading = "With --confirm")]
pub(crate) struct Trial {
    /// Loss by this cause, or one below it [default: the largest that a known change should remove]
    #[arg(long, value_name = "CAUSE", value_parser = causes::node)]
    pub(crate) cause: Option<&'static str>,
    /// Model of the scheduler that ran, as in what-if [default: the one of the trace's kernel]
    #[arg(long, value_name = "NAME")]
    pub(crate) scheduler: Option<Scheduler>,
    /// Runs of each kind [default: 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(confirm::FEWEST..=confirm::MOST))]
    pub(crate) seeds: Option<u64>,
    /// Write the trace, or the part of it (.wn), for others to repeat this with
    #[arg(short, long, value_name = "HISTORY")]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite the output file
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
}
