//! `wastenot run`

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use wastenot_experiment::Seeds;
use wastenot_experiment::shifts::USUAL;
use wastenot_lab::kernels::is_name;
use wastenot_scenario::scenario::Setting;

use super::check::Face;
use super::scheduler::Under;

/// Run a scenario: a workload on a machine under a scheduler
#[derive(Args, Debug)]
#[command(after_help = "\
A scenario is a TOML file that describes a machine, a workload, a scheduler,
variants, and figures to measure (docs/reference/scenario.md). Examples are in
scenarios/. An rt-app file describes only a workload: set the machine and the
scheduler with --machine and --scheduler (docs/explain/simulate.md).

--on selects where the scenario runs: in the simulator (sim), on this machine
(host), or in a guest with a Debian kernel (6.12, 7.2.13, sid). On this machine
and in guests, the tasks are real and `run` records them. They are scheduled by
the kernel's own scheduler, or by the policy of --scheduler
(docs/how-to/lab.md).

--scheduler-cmd runs the scenario under the kernel's own scheduler, and then
under the scheduler that COMMAND loads. With several commands, each scheduler is
compared with the previous one (docs/how-to/sched_ext.md).

-- COMMAND runs a program as a scenario with one task. In a guest, the program,
its libraries, and the files among its arguments are available. Without KVM,
QEMU counts instructions instead of time. The report then has waits, placements,
migrations and waste, but no completion times.

--set changes a key of the scenario in all variants. In NAME, a dot separates
the name of a table from its key. If NAME is not a key, --set sets the parameter
NAME. Write VALUE as in TOML; quotes around strings are optional:
  --set limit=2s   --set costs.switch=1us   --set scheduler.hz=1000
--machine and --scheduler also set keys, and accept files.

Exit codes: 0 success; 2 failure; 1 in these cases:
  - the kernel refused or ended a scheduler, or a task starved,
  - a run reached the limit under a scheduler of --scheduler-cmd, but not under
    the previous scheduler,
  - a figure is worse (--fail-if-worse),
  - a figure is unknown, or outside its expected range, the `band` of the
    scenario (--fail-if-out-of-band).

Examples:
  wastenot run scenarios/seeds/workpile.toml --seed 1-3
  wastenot run scenarios/seeds/scheduling-groups-cg.toml --scheduler osv
  wastenot run scenarios/seeds/wake-affine-h2.toml --variant after -o h2.wn
  wastenot run scenarios/real-time/dhall.toml --variant p-edf --set limit=1s
  wastenot run scenarios/rt-app/player.json --machine smp4 --scheduler osv
  wastenot run scenarios/lab/barrier.toml --on 6.12 --on 7.2 --on sim --repeat 5
  wastenot run scenarios/lab/ --on 7.2 --scheduler-cmd ./scx_foo -o r/
  wastenot run --on 6.12 --on 7.2 --machine smp4 -- hackbench -g 2 -l 50")]
pub(crate) struct Run {
    /// Scenario (TOML), directory of scenarios, or rt-app file (JSON); `-` is standard input
    #[arg(value_name = "SCENARIO", required_unless_present = "command")]
    pub(crate) files: Vec<PathBuf>,
    /// Run in the simulator (sim), on this machine (host), or in a guest with this kernel (7.2);
    /// may be repeated
    #[arg(long, value_name = "BENCH", default_value = "sim")]
    pub(crate) on: Vec<On>,
    /// Set a key or a parameter of the scenario; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    pub(crate) set: Vec<Setting>,
    /// Use this machine: a preset, an hwloc description, or a file (hwloc XML, `lscpu -p`, /sys)
    #[arg(long, value_name = "MACHINE")]
    pub(crate) machine: Option<String>,
    #[command(flatten)]
    pub(crate) under: Under,
    /// In a guest: also run under the scheduler that this program or BPF object loads; may be
    /// repeated
    #[arg(long, value_name = "COMMAND", conflicts_with = "scheduler")]
    pub(crate) scheduler_cmd: Vec<String>,
    /// Also exit with 1 if a figure is significantly worse than under the previous scheduler
    #[arg(long, requires = "scheduler_cmd")]
    pub(crate) fail_if_worse: bool,
    /// Also exit with 1 if a figure is unknown, or outside its expected range (`band`)
    #[arg(long, conflicts_with = "scheduler")]
    pub(crate) fail_if_out_of_band: bool,
    /// Run only this variant; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) variant: Vec<String>,
    /// Run these seeds: 7, 1-20 or 1,5,9 [default: from 1 to the scenario's `seeds`]
    #[arg(long, value_name = "LIST")]
    pub(crate) seed: Option<Seeds>,
    /// Run each variant N times, with seeds 1 to N
    #[arg(long, value_name = "N", conflicts_with = "seed")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub(crate) repeat: Option<u64>,
    /// Write the trace of one run (.wn, or any other format of `convert`). The default is the run
    /// with seed 1. With a directory (DIR/), write the traces of all runs
    #[arg(short, long, value_name = "TRACE")]
    pub(crate) output: Option<PathBuf>,
    /// Write the report with pictures to this page [default with kernels and -o DIR/: report.html]
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// With -o: also write the decisions of the scheduler, and the CPUs that it examined
    #[arg(long, requires = "output")]
    pub(crate) decisions: bool,
    /// With a policy in a guest: also write each step of its protocol, for `prove --conforms`
    #[arg(long)]
    pub(crate) steps: bool,
    /// Overwrite the output file
    #[arg(long)]
    pub(crate) force: bool,
    /// Store the result of each run in this file, and skip runs whose results are already in it
    #[arg(long, value_name = "RESULTS")]
    pub(crate) resume: Option<PathBuf>,
    /// Run this program instead of a scenario, on this machine or in a guest. The default machine
    /// of a guest is `core:4 pu:1`
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "files")]
    pub(crate) command: Vec<String>,
    #[command(flatten)]
    pub(crate) face: Face,
}

/// The place where a scenario runs.
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
    /// A version or a Debian suite.
    pub(crate) name: String,
    /// An instruction takes 2^shift ns, unless KVM executes it. Each shift is a bench of its own.
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
            _ if name.contains(',') => Err("expected `,shift=0` or `,shift=all` after the kernel"),
            _ if is_name(name) => Ok(On::Kernel(Kernel { name: name.to_owned(), shifts })),
            _ => Err("expected sim, host or a kernel such as 7.2"),
        }
    }
}

const SHIFT: &str = "expected a shift from 0 to 10, or `all`";

fn setting(text: &str) -> Result<Setting, &'static str> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok(Setting { name: name.trim().to_owned(), value: value.trim().to_owned() })
}
