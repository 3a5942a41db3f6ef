//! `wastenot run`

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use wastenot_experiment::Seeds;

use super::check::Face;
use super::scheduler::Under;

/// Run a scenario: a workload on a machine under a scheduler
#[derive(Args, Debug)]
#[command(after_help = "\
A scenario is a TOML file: a machine, a workload, a scheduler, variants of them
and figures to measure (docs/scenario.md). Examples are in scenarios/.

An rt-app file contains a workload only: set the rest with --machine and
--scheduler (docs/simulate.md).

--set changes a key of the scenario in all variants; dots lead into tables. A
NAME that is no key is a parameter. VALUE is written as in TOML; quotes of texts
may be left out:
  --set limit=2s   --set costs.switch=1us   --set scheduler.slice=3ms
--machine and --scheduler do the same; they also accept files.

Exit codes: 0 simulated; 2 failure.

Examples:
  wastenot run scenarios/seeds/workpile.toml --seed 1-3
  wastenot run scenarios/seeds/scheduling-groups-cg.toml --scheduler osv
  wastenot run scenarios/seeds/wake-affine-h2.toml --variant after -o h2.wn
  wastenot run scenarios/real-time/dhall.toml --variant p-edf --set limit=1s
  wastenot run scenarios/rt-app/player.json --machine smp4 --scheduler osv")]
pub(crate) struct Run {
    /// Scenario (TOML) or rt-app file (JSON); `-` is standard input
    #[arg(value_name = "SCENARIO")]
    pub(crate) file: PathBuf,
    /// Where to run it: sim is the simulator
    #[arg(long, value_name = "BENCH", value_enum, default_value_t = Bench::Sim)]
    #[arg(hide_possible_values = true)]
    pub(crate) on: Bench,
    /// Set a key or a parameter of the scenario; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<Setting>,
    /// Machine to simulate: a preset, an hwloc description, or a file (hwloc XML, `lscpu -p`, /sys)
    #[arg(long, value_name = "MACHINE")]
    pub(crate) machine: Option<String>,
    #[command(flatten)]
    pub(crate) under: Under,
    /// Run only this variant; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) variant: Vec<String>,
    /// Seeds to run: 7, 1-20 or 1,5,9 [default: as many as the scenario asks for]
    #[arg(long, value_name = "LIST")]
    pub(crate) seed: Option<Seeds>,
    /// Write the trace of one run (.wn, or any format of `convert`): of seed 1 unless --seed
    #[arg(short, long, value_name = "HISTORY")]
    pub(crate) output: Option<PathBuf>,
    /// With -o: also write the scheduler's decisions, and the CPUs that it examined
    #[arg(long, requires = "output")]
    pub(crate) decisions: bool,
    /// Overwrite the output file
    #[arg(long)]
    pub(crate) force: bool,
    /// Store the result of each run in this file, and run only what is not in it
    #[arg(long, value_name = "RESULTS")]
    pub(crate) resume: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) face: Face,
}

/// What runs a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Bench {
    /// The simulator.
    Sim,
}

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
