//! `wastenot explain`

use std::path::PathBuf;

use clap::Args;

use super::check::Face;
use super::input::{FILE, Reading};
use super::when::WindowArgs;

/// Report where the time of a task went, or why it stalled
#[derive(Args, Debug)]
#[command(override_usage = "\
wastenot explain <FILE> <--task|--pid|--command|--cgroup> [OPTIONS]")]
#[command(after_help = "\
Follows the critical path: the runs of a task, its waits for a CPU, and where it
slept, the task that woke it. The parts sum to the interval.

FILE may be a dump that the kernel wrote when it ejected a sched_ext scheduler,
as its loader prints it, or a log (journalctl | wastenot explain -): name no
task.

Exit codes: 0 success; 2 failure.

Examples:
  wastenot explain trace.dat --command 'make*'
  wastenot explain trace.dat --task cc --from 100ms --to 200ms --text
  wastenot explain trace.dat --task cc --every")]
pub(crate) struct Explain {
    #[arg(value_name = "FILE", help = FILE)]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) whom: Whom,
    /// Of each activation, from a wakeup to the next sleep: all of them, and the slowest beside the
    /// median
    #[arg(long)]
    pub(crate) every: bool,
    #[command(flatten)]
    pub(crate) face: Face,
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
