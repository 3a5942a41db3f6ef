//! `wastenot rota fmt`, `wastenot rota check`, `wastenot rota error`, `wastenot rota emit`

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Check and format Rota policies, explain errors, emit C
#[derive(Args, Debug)]
#[command(after_help = "\
Rota is a language for scheduling policies (docs/reference/rota.md).

Examples:
  wastenot rota check my.rota
  wastenot rota fmt my.rota
  wastenot rota error R008
  wastenot rota emit my.rota -o my.bpf.c")]
pub(crate) struct Rota {
    #[command(subcommand)]
    pub(crate) what: What,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum What {
    Check(Check),
    Fmt(Fmt),
    Error(Code),
    Emit(Emit),
}

/// The help text of FILE.
const FILE: &str = "Policy file in Rota; `-` is standard input";

/// Report all faults of policies, but do not prove claims
#[derive(Args, Debug)]
#[command(after_help = "\
Exit codes: 0 no fault; 1 at least one fault; 2 failure.

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
`fmt` prints the names of changed files. It keeps comments and blank lines, and
does not change the meaning of a policy. It does not change files with syntax
faults.

Examples:
  wastenot rota fmt my.rota
  wastenot rota fmt --check my.rota
  wastenot rota fmt - < my.rota")]
pub(crate) struct Fmt {
    /// Policy file in Rota. With `-`, `fmt` reads standard input and writes standard output
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Change no file; list the files that would change, and exit with 1 if there are any
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
    /// Error code such as R008 [default: list all codes]
    pub(crate) code: Option<String>,
}

/// Emit a policy as C for sched_ext
#[derive(Args, Debug)]
#[command(after_help = "\
The output is one self-contained file. docs/explain/emit.md describes the file
and the values that a loader must set. Compile the file to BPF with clang:
  clang -g -O2 -target bpf -mcpu=v3 -c my.bpf.c

`emit` checks the claims like `wastenot prove`, with at most 5 s per query. It
does not write a policy that has a refuted claim. A claim may be unproved for
some numbers of CPUs. `emit` lists such claims on stderr and at the top of the
file.

Exit codes: 0 written; 1 the policy has a fault or a refuted claim; 2 failure.

Examples:
  wastenot rota emit my.rota
  wastenot rota emit my.rota -o my.bpf.c")]
pub(crate) struct Emit {
    /// Policy file in Rota; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Write the C code to this file; `-` is standard output
    #[arg(short, long, value_name = "OUT", default_value = "-")]
    pub(crate) output: PathBuf,
    /// Overwrite the output file
    #[arg(long)]
    pub(crate) force: bool,
    /// Write the C code even if a claim is refuted
    #[arg(long)]
    pub(crate) anyway: bool,
    /// Also emit code that logs each step of the protocol (docs/explain/conformance.md)
    #[arg(long)]
    pub(crate) steps: bool,
}
