//! Errors of proofs.

use std::io;
use std::path::PathBuf;

use wastenot_model::{Help, nearest};

/// Why there is no answer. `unknown` from a solver is an answer, not an error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A program that was named as a solver is not one.
    #[error("the program {} is not {name}", program.display())]
    NotASolver {
        /// The solver that it should be.
        name: &'static str,
        /// How to get this solver.
        recipe: &'static str,
        /// The program that was named.
        program: PathBuf,
    },
    /// A solver that was found does not start.
    #[error("cannot start {solver}: {error}")]
    Start {
        /// The solver.
        solver: String,
        /// The error of the kernel.
        error: io::Error,
    },
    /// A solver does not accept a script of ours.
    #[error("{solver} rejects the script: {why}")]
    Refused {
        /// The solver.
        solver: String,
        /// The reason, in the words of the solver.
        why: String,
    },
    /// A solver was ended by a signal.
    #[error("{solver} was killed by signal {signal}: {said}")]
    Crashed {
        /// The solver.
        solver: String,
        /// The signal.
        signal: i32,
        /// The end of its output.
        said: String,
    },
    /// The output of a solver is not an answer.
    #[error("{solver} printed no answer, but: {said}")]
    Garbage {
        /// The solver.
        solver: String,
        /// Its output.
        said: String,
    },
    /// Two solvers contradict each other.
    #[error("two solvers disagree: {sat} answers sat, but {unsat} answers unsat: {about}")]
    Disagree {
        /// The question.
        about: String,
        /// The solver that answers `sat`.
        sat: String,
        /// The solver that answers `unsat`.
        unsat: String,
    },
    /// A solver gave a model of a situation that does not break the claim.
    #[error("the counterexample of {solver} does not break the claim in a replay: {about}")]
    NotReplayed {
        /// The question.
        about: String,
        /// The solver.
        solver: String,
    },
    /// A file of a certificate is malformed.
    #[error("{}: {why}", file.display())]
    Manifest {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// A file of a certificate was changed.
    #[error("this file of the certificate was changed: {}", file.display())]
    Altered {
        /// The file.
        file: PathBuf,
    },
    /// A certificate does not list exactly the obligations of its claims.
    #[error("{} does not list exactly the obligations of its claims: {}", folder.display(),
        few(faults))]
    Unlike {
        /// The folder of the certificate.
        folder: PathBuf,
        /// The obligations that are missing, different or superfluous.
        faults: Vec<String>,
    },
    /// A counterexample lacks a table.
    #[error("the counterexample has no table `{table}`")]
    NoTable {
        /// The missing table.
        table: &'static str,
    },
    /// A cell of a counterexample has no valid value.
    #[error("row {row} of the table `{table}`: `{column}` {why}")]
    BadCell {
        /// The table.
        table: &'static str,
        /// The row, counted from 1.
        row: usize,
        /// The column.
        column: &'static str,
        /// What is wrong.
        why: String,
    },
    /// A counterexample is larger than any that the search finds.
    #[error("the counterexample has {what}; the limit is {limit}")]
    TooLarge {
        /// The part that is too large.
        what: String,
        /// The largest allowed number.
        limit: usize,
    },
    /// A policy does not fit a counterexample.
    #[error("the policy `{policy}` does not match the counterexample: {why}")]
    Unfit {
        /// The policy.
        policy: String,
        /// The part that does not fit.
        why: String,
    },
    /// A policy has an unsafe protocol.
    #[error("the policy `{policy}` uses an unsafe protocol")]
    Unsafe {
        /// The policy.
        policy: String,
    },
    /// The user asked for a claim that the text does not have.
    #[error("the policy does not claim `{claim}`")]
    NotClaimed {
        /// The claim that was asked for.
        claim: String,
        /// The claims of the text.
        claims: Vec<String>,
    },
    /// A file cannot be read or written.
    #[error("{}: {}", file.display(), error)]
    File {
        /// The file.
        file: PathBuf,
        /// The error of the kernel.
        error: io::Error,
    },
}

impl Help for Error {
    fn help(&self) -> std::borrow::Cow<'_, str> {
        match self {
            Error::NotASolver { name, recipe, .. } => {
                let name = format!("WASTENOT_{}", name.to_uppercase());
                return format!("set {name} to the right program, or unset it; {recipe}").into();
            }
            Error::Start { .. } | Error::Crashed { .. } | Error::Garbage { .. } => {
                "install the solver again, or choose another solver (--solver)"
            }
            Error::Refused { .. } => "report this bug of wastenot, with the policy",
            Error::NotReplayed { .. } => {
                "report this bug of wastenot, with the policy; nothing is refuted"
            }
            Error::Disagree { .. } => {
                "report this bug of a solver or of wastenot, with the policy; nothing is proved"
            }
            Error::Manifest { .. } | Error::Altered { .. } => {
                "create the certificate again: wastenot prove FILE --certificate DIR"
            }
            Error::Unlike { .. } => {
                "create the certificate again, because it was changed or has another version: \
                 wastenot prove FILE --certificate DIR"
            }
            Error::Unsafe { .. } => "add `--allow-unsafe` to accept the unsafe protocol",
            Error::NotClaimed { claims, .. } if claims.is_empty() => {
                "add `prove ...` to the policy, which has no claims"
            }
            Error::NotClaimed { claim, claims } => {
                let near = nearest(claim, claims.iter().map(String::as_str));
                let all = || format!("choose one of its claims: {}", claims.join(", "));
                return near.map_or_else(all, |it| format!("did you mean `--claim {it}`?")).into();
            }
            Error::File { .. } => "choose another folder",
            Error::NoTable { .. } | Error::BadCell { .. } | Error::TooLarge { .. } => {
                "create the counterexample again: wastenot prove FILE.rota --cex CEX.wn"
            }
            Error::Unfit { .. } => {
                "give the policy for which the counterexample was found (same queues and \
                 variables), or prove this policy: wastenot prove FILE.rota"
            }
        }
        .into()
    }
}

/// The first of many faults.
fn few(faults: &[String]) -> String {
    const FEW: usize = 3;
    let shown = faults[..faults.len().min(FEW)].join("; ");
    match faults.len().saturating_sub(FEW) {
        0 => shown,
        more => format!("{shown}; and {more} more"),
    }
}
