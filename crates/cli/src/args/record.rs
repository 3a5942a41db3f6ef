//! `wastenot record`

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgGroup, Args};
use signal_hook::consts::{SIGUSR1, SIGUSR2};
use wastenot_model::Span;
use wastenot_model::quantity::{size, some_span};
use wastenot_record::Trigger;

use crate::fail::Stop;

/// Record the scheduling events of this machine
#[derive(Args, Debug)]
#[command(
    group = ArgGroup::new("length").args(["pid", "cgroup", "command"]),
    after_help = "\
`record` always records all CPUs. Otherwise, the trace could not show that one
CPU is idle while a task waits for another CPU. Without an option for the
length, the recording ends at Ctrl-C.

With a command, `record` returns the exit code of the command, or one of these
codes: 125 the recording failed; 126 or 127 the command could not be run;
128+N signal N ended the command.

During the recording, the trace is in FILE.part, which can be read at any time.
With --last, `record` writes the trace at the end.

Examples:
  sudo wastenot record --for 10s
  sudo wastenot record -o make.wn -- make -j64
  sudo wastenot record --pid 4711
  sudo wastenot record --last 10s --until 'waste > 5ms'
  sudo wastenot record -o - --for 5s | wastenot check -"
)]
pub(crate) struct Record {
    /// Write the trace to this file; `-` is standard output
    #[arg(short, long, value_name = "FILE", default_value = "wastenot.wn")]
    pub(crate) output: PathBuf,
    /// Overwrite the output file
    #[arg(long)]
    pub(crate) force: bool,
    /// Stop after this time (10s, 500ms, 5min), or earlier if the command, the process of --pid, or
    /// the cgroup of --cgroup ends
    #[arg(long = "for", id = "for", value_name = "TIME", value_parser = some_span)]
    pub(crate) span: Option<Span>,
    /// Stop when this process exits
    #[arg(long, value_name = "PID")]
    pub(crate) pid: Option<u32>,
    /// Stop when this cgroup has no process left
    #[arg(long, value_name = "PATH")]
    pub(crate) cgroup: Option<PathBuf>,
    /// Also record interrupts, softirqs and the idle states of CPUs (needs BPF)
    #[arg(long, conflicts_with = "tracefs")]
    pub(crate) interrupts: bool,
    /// Run this command, and stop when it exits
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
    /// Also record decisions of the scheduler: CPUs that it considered and selected, passes of load
    /// balancing, requests to reschedule, NUMA balancing and deadline servers. This takes about
    /// 5000 instructions per wakeup, and needs a kernel that lets BPF programs trace functions
    #[arg(long, conflicts_with = "tracefs")]
    pub(crate) decisions: bool,
    #[command(flatten)]
    pub(crate) flight: FlightArgs,
    #[command(flatten)]
    pub(crate) means: Means,
}

/// The options of a recording that keeps only the last seconds.
#[derive(Args, Debug)]
#[command(
    next_help_heading = "Flight recorder",
    group = ArgGroup::new("flight").args(["last", "until"]).multiple(true)
)]
pub(crate) struct FlightArgs {
    /// Keep in memory only the events of the last TIME, and write them at the end
    #[arg(long, value_name = "TIME", value_parser = some_span)]
    pub(crate) last: Option<Span>,
    /// Stop shortly after this condition or signal: 'waste > 5ms', 'wait > 20ms', 'task=NAME wait >
    /// 1ms', USR1 or USR2; implies --last 10s if --last is not given
    #[arg(long, value_name = "WHAT", value_parser = until)]
    pub(crate) until: Option<Until>,
    /// Limit the memory for kept events (with --last or --until)
    #[arg(
        long,
        value_name = "SIZE",
        default_value = "64MiB",
        value_parser = size,
        requires = "flight"
    )]
    pub(crate) memory: u64,
}

/// The shortest `--last` for a trigger. A trigger sees an event up to 200 ms after it happened, and
/// the recording continues for a tenth of `--last` after the trigger.
const LAST_MIN: Span = Span::s(1);

impl FlightArgs {
    /// Fails if the event that ends the recording would be dropped before the recording ends.
    pub(crate) fn check(&self) -> Result<(), Stop> {
        match (&self.until, self.last) {
            (Some(Until::Trigger(_)), Some(last)) if last < LAST_MIN => Err(Stop::new(
                format_args!(
                    "--last {last} is too short: the trace would not contain the event of --until"
                ),
                "use `--last 1s` or longer",
            )),
            _ => Ok(()),
        }
    }

    /// The signal that ends the recording, if a signal does.
    pub(crate) fn signal(&self) -> Option<i32> {
        match self.until {
            Some(Until::Signal(signal)) => Some(signal),
            _ => None,
        }
    }
}

/// What ends a flight recording.
#[derive(Clone, Debug)]
pub(crate) enum Until {
    /// An event or a condition in the recording.
    Trigger(Trigger),
    /// A signal to this process.
    Signal(i32),
}

fn until(text: &str) -> Result<Until, &'static str> {
    match text.trim().trim_start_matches("SIG") {
        "USR1" => Ok(Until::Signal(SIGUSR1)),
        "USR2" => Ok(Until::Signal(SIGUSR2)),
        text if text.contains('>') => text.parse().map(Until::Trigger),
        _ => Err("expected `waste > 5ms`, `wait > 20ms`, `task=NAME wait > 1ms`, USR1 or USR2"),
    }
}

/// The recording method.
#[derive(Args, Debug)]
#[command(next_help_heading = "Recording method")]
pub(crate) struct Means {
    /// Record through a tracefs instance even if BPF is available
    #[arg(long)]
    pub(crate) tracefs: bool,
    /// Use this much memory per CPU to buffer events before they are written
    #[arg(long, value_name = "SIZE", default_value = "4MiB", value_parser = ring)]
    pub(crate) buffer: u32,
}

/// Parses the size of a ring buffer in bytes.
fn ring(text: &str) -> Result<u32, &'static str> {
    let bytes = size(text)?;
    let fits = (64 << 10..=1 << 30).contains(&bytes);
    u32::try_from(bytes).ok().filter(|_| fits).ok_or("expected a size from 64KiB to 1GiB")
}
