//! `wastenot simulate`

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use wastenot_scenario::scenario::Choice;

use super::check::Face;
use super::input::Reading;
use super::when::WindowArgs;

/// Simulate a workload on a machine under a scheduler, reproducibly
#[derive(Args, Debug)]
#[command(mut_arg("json", |arg| arg.help(JSON)))]
#[command(mut_arg("machine", |arg| arg.help(MACHINE)))]
#[command(after_help = "\
A scenario is a TOML file: a machine, a workload, a scheduler, variants of them
and figures to measure (docs/scenario.md). Examples are in scenarios/.

An rt-app file contains a workload only: set the rest with --machine and
--scheduler (docs/simulate.md).

With --replay, the workload is extracted from a trace and run under another
scheduler. The report contains an upper bound on the recorded time that is due
to the scheduler, and a bound that no scheduler can beat (docs/what-if.md).

Exit codes: 0 simulated; 2 failure.

Examples:
  wastenot simulate scenarios/seeds/scheduling-groups-cg.toml
  wastenot simulate scenarios/seeds/workpile.toml --scheduler global-fifo
  wastenot simulate scenarios/seeds/wake-affine-h2.toml --variant after -o h2.wn
  wastenot simulate scenarios/real-time/dhall.toml --variant p-edf
  wastenot simulate scenarios/rt-app/player.json --machine smp4 --scheduler osv
  wastenot simulate --replay trace.dat --scheduler global-fifo
  wastenot simulate --replay trace.dat --scheduler policies/gang.rota
  wastenot simulate --replay trace.dat --task 'make*' --from 50ms -o what-if.wn
  wastenot simulate --schedulers")]
pub(crate) struct Simulate {
    /// Scenario (TOML) or rt-app file (JSON); `-` is standard input
    #[arg(value_name = "FILE", required_unless_present_any = ["schedulers", "replay"])]
    pub(crate) file: Option<PathBuf>,
    /// Run the workload of this trace instead of a scenario
    #[arg(long, value_name = "TRACE", conflicts_with_all = ["file", "seeds", "variant", "resume"])]
    pub(crate) replay: Option<PathBuf>,
    /// Run only this seed
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Run seeds 1 to N instead of those of the scenario
    #[arg(long, value_name = "N", conflicts_with = "seed")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) seeds: Option<u32>,
    /// Run only this variant; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) variant: Vec<String>,
    /// Scheduler of all runs: NAME or FILE.rota, or NAME,SWITCH=VALUE,...
    #[arg(long, value_name = "NAME")]
    pub(crate) scheduler: Option<Scheduler>,
    /// Accept policies with `unsafe protocol`
    #[arg(long)]
    pub(crate) allow_unsafe: bool,
    /// Write the trace of one run (.wn, or any format of `convert`): seed 1 unless --seed
    #[arg(short, long, value_name = "HISTORY")]
    pub(crate) output: Option<PathBuf>,
    /// With -o: also write the scheduler's decisions, and the CPUs that it examined
    #[arg(long, requires = "output")]
    pub(crate) decisions: bool,
    /// Overwrite the output file
    #[arg(long)]
    pub(crate) force: bool,
    /// Store the result of each run in this file, and run only what is not in it
    #[arg(long, value_name = "RESULTS", conflicts_with = "output")]
    pub(crate) resume: Option<PathBuf>,
    /// List the built-in schedulers and their switches
    #[arg(long)]
    pub(crate) schedulers: bool,
    #[command(flatten)]
    pub(crate) face: Face,
    #[command(flatten)]
    pub(crate) what_if: WhatIf,
}

/// What `--json` says here.
const JSON: &str = "Print one JSON object (docs/reference/simulate.md; with --replay: \
                    replay.md)";
/// What `--machine` says here.
const MACHINE: &str = "With an rt-app file: machine to simulate; with --replay: machine that \
                       recorded the trace. A preset, an hwloc description, or a file \
                       (hwloc XML, `lscpu -p`, /sys)";

/// What of a trace is run again, and where.
#[derive(Args, Debug)]
#[command(next_help_heading = "With --replay")]
pub(crate) struct WhatIf {
    /// Tasks that must finish: a name with * and ?, or a tid; may be repeated [default: tasks
    /// that started or exited during the recording]
    #[arg(long, value_name = "TASK")]
    pub(crate) task: Vec<String>,
    /// Simulate another machine than the recorded one: a preset, an hwloc description, or a file
    #[arg(long, value_name = "MACHINE")]
    pub(crate) on: Option<String>,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// A scheduler as typed.
#[derive(Clone, Debug)]
pub(crate) struct Scheduler(pub(crate) Choice);

impl FromStr for Scheduler {
    type Err = String;

    fn from_str(text: &str) -> Result<Scheduler, String> {
        let mut words = text.split(',').map(str::trim);
        let name = words.next().filter(|name| !name.is_empty() && !name.contains('='));
        let name = name.ok_or("expected the name of the scheduler first")?.to_owned();
        let pair = |word: &str| {
            let (switch, value) = word.split_once('=')?;
            Some((switch.trim().to_owned(), value.trim().to_owned()))
        };
        let switches: Option<Vec<_>> = words.map(pair).collect();
        let switches = switches.ok_or("expected switches as SWITCH=VALUE, separated by commas")?;
        let twice = |(n, (name, _)): (usize, &(String, String))| {
            switches[..n].iter().any(|(before, _)| before == name)
        };
        match switches.iter().enumerate().find(|&at| twice(at)) {
            Some((_, (name, _))) => Err(format!("`{name}` is set twice: leave one of them out")),
            None => Ok(Scheduler(Choice { switches, ..Choice::named(&name) })),
        }
    }
}
