//! `wastenot list`

use clap::{Args, ValueEnum};

use super::check::Face;

/// List schedulers, machines, workloads, claims or causes
#[derive(Args, Debug)]
#[command(after_help = "\
The names of schedulers and machines are values of --scheduler, of --machine,
and of keys of scenarios. Workloads are functions that a scenario calls with
`use =` (docs/reference/scenario.md). Claims are properties that a policy
declares with `prove` (docs/reference/rota.md). Causes are the reasons for lost
time that `check --cause` accepts (docs/reference/causes.md).

Exit codes: 0 success; 2 failure.

Examples:
  wastenot list schedulers
  wastenot list machines --json")]
pub(crate) struct List {
    #[arg(value_name = "WHAT", help = "Kind of names to list")]
    pub(crate) what: What,
    #[command(flatten)]
    pub(crate) face: Face,
}

/// The kinds of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum What {
    /// Schedulers that can be simulated, and their tunables
    Schedulers,
    /// Preset machines
    Machines,
    /// Workloads of the catalogue, and their arguments
    Workloads,
    /// Claims that `prove` can check
    Claims,
    /// Causes of lost time that `check` distinguishes
    Causes,
}
