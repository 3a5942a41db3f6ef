//! `wastenot deploy`

use std::path::PathBuf;

use clap::Args;
use wastenot_model::Span;
use wastenot_model::quantity::some_span;

use super::check::Face;

/// Let a policy schedule this machine (sched_ext)
#[derive(Args, Debug)]
#[command(after_help = "\
The policy is emitted, compiled with clang, and verified by the kernel. It gets
all tasks of the fair class, and is unloaded after the time of --for, after a
signal, or when wastenot ends, however that is.

Exit codes: 0 it ran, or would; 1 the kernel ended it; 2 failure.

Examples:
  sudo wastenot deploy my.rota --dry-run
  sudo wastenot deploy my.rota --for 10s")]
pub(crate) struct Deploy {
    /// File in Rota
    #[arg(value_name = "POLICY")]
    pub(crate) file: PathBuf,
    /// Load this object, which clang made of the emitted C of the same file
    #[arg(long, value_name = "FILE.o")]
    pub(crate) object: Option<PathBuf>,
    /// Let the kernel verify it, and unload it at once
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// With --dry-run: fill in the tables of this machine (preset, hwloc topology or file)
    #[arg(long, value_name = "MACHINE", requires = "dry_run")]
    pub(crate) machine: Option<String>,
    /// Unload it after this time
    #[arg(long = "for", value_name = "TIME", value_parser = some_span, default_value = "60s")]
    pub(crate) span: Span,
    /// Also load a policy of which a claim is refuted, or not proved
    #[arg(long)]
    pub(crate) allow_unproved: bool,
    #[command(flatten)]
    pub(crate) face: Face,
}
