//! `wastenot bounds`: of one task set; `sweep`, of many; `overheads`, `measure` and `calibrate`, of
//! what to count with.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Subcommand, ValueEnum};
use wastenot_bounds::verdict;
use wastenot_lab::Implementation;
use wastenot_lab::sweep::Shard;
use wastenot_model::{CpuId, CpuSet, Span, nearest};

use super::check::{Face, percent};
use super::quantity::some_span;

/// Tell whether deadlines hold under global EDF, and why not
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_help = "\
FILE is CSV: a header, then a task a line, times in whole microseconds.
  wcet_us,period_us,deadline_us,wss_kb
  2000,10000,,64
deadline_us and wss_kb may be left out; without a deadline it is the period.

Tests of global EDF are sufficient: what they reject may hold. So a set is
schedulable if one accepts, unschedulable if there is a witness (tasks use more
than the CPUs, a window demands more, a simulated job is late), else unknown.
What is reported and proved by whom: docs/bounds.md.

Exit codes: 0 schedulable; 1 unschedulable; 2 failed; 3 unknown.

Examples:
  wastenot bounds tasks.csv --cpus 4
  wastenot bounds tasks.csv --cpus 4 --test gfb,rta --json
  wastenot bounds tasks.csv --cpus 4 --overheads overheads.csv
  wastenot bounds tasks.csv --cpus 4 --implementation gedf-mp -o page.html
  wastenot bounds tasks.csv --cpus 4 --cluster 1
  wastenot bounds scenarios/tasksets/three-for-two.csv --cpus 2")]
pub(crate) struct Bounds {
    #[command(flatten)]
    pub(crate) test: Option<Test>,
    #[command(subcommand)]
    pub(crate) what: Option<What>,
}

// No comment of documentation: it would be the verb's. The group is what tells clap that this is
// there; of a struct with parts that are flattened it is empty unless it is written.
#[derive(Args, Debug)]
#[group(args = ["file"])]
pub(crate) struct Test {
    /// The tasks, in CSV; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// How many CPUs the machine has
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u32).range(1..=8192))]
    pub(crate) cpus: u32,
    /// Divide tasks among clusters of so many CPUs, each scheduled for itself; 1 is partitioned EDF
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=8192))]
    pub(crate) cluster: Option<u32>,
    /// Ask only these: gfb, bak, bcl, bcli, rta, bar, ffdbf, load, pedf, qpa
    #[arg(long = "test", value_name = "NAME", value_delimiter = ',')]
    pub(crate) tests: Vec<Name>,
    /// What the kernel takes for itself, in CSV: kind,at,max_us,average_us (docs/bounds.md)
    #[arg(long, value_name = "FILE")]
    pub(crate) overheads: Option<PathBuf>,
    /// Go on beyond where overheads were measured, and say so
    #[arg(long, requires = "overheads")]
    pub(crate) extrapolate: bool,
    /// Who decides, which says what jobs pay: gsn-edf, sched-deadline, either with -dedicated,
    /// sched-deadline-v8 or gedf-mp
    #[arg(long, value_name = "NAME", default_value = "gsn-edf")]
    pub(crate) implementation: Implementation,
    #[command(flatten)]
    pub(crate) face: Face,
    /// Write the report as a page in HTML instead
    #[arg(short, long, value_name = "PAGE", conflicts_with_all = ["json", "text"])]
    pub(crate) output: Option<PathBuf>,
    /// Replace PAGE if it is there
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
}

/// What can be done beside testing one set.
#[derive(Debug, Subcommand)]
pub(crate) enum What {
    Sweep(Sweep),
    Overheads(Overheads),
    Measure(Measure),
    Calibrate(Calibrate),
}

/// Make a table of what global EDF costs in the simulated machine
#[derive(Args, Debug)]
#[command(after_help = "\
TABLE is CSV: kind,at,max_us,average_us, by the number of tasks.
`wastenot bounds` and sweeps count with it as with one that was measured.
Each number of tasks is run three times: tasks that are alike and come together
use half of the CPUs, random ones that come together use nine tenths, and random
ones that come when they like use half. Maxima are those of all three, averages
those of the last.

The machine has no tick and no caches of tasks: what a preemption costs them is
taken from another table (--with), or left out.

What is simulated is no measurement: docs/message-passing.md.

Examples:
  wastenot bounds overheads --machine smp4 --tasks 8,16
  wastenot bounds overheads --machine smp4 --implementation gedf-mp -o mp.csv")]
pub(crate) struct Overheads {
    /// All CPUs, with those that run no task: a preset, an hwloc description, or a file
    #[arg(long, value_name = "MACHINE")]
    pub(crate) machine: String,
    /// Numbers of tasks; one to ten for each CPU unless said
    #[arg(long, value_name = "N", value_delimiter = ',')]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) tasks: Vec<u32>,
    /// Who decides, where: gsn-edf, sched-deadline, either with -dedicated, sched-deadline-v8 or
    /// gedf-mp
    #[arg(long, value_name = "NAME", default_value = "gsn-edf")]
    pub(crate) implementation: Implementation,
    /// What everything costs: x7550-assumed, free, or a file (docs/profile.md)
    #[arg(long, value_name = "PROFILE", default_value = "x7550-assumed")]
    pub(crate) profile: String,
    /// How long each run is
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = some_span)]
    pub(crate) length: Span,
    /// Another seed, other tasks
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Take kinds that the machine does not have from this table
    #[arg(long, value_name = "FILE")]
    pub(crate) with: Option<PathBuf>,
    /// Write the table here; `-`, standard output, unless said
    #[arg(short, long, value_name = "TABLE", default_value = "-")]
    pub(crate) output: PathBuf,
    /// Replace TABLE if it is there
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
}

/// Tell which share of random task sets can be scheduled
#[derive(Args, Debug)]
#[command(after_help = "\
EXPERIMENT is TOML: what sets are like, and by which curves they are judged
(docs/sweep.md). scenarios/sweeps has some.

What was worked out can be kept (--resume), and whoever is interrupted goes on
where it was. Several machines share the work with --shard 1/3, 2/3, 3/3, each
with RESULTS of its own; put together, they are the whole:
  cat one two three > all; wastenot bounds sweep E.toml --resume all

OUT is CSV, a line for each point and curve: the same bytes however it ran.

Exit codes: 0 worked out; 2 failed; 3 points are missing.

Examples:
  wastenot bounds sweep scenarios/sweeps/small.toml
  wastenot bounds sweep scenarios/sweeps/small.toml -o small.csv
  wastenot bounds sweep scenarios/sweeps/small.toml --resume small.results")]
pub(crate) struct Sweep {
    /// The experiment; `-` is standard input
    #[arg(value_name = "EXPERIMENT")]
    pub(crate) file: PathBuf,
    /// Keep what was worked out in this file, and work out only what is not in it
    #[arg(long, value_name = "RESULTS")]
    pub(crate) resume: Option<PathBuf>,
    /// Only the I-th of N parts of the points
    #[arg(long, value_name = "I/N", requires = "resume", value_parser = shard)]
    pub(crate) shard: Option<Shard>,
    /// Write all points and curves as CSV; `-` is standard output
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Replace OUT if it is there
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) face: Face,
}

/// Tell what locks and messages take on this machine
#[derive(Args, Debug)]
#[command(after_help = "\
Threads that do nothing but decide, each on a CPU of its own: who takes which
job next, under one lock for all (coarse-ticket, coarse-queued), a lock a CPU
(per-cpu), or by messages to one who decides for all (messages). So interrupts
and switches are not in the figures, but whatever else runs on these CPUs
delays them, the maxima first: measure while nothing else runs.

TABLE is CSV (docs/profile.md). Each line tells its machine, so that tables of
several machines can be put together: with --append, or with cat.

Examples:
  wastenot bounds measure --span 20ms
  wastenot bounds measure --span 20ms -o here.csv
  wastenot bounds measure --cpus 1 --span 20ms --design coarse-ticket --json")]
pub(crate) struct Measure {
    /// On how many CPUs, in turn: 1,2,4-8; powers of two, and all, unless set
    #[arg(long, value_name = "LIST", value_parser = counts)]
    pub(crate) cpus: Option<CpuSet>,
    /// How long each design decides on each number of CPUs
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = some_span)]
    pub(crate) span: Span,
    /// Only these: coarse-ticket, coarse-queued, per-cpu, messages, line
    #[arg(long = "design", value_name = "NAME", value_delimiter = ',')]
    pub(crate) designs: Vec<Decider>,
    /// Write the figures as CSV; `-` is standard output
    #[arg(short, long, value_name = "TABLE")]
    pub(crate) output: Option<PathBuf>,
    /// Add them to TABLE if it is there
    #[arg(long, requires = "output")]
    pub(crate) append: bool,
    /// Replace TABLE if it is there
    #[arg(long, requires = "output", conflicts_with = "append")]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) face: Face,
}

/// Numbers of CPUs as the kernel lists CPUs.
fn counts(text: &str) -> Result<CpuSet, &'static str> {
    let counts = CpuSet::parse(text).filter(|counts| !counts.is_empty());
    let counts = counts.filter(|counts| !counts.contains(CpuId(0)));
    counts.ok_or("expected numbers of CPUs: 1,2,4-8")
}

/// A design of `wastenot-measure` as typed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decider(pub(crate) wastenot_measure::Design);

impl FromStr for Decider {
    type Err = String;

    fn from_str(text: &str) -> Result<Decider, String> {
        let all = wastenot_measure::Design::ALL;
        let names = all.map(wastenot_measure::Design::name);
        let found = all.into_iter().find(|design| design.name() == text).map(Decider);
        found.ok_or_else(|| match nearest(text, names) {
            Some(near) => format!("there is no such design; did you mean `{near}`?"),
            None => format!("designs are {}", names.join(", ")),
        })
    }
}

/// Tell which simulated costs fit what was measured of a lock
#[derive(Args, Debug)]
#[command(after_help = "\
TABLE is what `wastenot bounds measure` wrote, what Feather-Trace's tool
ft-compute-stats printed, or samples of ft2csv in a file named as
  overheads_scheduler=GSN-EDF_m=64_overhead=SCHED.csv
A pair is how many cache lines are written under the lock for all, and how
often a CPU that waits for it fetches the lock's line. Each pair that fits is
printed, since few figures determine one (docs/profile.md).

Exit codes: 0 some fit; 1 none does; 2 failed.

Examples:
  wastenot bounds calibrate scenarios/measured/epyc-2.csv
  wastenot bounds calibrate scenarios/measured/epyc-2.csv --design coarse-ticket
  wastenot bounds calibrate scenarios/measured/epyc-2.csv --within 40% -o e.toml
  wastenot bounds calibrate --point 8=75us --within 5%")]
pub(crate) struct Calibrate {
    /// Figures, in CSV; `-` is standard input
    #[arg(value_name = "TABLE", required_unless_present = "points")]
    pub(crate) files: Vec<PathBuf>,
    /// The longest that a kernel took on M CPUs to choose whom to run: 64=3ms
    #[arg(long = "point", value_name = "M=TIME", value_parser = point)]
    pub(crate) points: Vec<(u32, Span)>,
    /// What all else costs: x7550-assumed, free, or a file (docs/profile.md)
    #[arg(long, value_name = "PROFILE", default_value = "x7550-assumed")]
    pub(crate) profile: String,
    /// How far off a figure may be
    #[arg(long, value_name = "PERCENT", default_value = "10%", value_parser = share)]
    pub(crate) within: f64,
    /// What of a figure counts: mean, median (of threads), max (of a kernel)
    #[arg(long, value_name = "NAME", hide_possible_values = true)]
    pub(crate) figure: Option<Figure>,
    /// Only figures of machines whose name has this in it
    #[arg(long, value_name = "TEXT")]
    pub(crate) machine: Option<String>,
    /// Only figures of these designs: coarse-ticket, coarse-queued, GSN-EDF
    #[arg(long = "design", value_name = "NAME", value_delimiter = ',')]
    pub(crate) designs: Vec<String>,
    /// CPUs of a socket, where a table does not tell
    #[arg(long, value_name = "N", default_value_t = 8)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=8192))]
    pub(crate) socket: u32,
    /// How fast the clock of Feather-Trace was: 2000 is 2 GHz
    #[arg(long, value_name = "N", value_parser = rate)]
    pub(crate) cycles_per_us: Option<f64>,
    /// Write the pair that comes nearest as a profile, if it fits; `-` is standard output
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Replace OUT if it is there
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) face: Face,
}

/// What is taken of all samples.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Figure {
    /// Their mean
    Mean,
    /// The middle one
    Median,
    /// The longest
    Max,
}

/// `64=3ms`: on 64 CPUs 3 ms.
fn point(text: &str) -> Result<(u32, Span), &'static str> {
    let read = || {
        let (cpus, span) = text.split_once('=')?;
        let cpus: u32 = cpus.trim().parse().ok()?;
        let span = Span::parse(span).filter(|span| (1..1 << 40).contains(&span.0))?;
        (1..=8_192).contains(&cpus).then_some((cpus, span))
    };
    read().ok_or("3 ms on 64 CPUs are `64=3ms`")
}

/// `5%` is 0.05.
fn share(text: &str) -> Result<f64, &'static str> {
    let share = percent(text.strip_suffix('%').unwrap_or(text));
    share.filter(|share| *share <= 1.0).ok_or("expected 0% to 100%")
}

fn rate(text: &str) -> Result<f64, &'static str> {
    let rate = text.parse().ok().filter(|rate: &f64| (1.0..1e6).contains(rate));
    rate.ok_or("expected cycles per microsecond: 2000 is 2 GHz")
}

/// `2/3` is the second of three.
fn shard(text: &str) -> Result<Shard, String> {
    let read = || {
        let (index, of) = text.split_once('/')?;
        let (index, of): (usize, usize) = (index.parse().ok()?, of.parse().ok()?);
        (1..=of).contains(&index).then(|| Shard { index: index - 1, of })
    };
    read().ok_or_else(|| "the second of three is `2/3`".to_owned())
}

/// A test as typed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Name(pub(crate) verdict::Test);

impl FromStr for Name {
    type Err = String;

    fn from_str(text: &str) -> Result<Name, String> {
        let all = verdict::Test::ALL;
        let found = all.into_iter().find(|test| test.key() == text).map(Name);
        found.ok_or_else(|| match nearest(text, all.map(verdict::Test::key)) {
            Some(near) => format!("there is no such test; did you mean `{near}`?"),
            None => format!("tests are {}", all.map(verdict::Test::key).join(", ")),
        })
    }
}
