//! Errors of proofs.

use std::io;
use std::path::PathBuf;

/// Why there is no answer. `unknown` from a solver is an answer, not an error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A program that was named as a solver is not one.
    #[error("{} is not {name}", program.display())]
    NotASolver {
        /// The solver that it should be.
        name: &'static str,
        /// How to get this solver.
        recipe: &'static str,
        /// The program that was named.
        program: PathBuf,
    },
    /// A solver that was found does not start.
    #[error("{solver} does not start: {error}")]
    Start {
        /// The solver.
        solver: String,
        /// The error of the kernel.
        error: io::Error,
    },
    /// A solver does not accept a script of ours.
    #[error("{solver} refuses the script: {why}")]
    Refused {
        /// The solver.
        solver: String,
        /// The reason, in the words of the solver.
        why: String,
    },
    /// A solver was ended by a signal.
    #[error("{solver} was ended by signal {signal}: {said}")]
    Crashed {
        /// The solver.
        solver: String,
        /// The signal.
        signal: i32,
        /// The end of its output.
        said: String,
    },
    /// The output of a solver is not an answer.
    #[error("{solver} gave no answer, but: {said}")]
    Garbage {
        /// The solver.
        solver: String,
        /// Its output.
        said: String,
    },
    /// Two solvers contradict each other.
    #[error("{sat} says sat and {unsat} says unsat: {about}")]
    Disagree {
        /// The question.
        about: String,
        /// The solver that answers `sat`.
        sat: String,
        /// The solver that answers `unsat`.
        unsat: String,
    },
    /// A solver gave a model of a situation that does not break the claim.
    #[error("{solver} has a counterexample that does not replay: {about}")]
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
    #[error("{} is not what the certificate was made with", file.display())]
    Altered {
        /// The file.
        file: PathBuf,
    },
    /// A certificate does not list exactly the obligations of its claims.
    #[error("{} lists something else than what its claims follow from: {}", folder.display(),
        faults.join("; "))]
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
    #[error("a counterexample with {what}: it has {limit} at most")]
    TooLarge {
        /// The part that is too large.
        what: String,
        /// The largest allowed number.
        limit: usize,
    },
    /// A policy does not fit a counterexample.
    #[error("`{policy}` does not fit the counterexample: {why}")]
    Unfit {
        /// The policy.
        policy: String,
        /// The part that does not fit.
        why: String,
    },
    /// A policy has an unsafe protocol.
    #[error("`{policy}` uses an unsafe protocol")]
    Unsafe {
        /// The policy.
        policy: String,
    },
    /// The user asked for a claim that the text does not have.
    #[error("it does not claim `{claim}`")]
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

impl Error {
    /// What to do.
    pub fn help(&self) -> String {
        match self {
            Error::NotASolver { name, recipe, .. } => format!(
                "set WASTENOT_{} to a program that is, or unset it; {recipe}",
                name.to_uppercase(),
            ),
            Error::Start { .. } | Error::Crashed { .. } | Error::Garbage { .. } => {
                "install it anew, or ask another solver (--solver)".to_owned()
            }
            Error::Refused { .. } => "this is a bug of wastenot: report the policy".to_owned(),
            Error::NotReplayed { .. } => {
                "nothing is refuted: this is a bug of wastenot; report the policy".to_owned()
            }
            Error::Disagree { .. } => {
                "nothing is proved: this is a bug of a solver or of wastenot; report the policy"
                    .to_owned()
            }
            Error::Manifest { .. } | Error::Altered { .. } => {
                "make the certificate anew: wastenot prove FILE --certificate DIR".to_owned()
            }
            Error::Unlike { .. } => {
                "it was changed, or another version wrote it: make it anew: wastenot prove FILE \
                 --certificate DIR"
                    .to_owned()
            }
            Error::Unsafe { .. } => "add `--allow-unsafe` to accept it".to_owned(),
            Error::NotClaimed { claim, claims } => {
                match wastenot_model::nearest(claim, claims.iter().map(String::as_str)) {
                    Some(near) => format!("did you mean `--claim {near}`?"),
                    None if claims.is_empty() => "it has no claims: add `prove ...` to it".into(),
                    None => format!("it claims {}", claims.join(", ")),
                }
            }
            Error::File { .. } => "choose another folder".to_owned(),
            Error::NoTable { .. } | Error::BadCell { .. } | Error::TooLarge { .. } => {
                "make the counterexample anew: wastenot prove FILE.rota --cex CEX.wn".to_owned()
            }
            Error::Unfit { .. } => {
                "force it on a text with the queues and variables that it was found with, or prove \
                 this one: wastenot prove FILE.rota"
                    .to_owned()
            }
        }
    }
}
