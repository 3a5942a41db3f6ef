//! Why nothing can be said.

use std::io;
use std::path::PathBuf;

/// Why nothing can be said. That a solver does not know is no error but an answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A program was named as a solver, and is none.
    #[error("{} is not {name}", program.display())]
    NotASolver {
        /// What it should be.
        name: &'static str,
        /// How to get that.
        recipe: &'static str,
        /// What was named.
        program: PathBuf,
    },
    /// A solver that was there does not start.
    #[error("{solver} does not start: {error}")]
    Start {
        /// Which.
        solver: String,
        /// What the kernel said.
        error: io::Error,
    },
    /// A solver does not accept a script of ours.
    #[error("{solver} refuses the script: {why}")]
    Refused {
        /// Which.
        solver: String,
        /// In its words.
        why: String,
    },
    /// A solver was ended by a signal.
    #[error("{solver} was ended by signal {signal}: {said}")]
    Crashed {
        /// Which.
        solver: String,
        /// The signal.
        signal: i32,
        /// Its last words.
        said: String,
    },
    /// A solver said something that is no answer.
    #[error("{solver} gave no answer, but: {said}")]
    Garbage {
        /// Which.
        solver: String,
        /// What it said.
        said: String,
    },
    /// Two solvers contradict each other.
    #[error("{sat} says sat and {unsat} says unsat: {about}")]
    Disagree {
        /// What was asked.
        about: String,
        /// Who says that it can all hold.
        sat: String,
        /// Who says that it cannot.
        unsat: String,
    },
    /// A solver's model of a situation that breaks a claim breaks it not.
    #[error("{solver} has a counterexample that does not replay: {about}")]
    NotReplayed {
        /// What was asked.
        about: String,
        /// Which.
        solver: String,
    },
    /// A certificate says something that none says.
    #[error("{}: {why}", file.display())]
    Manifest {
        /// Which file of it.
        file: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// A file of a certificate is not the one that was written.
    #[error("{} is not what the certificate was made with", file.display())]
    Altered {
        /// Which.
        file: PathBuf,
    },
    /// A certificate lists something else than what its claims follow from.
    #[error("{} lists something else than what its claims follow from: {}", folder.display(),
        faults.join("; "))]
    Unlike {
        /// Where it is.
        folder: PathBuf,
        /// What is missing, or different, or too much.
        faults: Vec<String>,
    },
    /// A counterexample does not tell all that it has to.
    #[error("the counterexample has no table `{table}`")]
    NoTable {
        /// Which is missing.
        table: &'static str,
    },
    /// A counterexample says something that means nothing.
    #[error("row {row} of the table `{table}`: `{column}` {why}")]
    BadCell {
        /// In which table.
        table: &'static str,
        /// In which row, counted from 1.
        row: usize,
        /// In which column.
        column: &'static str,
        /// What is wrong.
        why: String,
    },
    /// A counterexample is larger than any is.
    #[error("a counterexample with {what}: it has {limit} at most")]
    TooLarge {
        /// What there is too much of.
        what: String,
        /// What there may be.
        limit: usize,
    },
    /// A policy has not what a counterexample is about.
    #[error("`{policy}` does not fit the counterexample: {why}")]
    Unfit {
        /// Its name.
        policy: String,
        /// What it lacks.
        why: String,
    },
    /// A policy has an unsafe protocol.
    #[error("`{policy}` uses an unsafe protocol")]
    Unsafe {
        /// Its name.
        policy: String,
    },
    /// Something is asked of a text that it does not claim.
    #[error("it does not claim `{claim}`")]
    NotClaimed {
        /// What is asked.
        claim: String,
        /// What it claims.
        claims: Vec<String>,
    },
    /// A file cannot be read or written.
    #[error("{}: {}", file.display(), error)]
    File {
        /// Which.
        file: PathBuf,
        /// What the kernel said.
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
