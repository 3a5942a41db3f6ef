//! `wastenot simulate`

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use wastenot_scenario::scenario::Choice;

use super::check::Face;
use super::input::Reading;
use super::when::WindowArgs;

/// Run any workload on any machine under any scheduler, always alike
#[derive(Args, Debug)]
#[command(mut_arg("json", |arg| arg.help(JSON)))]
#[command(mut_arg("machine", |arg| arg.help(MACHINE)))]
#[command(after_help = "\
A scenario is a TOML file: a machine, a workload, a scheduler, variants of them
and figures to be measured (docs/scenario.md). scenarios/ has many.

A file of rt-app is a workload only: --machine and --scheduler say the rest
(docs/simulate.md).

With --replay the work comes out of a trace instead, and is run under another
scheduler: how much of the recorded time can be the scheduler's fault at most,
and what no scheduler beats (docs/what-if.md).

A counterexample of `prove --cex` is forced instead: the same choices, step by
step, on the policy that it was found with or on a mended one (--scheduler), and
where that does otherwise (docs/proofs.md).

Exit codes: 0 simulated; 1 a counterexample still goes wrong; 2 failed.

Examples:
  wastenot simulate scenarios/seeds/scheduling-groups-cg.toml
  wastenot simulate scenarios/seeds/workpile.toml --scheduler global-fifo
  wastenot simulate scenarios/seeds/wake-affine-h2.toml --variant after -o h2.wn
  wastenot simulate scenarios/real-time/dhall.toml --variant p-edf
  wastenot simulate scenarios/rt-app/player.json --machine smp4 --scheduler osv
  wastenot simulate --replay trace.dat --scheduler global-fifo
  wastenot simulate --replay trace.dat --scheduler policies/gang.rota
  wastenot simulate --replay trace.dat --task 'make*' --from 50ms -o what-if.wn
  wastenot simulate --replay counterexample.wn --scheduler mended.rota
  wastenot simulate --schedulers")]
pub(crate) struct Simulate {
    /// The scenario, or a file of rt-app (JSON); `-` is standard input
    #[arg(value_name = "FILE", required_unless_present_any = ["schedulers", "replay"])]
    pub(crate) file: Option<PathBuf>,
    /// Take the work out of this trace instead of a scenario, or force this counterexample
    #[arg(long, value_name = "TRACE", conflicts_with_all = ["file", "seeds", "variant", "resume"])]
    pub(crate) replay: Option<PathBuf>,
    /// Only this seed
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Seeds 1 to N instead of as many as the scenario says
    #[arg(long, value_name = "N", conflicts_with = "seed")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) seeds: Option<u32>,
    /// Only this variant; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) variant: Vec<String>,
    /// Another scheduler for all: NAME or FILE.rota, or NAME,SWITCH=VALUE,...
    #[arg(long, value_name = "NAME")]
    pub(crate) scheduler: Option<Scheduler>,
    /// Take policies with `unsafe protocol`, to see what comes of it
    #[arg(long)]
    pub(crate) allow_unsafe: bool,
    /// Write what happened in one run (.wn, or any format of `convert`): seed 1 unless --seed
    #[arg(short, long, value_name = "HISTORY")]
    pub(crate) output: Option<PathBuf>,
    /// With -o: also what the scheduler decided, and which CPUs it looked at
    #[arg(long, requires = "output")]
    pub(crate) decisions: bool,
    /// Replace what is there
    #[arg(long)]
    pub(crate) force: bool,
    /// Keep what each run gave in this file, and run only what is not in it
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
const JSON: &str = "One JSON object (docs/reference/simulate.md; of --replay: replay.md, or \
                    counterexample.md)";
/// What `--machine` says here.
const MACHINE: &str = "With a file of rt-app: the machine it runs on; with --replay: the machine \
                       the trace was recorded on. A preset, an hwloc description, or a file \
                       (hwloc XML, `lscpu -p`, /sys)";

/// What of a trace is run again, and where.
#[derive(Args, Debug)]
#[command(next_help_heading = "With --replay")]
pub(crate) struct WhatIf {
    /// The run is over when these are done: a name with * and ?, or a tid; may be repeated.
    /// Without it, when those are that came or ended within the recording
    #[arg(long, value_name = "TASK")]
    pub(crate) task: Vec<String>,
    /// Run it on another machine than it ran on: a preset, an hwloc description, or a file
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
        let name = name.ok_or("begin with the scheduler's name")?.to_owned();
        let pair = |word: &str| {
            let (switch, value) = word.split_once('=')?;
            Some((switch.trim().to_owned(), value.trim().to_owned()))
        };
        let switches: Option<Vec<_>> = words.map(pair).collect();
        let switches = switches.ok_or("write switches as SWITCH=VALUE, with commas between")?;
        let twice = |(n, (name, _)): (usize, &(String, String))| {
            switches[..n].iter().any(|(before, _)| before == name)
        };
        match switches.iter().enumerate().find(|&at| twice(at)) {
            Some((_, (name, _))) => Err(format!("`{name}` is set twice: leave one of them out")),
            None => Ok(Scheduler(Choice { switches, ..Choice::named(&name) })),
        }
    }
}
