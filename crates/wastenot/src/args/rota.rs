//! `wastenot rota fmt`, `wastenot rota check`, `wastenot rota explain`, `wastenot rota emit`

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Write policies in Rota: find their faults, format them, emit C
#[derive(Args, Debug)]
#[command(after_help = "\
Rota is a language for schedulers: docs/reference/rota.md.

Examples:
  wastenot rota check my.rota
  wastenot rota fmt my.rota
  wastenot rota explain R008
  wastenot rota emit my.rota -o my.bpf.c")]
pub(crate) struct Rota {
    #[command(subcommand)]
    pub(crate) what: What,
}

/// What can be done with texts.
#[derive(Debug, Subcommand)]
pub(crate) enum What {
    Check(Check),
    Fmt(Fmt),
    Explain(Explain),
    Emit(Emit),
}

/// What the help says of FILE.
const FILE: &str = "A text in Rota; `-` is standard input";

/// Tell all that is wrong with policies, short of proving them
#[derive(Args, Debug)]
#[command(after_help = "\
Exits with 1 where something is wrong.

Examples:
  wastenot rota check my.rota
  wastenot rota check my.rota --json")]
pub(crate) struct Check {
    #[arg(value_name = "FILE", required = true, help = FILE)]
    pub(crate) files: Vec<PathBuf>,
    /// One JSON object: wastenot.rota/1
    #[arg(long)]
    pub(crate) json: bool,
}

/// Write policies in their one form, in place
#[derive(Args, Debug)]
#[command(after_help = "\
Tells which files it changed. Comments and blank lines stay; nothing changes
that means anything. Files with faults in their grammar are left alone.

Examples:
  wastenot rota fmt my.rota
  wastenot rota fmt --check my.rota
  wastenot rota fmt - < my.rota")]
pub(crate) struct Fmt {
    /// A text in Rota; `-` is standard input, and the result standard output
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Change nothing; tell which files would be, and exit with 1 if any
    #[arg(long)]
    pub(crate) check: bool,
}

/// Explain a code of the messages, or list all
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  wastenot rota explain
  wastenot rota explain R008")]
pub(crate) struct Explain {
    /// Such as R008; without one all are listed
    pub(crate) code: Option<String>,
}

/// Write the C of a policy, for sched_ext
#[derive(Args, Debug)]
#[command(after_help = "\
One self-contained file: docs/emit.md says what is in it and what a loader has
to fill. clang makes BPF of it:
  clang -g -O2 -target bpf -mcpu=v3 -c my.bpf.c

A policy of which a claim is refuted is not written: it is asked what `prove`
asks, with up to 5 s for a question. What is not proved for any number of CPUs
is noted, here and at the top of the file; `wastenot prove` says more.

Exit codes: 0 written; 1 there is a fault, or a claim is refuted; 2 failed.

Examples:
  wastenot rota emit my.rota
  wastenot rota emit my.rota -o my.bpf.c")]
pub(crate) struct Emit {
    /// A text in Rota; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Where to write it; `-` is standard output
    #[arg(short, long, value_name = "OUT", default_value = "-")]
    pub(crate) output: PathBuf,
    /// Replace OUT if it is there
    #[arg(long)]
    pub(crate) force: bool,
    /// Write it though a claim is refuted
    #[arg(long)]
    pub(crate) anyway: bool,
}
