//! `wastenot list`

use clap::{Args, ValueEnum};

use super::check::Face;

/// List schedulers, machines, workloads, claims or causes
#[derive(Args, Debug)]
#[command(after_help = "\
Schedulers and machines are names for --scheduler and --machine and for the keys
of scenarios; workloads are functions of the catalogue for `use =` in a scenario
(docs/reference/scenario.md); claims are what a policy may declare with `prove`
(docs/reference/rota.md); causes are why time was lost, for `check --cause`
(docs/reference/causes.md).

Exit codes: 0 listed; 2 failure.

Examples:
  wastenot list schedulers
  wastenot list machines --json")]
pub(crate) struct List {
    #[arg(value_name = "WHAT", help = "What to list")]
    pub(crate) what: What,
    #[command(flatten)]
    pub(crate) face: Face,
}

/// What can be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum What {
    /// Schedulers that can be simulated, and their tunables
    Schedulers,
    /// Machines by name
    Machines,
    /// Workloads of the catalogue, and their arguments
    Workloads,
    /// Claims that `prove` can check
    Claims,
    /// Causes of lost time that `check` can tell apart
    Causes,
}
