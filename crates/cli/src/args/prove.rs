//! `wastenot prove`

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use wastenot_model::Span;
use wastenot_model::quantity::span;

use super::check::Face;

/// Prove the claims of a policy, or find a counterexample
#[derive(Args, Debug)]
#[command(after_help = "\
A proof limits how long a CPU stays idle while it may run a waiting task. The
limit is a number of attempts of this CPU to take a task. The proof holds in a
model, and under the assumptions that the report lists (docs/explain/proofs.md).
A policy declares its claims with `prove ...`.

`prove` checks each claim in two ways at the same time:
  - It explores all states of small machines: up to --cpus CPUs and --tasks
    tasks. For up to 2 CPUs and 2 tasks, it also tries the interleavings of
    wakeups. The exploration needs no solver, and finds the smallest
    counterexample.
  - The solver z3 or cvc5 checks machines of any size. --both uses both solvers.
If a solver proves a claim, `prove` explores that claim only briefly. If no
solver proves a claim, a solver also checks small machines with up to 5 CPUs and
8 tasks. This limit can be higher if a balance compares a value with a higher
number. A counterexample may therefore have more CPUs than --cpus. The report
states how far each claim was explored.

--certificate saves the queries and the answers of the solver. --recheck runs
the saved queries again.

--replay repeats the steps of a counterexample that --cex wrote. It uses the
policy of the counterexample, or a corrected policy (--scheduler). The report
shows the first step that has another result than in the counterexample
(docs/explain/proofs.md).

--conforms takes the steps that a kernel logged under the policy, and replays
them in the model. The report shows the first step that the model does not allow
(docs/explain/conformance.md).

Exit codes: 0 all claims are proved for any number of CPUs; 1 a claim is
refuted; 2 failure; 3 a claim is unknown or proved for small machines only, or
the policy has no claim. Code 1 takes precedence over 3.
With --recheck: the same codes; code 3 also means that a claim is not in the
certificate.
With --replay: 0 the replay shows no fault; 1 the replay shows a fault; 2
failure.
With --conforms: 0 the model allows all steps; 1 the model does not allow a
step; 2 failure; 3 the trace lost steps.

Examples:
  wastenot prove policies/work-stealing.rota
  wastenot prove policies/fair-vtime.rota --claim hierarchy --json
  wastenot prove policies/wrong/group-average.rota --cex cex.wn
  wastenot prove policies/wrong/no-chain.rota --allow-unsafe
  wastenot prove --replay counterexample.wn --scheduler mended.rota
  wastenot prove my.rota --conforms recorded.wn")]
#[command(mut_arg("json", |arg| arg.help(JSON)))]
pub(crate) struct Prove {
    /// Policies to prove, in Rota; `-` is standard input
    #[arg(value_name = "FILE", required_unless_present_any = ["recheck", "replay"])]
    pub(crate) file: Option<PathBuf>,
    /// Check only this claim; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) claim: Vec<String>,
    /// Write the first counterexample as a trace (.wn, or any other format of `convert`)
    #[arg(long, value_name = "TRACE")]
    pub(crate) cex: Option<PathBuf>,
    /// Overwrite the output file
    #[arg(long)]
    pub(crate) force: bool,
    /// Use this solver [default: z3 if installed, else cvc5]
    #[arg(long, value_name = "SOLVER", conflicts_with = "both")]
    pub(crate) solver: Option<Who>,
    /// Run both z3 and cvc5, and compare their answers
    #[arg(long)]
    pub(crate) both: bool,
    /// Limit the time of a solver for one query
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = span)]
    pub(crate) patience: Span,
    /// Explore machines with at most N CPUs
    #[arg(long, value_name = "N", default_value = "4")]
    #[arg(value_parser = clap::value_parser!(u8).range(1..=6))]
    pub(crate) cpus: u8,
    /// Explore at most N tasks
    #[arg(long, value_name = "N", default_value = "3")]
    #[arg(value_parser = clap::value_parser!(u8).range(1..=6))]
    pub(crate) tasks: u8,
    /// Ignore cached answers of solvers
    #[arg(long)]
    pub(crate) no_cache: bool,
    /// Accept policies with `unsafe protocol`
    #[arg(long)]
    pub(crate) allow_unsafe: bool,
    /// Write the queries and the answers into a new directory, for --recheck
    #[arg(long, value_name = "DIR")]
    pub(crate) certificate: Option<PathBuf>,
    /// Regenerate the queries of a certificate, compare them with the saved queries, and run them
    /// again. --claim restricts this to the queries of one claim
    #[arg(long, value_name = "DIR", conflicts_with_all = ["file", "cex", "certificate"])]
    pub(crate) recheck: Option<PathBuf>,
    /// Repeat the steps of this counterexample
    #[arg(long, value_name = "CEX", conflicts_with_all = PROVING)]
    pub(crate) replay: Option<PathBuf>,
    /// Replay in the model the steps that a kernel logged under this policy. TRACE is a file that
    /// --steps of `run` or `deploy` wrote
    #[arg(long, value_name = "TRACE", requires = "file")]
    #[arg(conflicts_with_all = ["claim", "cex", "certificate", "recheck", "replay"])]
    pub(crate) conforms: Option<PathBuf>,
    /// With --replay: repeat the steps with this policy [default: the policy of the counterexample]
    #[arg(long, value_name = "FILE.rota", requires = "replay")]
    #[arg(conflicts_with_all = ["file", "recheck"])]
    pub(crate) scheduler: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) face: Face,
}

/// The help text of `--json`.
const JSON: &str = "Print one JSON object (docs/reference/prove.md; with --replay: \
                    counterexample.md)";
/// The options for proofs, which conflict with a replay.
const PROVING: [&str; 7] = ["file", "claim", "cex", "solver", "both", "certificate", "recheck"];

/// The choice of a solver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Who {
    /// Z3, by Microsoft
    Z3,
    /// cvc5, by Stanford and Iowa
    Cvc5,
    /// No solver: explore small machines only
    None,
}
