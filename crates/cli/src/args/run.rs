//! `wastenot run`

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use wastenot_experiment::Seeds;
use wastenot_experiment::shifts::USUAL;
use wastenot_lab::kernels::is_name;

use super::check::Face;
use super::scheduler::Under;

/// Run a scenario: a workload on a machine under a scheduler
#[derive(Args, Debug)]
#[command(after_help = "\
A scenario is a TOML file: a machine, a workload, a scheduler, variants of them
and figures to measure (docs/reference/scenario.md). Examples are in scenarios/.

An rt-app file contains a workload only: set the rest with --machine and
--scheduler (docs/explain/simulate.md).

--on chooses where it runs: in the simulator (sim), on this machine (host), or
in a kernel of Debian in a guest (6.12, 7.2.13, sid). There its tasks are real
and recorded, and the kernel schedules them, or the policy of --scheduler
(docs/how-to/lab.md).

--scheduler-cmd runs it under the scheduler of a program, too, and under the
kernel's own; several are compared, each with the one before
(docs/how-to/sched_ext.md).

A program runs as well, as a scenario of one task: -- COMMAND. In a guest it has
its libraries and the files that the command names. QEMU without KVM counts
instructions: then the report has waits, placements, migrations and waste, and
no completion.

--set changes a key of the scenario in all variants; dots lead into tables. A
NAME that is no key is a parameter. VALUE is written as in TOML; quotes of texts
may be left out:
  --set limit=2s   --set costs.switch=1us   --set scheduler.slice=3ms
--machine and --scheduler do the same; they also accept files.

Exit codes: 0 it ran; 1 the kernel refused or ended a scheduler, a task starved,
a run reached its limit under it only, a figure is worse (--fail-if-worse), or
lies out of its band (--fail-if-out-of-band); 2 failure.

Examples:
  wastenot run scenarios/seeds/workpile.toml --seed 1-3
  wastenot run scenarios/seeds/scheduling-groups-cg.toml --scheduler osv
  wastenot run scenarios/seeds/wake-affine-h2.toml --variant after -o h2.wn
  wastenot run scenarios/real-time/dhall.toml --variant p-edf --set limit=1s
  wastenot run scenarios/rt-app/player.json --machine smp4 --scheduler osv
  wastenot run scenarios/lab/barrier.toml --on 6.12 --on 7.2 --on sim --repeat 5
  wastenot run scenarios/lab/ --on 7.2 --scheduler-cmd ./scx_foo -o r/
  wastenot run --on 6.12 --on 7.2 --machine numa:2 -- hackbench -g 2 -l 50")]
pub(crate) struct Run {
    /// Scenario (TOML), a folder of them, or rt-app file (JSON); `-` is standard input
    #[arg(value_name = "SCENARIO", required_unless_present = "command")]
    pub(crate) files: Vec<PathBuf>,
    /// Where to run it: sim, host, or a kernel in a guest; may be repeated
    #[arg(long, value_name = "BENCH", default_value = "sim")]
    pub(crate) on: Vec<On>,
    /// Set a key or a parameter of the scenario; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<Setting>,
    /// Machine to use: a preset, an hwloc description, or a file (hwloc XML, `lscpu -p`, /sys)
    #[arg(long, value_name = "MACHINE")]
    pub(crate) machine: Option<String>,
    #[command(flatten)]
    pub(crate) under: Under,
    /// With a kernel: also run under the scheduler of this program or BPF object; may be repeated
    #[arg(long, value_name = "COMMAND", conflicts_with = "scheduler")]
    pub(crate) scheduler_cmd: Vec<String>,
    /// Exit with 1 also if a figure is surely worse than under the scheduler before it
    #[arg(long, requires = "scheduler_cmd")]
    pub(crate) fail_if_worse: bool,
    /// Exit with 1 also unless every figure is known and lies in its band
    #[arg(long, conflicts_with = "scheduler")]
    pub(crate) fail_if_out_of_band: bool,
    /// Run only this variant; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) variant: Vec<String>,
    /// Seeds to run: 7, 1-20 or 1,5,9 [default: as many as the scenario asks for]
    #[arg(long, value_name = "LIST")]
    pub(crate) seed: Option<Seeds>,
    /// Run each variant N times, with seeds 1 to N
    #[arg(long, value_name = "N", conflicts_with = "seed")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub(crate) repeat: Option<u64>,
    /// Write the trace of one run (.wn, or any format of `convert`): of seed 1 unless --seed; with
    /// a folder (DIR/), of every run
    #[arg(short, long, value_name = "HISTORY")]
    pub(crate) output: Option<PathBuf>,
    /// Write the report with pictures to this page [default with -o DIR/ on kernels: report.html]
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// With -o: also write the scheduler's decisions, and the CPUs that it examined
    #[arg(long, requires = "output")]
    pub(crate) decisions: bool,
    /// With a policy in a kernel: also write each step of its protocol, for `prove --conforms`
    #[arg(long)]
    pub(crate) steps: bool,
    /// Overwrite the output file
    #[arg(long)]
    pub(crate) force: bool,
    /// Store the result of each run in this file, and run only what is not in it
    #[arg(long, value_name = "RESULTS")]
    pub(crate) resume: Option<PathBuf>,
    /// Program to run in place of a scenario, on a kernel; the machine is then `core:4 pu:1`
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "files")]
    pub(crate) command: Vec<String>,
    #[command(flatten)]
    pub(crate) face: Face,
}

/// What runs a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum On {
    /// The simulator.
    Sim,
    /// This machine.
    Host,
    /// A kernel in a guest.
    Kernel(Kernel),
}

/// A kernel as typed: `7.2`, `7.2,shift=0`, or `7.2,shift=all`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kernel {
    /// Its version, or the suite that has it.
    pub(crate) name: String,
    /// An instruction takes 2^shift ns, unless KVM executes it: each of these is a bench.
    pub(crate) shifts: Vec<u8>,
}

impl FromStr for On {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<On, &'static str> {
        let (name, shifts) = match text.split_once(",shift=") {
            None => (text, vec![USUAL]),
            Some((name, "all")) => (name, vec![0, 1, 2]),
            Some((name, shift)) => (name, vec![shift.parse().map_err(|_| SHIFT)?]),
        };
        match name {
            "sim" if name == text => Ok(On::Sim),
            "host" if name == text => Ok(On::Host),
            _ if shifts.iter().any(|it| *it > 10) => Err(SHIFT),
            _ if name.contains(',') => Err("only `,shift=0` or `,shift=all` may follow the kernel"),
            _ if is_name(name) => Ok(On::Kernel(Kernel { name: name.to_owned(), shifts })),
            _ => Err("expected sim, host, or a kernel, as in 7.2"),
        }
    }
}

const SHIFT: &str = "expected a shift from 0 to 10, or `all`";

/// `NAME=VALUE`.
#[derive(Clone, Debug)]
pub(crate) struct Setting(pub(crate) String, pub(crate) String);

impl FromStr for Setting {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Setting, &'static str> {
        let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
        Ok(Setting(name.trim().to_owned(), value.trim().to_owned()))
    }
}
