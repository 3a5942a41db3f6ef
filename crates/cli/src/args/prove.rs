//! `wastenot prove`

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use wastenot_model::Span;
use wastenot_model::quantity::span;

use super::check::Face;

/// Prove the claims of a policy, or find a counterexample
#[derive(Args, Debug)]
#[command(after_help = "\
A proof shows that no CPU stays idle while a task that it may run waits, beyond
a stated number of attempts. It holds in a model, under the assumptions listed
in the report (docs/explain/proofs.md). A policy declares its claims with
`prove ...`.

All states of small machines are explored: up to --cpus CPUs and --tasks tasks,
and interleavings of wakeups up to 2 CPUs and 2 tasks. This needs no solver and
finds the smallest counterexample. At the same time z3 or cvc5, or both
(--both), check machines of any size. A claim that they prove is explored only
briefly. For a claim that they do not prove, a solver also checks small
machines: always up to 5 CPUs and 8 tasks, or more if a balance requires it, so
a counterexample may be larger than --cpus. The report contains how far each
claim was explored.

The queries to the solver and the answers can be saved (--certificate) and run
again (--recheck).

The steps of a counterexample from --cex can be forced again (--replay), on the
policy that it was found with or on a corrected one (--scheduler). The report
shows at which step that policy does something else (docs/explain/proofs.md).

The steps that a kernel took under the policy can be replayed in the model
(--conforms): the report names the first step that the model does not allow
(docs/explain/conformance.md).

Exit codes: 0 all claims are proved for any number of CPUs; 1 a claim is
refuted; 2 failure; 3 a claim is unknown or proved for small machines only, or
there is no claim. 1 takes precedence over 3. The same holds for --recheck,
with 3 also for a claim that is not in the certificate. With --replay: 0 it does
not go wrong; 1 it does; 2 failure. With --conforms: 0 the model allows all
steps; 1 it does not; 2 failure; 3 steps were lost.

Examples:
  wastenot prove policies/work-stealing.rota
  wastenot prove policies/fair-vtime.rota --claim hierarchy --json
  wastenot prove policies/wrong/group-average.rota --cex cex.wn
  wastenot prove policies/wrong/no-chain.rota --allow-unsafe
  wastenot prove --replay counterexample.wn --scheduler mended.rota
  wastenot prove my.rota --conforms recorded.wn")]
#[command(mut_arg("json", |arg| arg.help(JSON)))]
pub(crate) struct Prove {
    /// Policies in Rota; `-` is standard input
    #[arg(value_name = "FILE", required_unless_present_any = ["recheck", "replay"])]
    pub(crate) file: Option<PathBuf>,
    /// Check only this claim; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) claim: Vec<String>,
    /// Write the first counterexample (.wn, or any format of `convert`)
    #[arg(long, value_name = "HISTORY")]
    pub(crate) cex: Option<PathBuf>,
    /// Overwrite the output file
    #[arg(long)]
    pub(crate) force: bool,
    /// Solver to run [default: z3 if installed, else cvc5]
    #[arg(long, value_name = "SOLVER", conflicts_with = "both")]
    pub(crate) solver: Option<Who>,
    /// Run both z3 and cvc5, and compare their answers
    #[arg(long)]
    pub(crate) both: bool,
    /// Time limit of a solver for one query
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = span)]
    pub(crate) patience: Span,
    /// Explore machines of at most N CPUs
    #[arg(long, value_name = "N", default_value = "4")]
    #[arg(value_parser = clap::value_parser!(u8).range(1..=6))]
    pub(crate) cpus: u8,
    /// Explore at most N tasks
    #[arg(long, value_name = "N", default_value = "3")]
    #[arg(value_parser = clap::value_parser!(u8).range(1..=6))]
    pub(crate) tasks: u8,
    /// Do not use cached answers of solvers
    #[arg(long)]
    pub(crate) no_cache: bool,
    /// Accept policies with `unsafe protocol`
    #[arg(long)]
    pub(crate) allow_unsafe: bool,
    /// Write the queries and answers into a new directory, for --recheck
    #[arg(long, value_name = "DIR")]
    pub(crate) certificate: Option<PathBuf>,
    /// Regenerate the queries of a certificate, compare them, and run them again (with --claim,
    /// those of that claim only)
    #[arg(long, value_name = "DIR", conflicts_with_all = ["file", "cex", "certificate"])]
    pub(crate) recheck: Option<PathBuf>,
    /// Force the steps of a counterexample again
    #[arg(long, value_name = "CEX", conflicts_with_all = PROVING)]
    pub(crate) replay: Option<PathBuf>,
    /// Replay in the model the steps that a kernel logged under this policy (run --steps)
    #[arg(long, value_name = "HISTORY", requires = "file")]
    #[arg(conflicts_with_all = ["claim", "cex", "certificate", "recheck", "replay"])]
    pub(crate) conforms: Option<PathBuf>,
    /// With --replay: the policy on which to force the counterexample [default: the one that it
    /// was found with]
    #[arg(long, value_name = "FILE.rota", requires = "replay")]
    #[arg(conflicts_with_all = ["file", "recheck"])]
    pub(crate) scheduler: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) face: Face,
}

/// What `--json` prints.
const JSON: &str = "Print one JSON object (docs/reference/prove.md; with --replay: \
                    counterexample.md)";
/// What is about proofs, and so not about a replay.
const PROVING: [&str; 7] = ["file", "claim", "cex", "solver", "both", "certificate", "recheck"];

/// A solver, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Who {
    /// Z3, by Microsoft
    Z3,
    /// cvc5, by Stanford and Iowa
    Cvc5,
    /// No solver: small machines only
    None,
}
