//! `wastenot prove`

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use wastenot_model::Span;

use super::check::Face;
use super::quantity::span;

/// Prove what a policy claims, or show how it goes wrong
#[derive(Args, Debug)]
#[command(after_help = "\
What is proved is that no CPU stays idle while a task waits that it may run,
beyond a stated number of attempts: in a model, under the assumptions that are
listed (docs/proofs.md). A policy says itself what it claims: `prove ...`.

First small machines are explored, every situation of them, which needs no
solver and finds the smallest counterexample: up to --cpus CPUs and --tasks
tasks, and interleavings of wakeups up to 2 CPUs and 2 tasks. At the same time
z3 or cvc5 is asked about machines of any size, or both are (--both). What they
prove is explored for a moment only; where they do not, a solver is asked about
small machines, too, always up to 5 CPUs and 8 tasks, or beyond a number that a
balance asks for: a counterexample may be larger than --cpus says. The report
tells of each claim how far it was explored.

What was asked and answered can be kept (--certificate) and asked again
(--recheck).

Exit codes: 0 all claims are proved, for any number of CPUs; 1 one is refuted;
2 failed; 3 cannot tell: one is unknown, or proved of small machines only, or
nothing is claimed. Of several claims the worst decides, 1 before 3. --recheck
answers in the same way: 3 also for a claim that is not in the certificate.

Examples:
  wastenot prove policies/work-stealing.rota
  wastenot prove policies/fair-vtime.rota --claim hierarchy --json
  wastenot prove policies/wrong/group-average.rota --cex cex.wn
  wastenot prove policies/wrong/no-chain.rota --allow-unsafe")]
pub(crate) struct Prove {
    /// Policies in Rota; `-` is standard input
    #[arg(value_name = "FILE", required_unless_present = "recheck")]
    pub(crate) file: Option<PathBuf>,
    /// Only this claim; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) claim: Vec<String>,
    /// Write the first counterexample (.wn, or any format of `convert`)
    #[arg(long, value_name = "HISTORY")]
    pub(crate) cex: Option<PathBuf>,
    /// Replace what is there
    #[arg(long)]
    pub(crate) force: bool,
    /// Whom to ask: the first that is there of z3 and cvc5, unless named
    #[arg(long, value_name = "SOLVER", conflicts_with = "both")]
    pub(crate) solver: Option<Who>,
    /// Ask z3 and cvc5, and compare what they say
    #[arg(long)]
    pub(crate) both: bool,
    /// How long a solver may think about one question
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = span)]
    pub(crate) patience: Span,
    /// Explore machines of so many CPUs at most
    #[arg(long, value_name = "N", default_value = "4")]
    #[arg(value_parser = clap::value_parser!(u8).range(1..=6))]
    pub(crate) cpus: u8,
    /// Explore so many tasks at most
    #[arg(long, value_name = "N", default_value = "3")]
    #[arg(value_parser = clap::value_parser!(u8).range(1..=6))]
    pub(crate) tasks: u8,
    /// Ask anew what was asked before
    #[arg(long)]
    pub(crate) no_cache: bool,
    /// Take policies with `unsafe protocol`, to see what comes of it
    #[arg(long)]
    pub(crate) allow_unsafe: bool,
    /// Write what was asked and answered into a new folder, for others to ask again
    #[arg(long, value_name = "DIR")]
    pub(crate) certificate: Option<PathBuf>,
    /// Make anew what a certificate has to hold, compare, and ask again (of --claim alone)
    #[arg(long, value_name = "DIR", conflicts_with_all = ["file", "cex", "certificate"])]
    pub(crate) recheck: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) face: Face,
}

/// A solver, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Who {
    /// Microsoft's
    Z3,
    /// Stanford's and Iowa's
    Cvc5,
    /// Small machines only
    None,
}
