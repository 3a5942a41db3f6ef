//! `wastenot bounds`: `test` one task set, or `sweep` over many. `overheads`, `measure` and
//! `calibrate` produce the overheads for them.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use wastenot_bounds::verdict;
use wastenot_check::budget::percent;
use wastenot_measure::Benchmark;
use wastenot_model::quantity::some_span;
use wastenot_model::{CpuId, CpuSet, Span};
use wastenot_realtime::Implementation;
use wastenot_realtime::calibrate::Statistic;
use wastenot_realtime::sweep::Shard;

use super::check::Face;

/// Test whether real-time tasks meet their deadlines (EDF)
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  wastenot bounds test tasks.csv --cpus 4
  wastenot bounds sweep scenarios/sweeps/small.toml")]
pub(crate) struct Bounds {
    #[command(subcommand)]
    pub(crate) what: What,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum What {
    Test(Test),
    Sweep(Sweep),
    Overheads(Overheads),
    Measure(Measure),
    Calibrate(Calibrate),
}

/// Test whether a task set meets all deadlines under global EDF
#[derive(Args, Debug)]
#[command(after_help = "\
FILE is CSV with a header and one task per line. Times are whole microseconds:
  wcet_us,period_us,deadline_us,wss_kb
  2000,10000,,64
deadline_us and wss_kb are optional. The default deadline is the period.

The tests of global EDF are sufficient, but not necessary: a rejected task set
may still meet all deadlines. The verdict is
  - schedulable if a test accepts the task set,
  - unschedulable if the utilization exceeds the number of CPUs, if the tasks
    need more time in a time window than the CPUs have in it, or if a simulated
    job is late,
  - unknown in all other cases.
docs/explain/bounds.md describes the report and the sources of the tests.

Exit codes: 0 schedulable; 1 unschedulable; 2 failure; 3 unknown.

Examples:
  wastenot bounds test tasks.csv --cpus 4
  wastenot bounds test tasks.csv --cpus 4 --test gfb,rta --json
  wastenot bounds test tasks.csv --cpus 4 --overheads overheads.csv
  wastenot bounds test tasks.csv --cpus 4 --implementation gedf-mp -o page.html
  wastenot bounds test tasks.csv --cpus 4 --cluster 1
  wastenot bounds test scenarios/tasksets/three-for-two.csv --cpus 2")]
pub(crate) struct Test {
    /// Task set in CSV; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Test for this number of CPUs
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u32).range(1..=8192))]
    pub(crate) cpus: u32,
    /// Partition the tasks among clusters of N CPUs that are scheduled separately; 1 means
    /// partitioned EDF
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=8192))]
    pub(crate) cluster: Option<u32>,
    /// Run only these tests: gfb, bak, bcl, bcli, rta, bar, ffdbf, load, pedf, qpa
    #[arg(long = "test", value_name = "NAME", value_delimiter = ',')]
    pub(crate) tests: Vec<verdict::Test>,
    /// Add the kernel overheads in this CSV file, with the columns kind,at,max_us,average_us
    /// (docs/explain/bounds.md)
    #[arg(long, value_name = "FILE")]
    pub(crate) overheads: Option<PathBuf>,
    /// Extrapolate overheads beyond the measured range; the report mentions this
    #[arg(long, requires = "overheads")]
    pub(crate) extrapolate: bool,
    /// Assume this implementation of global EDF: gsn-edf, gsn-edf-dedicated, sched-deadline,
    /// sched-deadline-dedicated, sched-deadline-v8 or gedf-mp. The implementation determines which
    /// CPUs run tasks, and the overheads of jobs
    #[arg(long, value_name = "NAME", default_value = "gsn-edf")]
    pub(crate) implementation: Implementation,
    #[command(flatten)]
    pub(crate) face: Face,
    /// Write the report to this HTML file instead of printing it
    #[arg(short, long, value_name = "PAGE", conflicts_with_all = ["json", "text"])]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite the output file
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
}

/// Simulate the overheads of global EDF, and write a table of them
#[derive(Args, Debug)]
#[command(after_help = "\
The output is CSV with the columns kind,at,max_us,average_us, where `at` is the
number of tasks (docs/explain/bounds.md). `wastenot bounds test` and sweeps use
the table in the same way as a table of measured overheads.

For each number of tasks, three runs are simulated:
  1. identical tasks that are released together and use 50 % of CPU time,
  2. random tasks that are released together and use 90 % of CPU time,
  3. random tasks that are released at random times and use 50 % of CPU time.
The maxima are taken over all three runs. The averages are from run 3.

The simulated machine has no timer tick, and no model of the cache contents of
tasks. So the table lacks the overheads of ticks and of lost cache contents.
--with copies these overheads from another table.

Simulated overheads are not measurements (docs/explain/message-passing.md).

Examples:
  wastenot bounds overheads --machine smp4 --tasks 8,16
  wastenot bounds overheads --machine smp4 --implementation gedf-mp -o mp.csv")]
pub(crate) struct Overheads {
    /// Simulate this machine, including CPUs that run no tasks: a preset, an hwloc description, or
    /// a file
    #[arg(long, value_name = "MACHINE")]
    pub(crate) machine: String,
    /// Simulate these numbers of tasks [default: 1, 2, 4, 6, 8 and 10 per CPU]
    #[arg(long, value_name = "N", value_delimiter = ',')]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) tasks: Vec<u32>,
    /// Simulate this implementation of global EDF: gsn-edf, gsn-edf-dedicated, sched-deadline,
    /// sched-deadline-dedicated, sched-deadline-v8 or gedf-mp
    #[arg(long, value_name = "NAME", default_value = "gsn-edf")]
    pub(crate) implementation: Implementation,
    /// Use this overhead profile: x7550-assumed, free, or a file (docs/reference/profile.md)
    #[arg(long, value_name = "PROFILE", default_value = "x7550-assumed")]
    pub(crate) profile: String,
    /// Simulate each run for this long
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = some_span)]
    pub(crate) length: Span,
    /// Use this seed for the random tasks
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Copy from this table the kinds of overheads that are not simulated
    #[arg(long, value_name = "FILE")]
    pub(crate) with: Option<PathBuf>,
    /// Write the table to this file; `-` is standard output
    #[arg(short, long, value_name = "TABLE", default_value = "-")]
    pub(crate) output: PathBuf,
    /// Overwrite the output file
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
}

/// Compute the share of random task sets that are schedulable
#[derive(Args, Debug)]
#[command(after_help = "\
EXPERIMENT is a TOML file with the parameters of the task sets and the curves to
compute (docs/reference/sweep.md). Examples are in scenarios/sweeps.

--resume stores results, so that an interrupted sweep continues where it
stopped. Three machines can share the work: run the sweep with --shard 1/3, 2/3
and 3/3. Each machine writes its own file RESULTS. Then concatenate these files:
  cat one two three > all; wastenot bounds sweep E.toml --resume all

OUT is CSV with one line for each point of each curve. OUT is the same with and
without --resume and --shard.

Exit codes: 0 success; 2 failure; 3 points are missing.

Examples:
  wastenot bounds sweep scenarios/sweeps/small.toml
  wastenot bounds sweep scenarios/sweeps/small.toml -o small.csv
  wastenot bounds sweep scenarios/sweeps/small.toml --resume small.results")]
pub(crate) struct Sweep {
    /// Experiment in TOML; `-` is standard input
    #[arg(value_name = "EXPERIMENT")]
    pub(crate) file: PathBuf,
    /// Store results in this file, and compute only results that it does not contain
    #[arg(long, value_name = "RESULTS")]
    pub(crate) resume: Option<PathBuf>,
    /// Divide the points into N shards, and compute only shard I
    #[arg(long, value_name = "I/N", requires = "resume")]
    pub(crate) shard: Option<Shard>,
    /// Write all points and curves to this file, in CSV; `-` is standard output
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite the output file
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) face: Face,
}

/// Measure the overhead of locks and messages on this machine
#[derive(Args, Debug)]
#[command(after_help = "\
One thread on each CPU makes scheduling decisions, but runs no tasks. The
designs differ in how the threads share their state:
  - coarse-ticket, coarse-queued: one global lock,
  - per-cpu: one lock per CPU,
  - messages: one thread decides for all CPUs; the others send messages to it.
The benchmark `line` has no design: two CPUs write one cache line in turns.
The figures do not include the time of interrupts and context switches. Other
work on the machine increases the figures, especially the maxima. So measure on
an idle machine.

The output is CSV (docs/reference/profile.md). Each line names its machine, so
tables of several machines can be combined with --append or cat.

Examples:
  wastenot bounds measure --span 20ms
  wastenot bounds measure --span 20ms -o here.csv
  wastenot bounds measure --cpus 1 --span 20ms --design coarse-ticket --json")]
pub(crate) struct Measure {
    /// Measure with these numbers of CPUs: 1,2,4-8 [default: powers of two, and all CPUs]
    #[arg(long, value_name = "LIST", value_parser = counts)]
    pub(crate) cpus: Option<CpuSet>,
    /// Measure each design on each number of CPUs for this long
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = some_span)]
    pub(crate) span: Span,
    /// Measure only these designs: coarse-ticket, coarse-queued, per-cpu, messages, line
    #[arg(long = "design", value_name = "NAME", value_delimiter = ',')]
    pub(crate) designs: Vec<Benchmark>,
    /// Write the figures to this file, in CSV; `-` is standard output
    #[arg(short, long, value_name = "TABLE")]
    pub(crate) output: Option<PathBuf>,
    /// Append to the output file if it exists
    #[arg(long, requires = "output")]
    pub(crate) append: bool,
    /// Overwrite the output file
    #[arg(long, requires = "output", conflicts_with = "append")]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) face: Face,
}

/// Numbers of CPUs as the kernel lists CPUs.
fn counts(text: &str) -> Result<CpuSet, &'static str> {
    let counts = CpuSet::parse(text).filter(|counts| !counts.is_empty());
    let counts = counts.filter(|counts| !counts.contains(CpuId(0)));
    counts.ok_or("expected numbers of CPUs, such as 1,2,4-8")
}

/// Fit the simulated overhead of a lock to measured figures
#[derive(Args, Debug)]
#[command(after_help = "\
TABLE is one of
  - the output of `wastenot bounds measure`,
  - the output of ft-compute-stats from Feather-Trace,
  - samples from ft2csv, in a file with a name such as
    overheads_scheduler=GSN-EDF_m=64_overhead=SCHED.csv
`calibrate` fits two numbers: the number of cache lines that are written under
the global lock, and the number of times that a waiting CPU fetches the cache
line of the lock. If TABLE has only a few figures, several pairs of these two
numbers agree with the figures. So `calibrate` prints all pairs that fit
(docs/reference/profile.md).

Exit codes: 0 a pair fits; 1 no pair fits; 2 failure.

Examples:
  wastenot bounds calibrate scenarios/measured/epyc-2.csv
  wastenot bounds calibrate scenarios/measured/epyc-2.csv --design coarse-ticket
  wastenot bounds calibrate scenarios/measured/epyc-2.csv --within 40% -o e.toml
  wastenot bounds calibrate --point 8=75us --within 5%")]
pub(crate) struct Calibrate {
    /// Measured figures in CSV; `-` is standard input
    #[arg(value_name = "TABLE", required_unless_present = "points")]
    pub(crate) files: Vec<PathBuf>,
    /// Fit this duration of the longest scheduling decision of a kernel on M CPUs; may be repeated.
    /// Example: 64=3ms
    #[arg(long = "point", value_name = "M=TIME", value_parser = point)]
    pub(crate) points: Vec<(u32, Span)>,
    /// Use this profile for all other overheads: x7550-assumed, free, or a file
    /// (docs/reference/profile.md)
    #[arg(long, value_name = "PROFILE", default_value = "x7550-assumed")]
    pub(crate) profile: String,
    /// Accept a pair if each fitted figure differs from the measured figure by at most this share
    #[arg(long, value_name = "PERCENT", default_value = "10%", value_parser = share)]
    pub(crate) within: f64,
    /// Fit this statistic: mean, median (default for figures of threads) or max (default for
    /// figures of a kernel)
    #[arg(long, value_name = "NAME")]
    pub(crate) figure: Option<Statistic>,
    /// Use only figures of machines with TEXT in the name
    #[arg(long, value_name = "TEXT")]
    pub(crate) machine: Option<String>,
    /// Use only figures of these designs: coarse-ticket, coarse-queued, GSN-EDF
    #[arg(long = "design", value_name = "NAME", value_delimiter = ',')]
    pub(crate) designs: Vec<String>,
    /// Assume N CPUs per socket if a table does not contain this number
    #[arg(long, value_name = "N", default_value_t = 8)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=8192))]
    pub(crate) socket: u32,
    /// Set the clock rate of Feather-Trace, in cycles per microsecond: 2000 is 2 GHz
    #[arg(long, value_name = "N", value_parser = rate)]
    pub(crate) cycles_per_us: Option<f64>,
    /// Write a profile with the best pair to this file, if a pair fits; `-` is standard output
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite the output file
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) face: Face,
}

/// `64=3ms` is 3 ms on 64 CPUs.
fn point(text: &str) -> Result<(u32, Span), &'static str> {
    let read = || {
        let (cpus, span) = text.split_once('=')?;
        let cpus: u32 = cpus.trim().parse().ok()?;
        let span = Span::parse(span).filter(|span| (1..1 << 40).contains(&span.0))?;
        (1..=8_192).contains(&cpus).then_some((cpus, span))
    };
    read().ok_or("expected CPUs=TIME: `64=3ms` is 3 ms on 64 CPUs")
}

/// `5%` is 0.05.
fn share(text: &str) -> Result<f64, &'static str> {
    let share = percent(text.strip_suffix('%').unwrap_or(text));
    share.filter(|share| *share <= 1.0).ok_or("expected a share from 0% to 100%")
}

fn rate(text: &str) -> Result<f64, &'static str> {
    let rate = text.parse().ok().filter(|rate: &f64| (1.0..1e6).contains(rate));
    rate.ok_or("expected a number of cycles per microsecond: 2000 is 2 GHz")
}
