//! `wastenot rota fmt`, `wastenot rota check`, `wastenot rota error`, `wastenot rota emit`

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Check and format policies in Rota, explain errors, emit C
#[derive(Args, Debug)]
#[command(after_help = "\
Rota is a language for scheduling policies: docs/reference/rota.md.

Examples:
  wastenot rota check my.rota
  wastenot rota fmt my.rota
  wastenot rota error R008
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
    Error(Code),
    Emit(Emit),
}

/// What the help says of FILE.
const FILE: &str = "File in Rota; `-` is standard input";

/// Report all faults of policies, without proving claims
#[derive(Args, Debug)]
#[command(after_help = "\
Exit codes: 0 no fault; 1 a fault; 2 failure.

Examples:
  wastenot rota check my.rota
  wastenot rota check my.rota --json")]
pub(crate) struct Check {
    #[arg(value_name = "FILE", required = true, help = FILE)]
    pub(crate) files: Vec<PathBuf>,
    /// Print one JSON object (wastenot.rota/1)
    #[arg(long)]
    pub(crate) json: bool,
}

/// Format policies in place
#[derive(Args, Debug)]
#[command(after_help = "\
The names of changed files are printed. Comments and blank lines are kept, and
the meaning does not change. Files with syntax faults are not changed.

Examples:
  wastenot rota fmt my.rota
  wastenot rota fmt --check my.rota
  wastenot rota fmt - < my.rota")]
pub(crate) struct Fmt {
    /// File in Rota; `-` is standard input, with the result on standard output
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Change nothing; list the files that would change, and exit with 1 if there are any
    #[arg(long)]
    pub(crate) check: bool,
}

/// Explain an error code, or list all codes
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  wastenot rota error
  wastenot rota error R008")]
pub(crate) struct Code {
    /// Code such as R008; without it, all codes are listed
    pub(crate) code: Option<String>,
}

/// Emit C of a policy for sched_ext
#[derive(Args, Debug)]
#[command(after_help = "\
The output is one self-contained file; docs/explain/emit.md describes its
contents and what a loader must set. Compile it to BPF with clang:
  clang -g -O2 -target bpf -mcpu=v3 -c my.bpf.c

Claims are checked as with `wastenot prove`, with up to 5 s per query. A policy
with a refuted claim is not written. Claims without a proof for any number of
CPUs are listed on stderr and at the top of the file.

Exit codes: 0 written; 1 a fault, or a refuted claim; 2 failure.

Examples:
  wastenot rota emit my.rota
  wastenot rota emit my.rota -o my.bpf.c")]
pub(crate) struct Emit {
    /// File in Rota; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Output file; `-` is standard output
    #[arg(short, long, value_name = "OUT", default_value = "-")]
    pub(crate) output: PathBuf,
    /// Overwrite the output file
    #[arg(long)]
    pub(crate) force: bool,
    /// Write the file even if a claim is refuted
    #[arg(long)]
    pub(crate) anyway: bool,
    /// Emit code that also logs each step of the protocol (docs/explain/conformance.md)
    #[arg(long)]
    pub(crate) steps: bool,
}
