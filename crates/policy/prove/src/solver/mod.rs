//! Solvers as processes: z3 and cvc5, as Debian packages them and as Python's wheels hold them.
//!
//! A script goes in through standard input, an answer comes back as text. Every process has a time
//! limit, which it is also told itself, so that it ends even if we do not live to end it.

mod agree;
mod answer;
mod batch;
mod find;
mod process;

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use agree::ask_all;
pub use answer::{Answer, Reply};
pub use find::Places;

use crate::Error;
use crate::smt::Script;

/// Which solver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Z3, by Microsoft Research.
    Z3,
    /// cvc5, by Stanford, Iowa and others.
    Cvc5,
}

impl Kind {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Z3 => "z3",
            Kind::Cvc5 => "cvc5",
        }
    }

    /// How to get it.
    pub fn recipe(self) -> &'static str {
        match self {
            Kind::Z3 => "apt-get install z3, or pip install z3-solver",
            Kind::Cvc5 => "apt-get install cvc5, or pip install cvc5",
        }
    }
}

/// What is hoped for. Any answer may come; a solver is only told where to look first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seek {
    /// An instance in which all holds, small if there is one.
    Model,
    /// That there is none.
    Refutation,
    /// That there is none, and why, step by step, where the solver can say so.
    Proof,
}

/// A solver that answered when it was asked for its version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solver {
    /// Which.
    pub kind: Kind,
    /// Its version, as it says itself.
    pub version: String,
    program: PathBuf,
    /// Whether the program is a Python in which cvc5 is a module.
    through_python: bool,
}

impl Solver {
    /// Where it stands.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Whether it gives proofs that can be written down.
    pub fn gives_proofs(&self) -> bool {
        self.kind == Kind::Cvc5
    }

    /// Asks. No answer in time is [`Answer::Unknown`]; a solver that crashes, refuses the script or
    /// answers with something else than an answer is an error.
    pub fn ask(&self, script: &Script, seek: Seek, timeout: Duration) -> Result<Reply, Error> {
        self.ask_text(&script.to_string(), seek, timeout)
    }

    /// Asks what a file of SMT-LIB asks, which ends with `(check-sat)`.
    pub fn ask_text(&self, script: &str, seek: Seek, timeout: Duration) -> Result<Reply, Error> {
        let text = self.asked(script, seek);
        let told = process::run(&self.program, &self.arguments(timeout), &text, timeout)
            .map_err(|error| Error::Start { solver: self.to_string(), error })?;
        answer::read(self, seek, &told)
    }

    /// All that it is told, but for its time limit.
    pub(crate) fn asked(&self, script: &str, seek: Seek) -> String {
        format!("{}{script}{}", self.settings(seek), answer::and_then(self.kind, seek))
    }

    /// What changes its answers, besides the script: SMT-LIB that stands before it.
    fn settings(&self, seek: Seek) -> &'static str {
        match (self.kind, seek) {
            (Kind::Z3, Seek::Model) => "(set-option :produce-models true)\n",
            (Kind::Z3, Seek::Refutation | Seek::Proof) => "",
            (Kind::Cvc5, Seek::Model) => {
                "(set-option :produce-models true)\n(set-option :finite-model-find true)\n"
            }
            (Kind::Cvc5, Seek::Refutation) => "(set-option :full-saturate-quant true)\n",
            (Kind::Cvc5, Seek::Proof) => {
                "(set-option :full-saturate-quant true)\n(set-option :produce-proofs true)\n"
            }
        }
    }

    fn arguments(&self, timeout: Duration) -> Vec<OsString> {
        let limit_s = timeout.as_secs() + 2;
        let words = match (self.kind, self.through_python) {
            (Kind::Z3, _) => vec!["-in".into(), "-smt2".into(), format!("-T:{limit_s}")],
            (Kind::Cvc5, false) => {
                vec!["--quiet".into(), "--lang=smt2".into(), format!("--tlimit={limit_s}000")]
            }
            (Kind::Cvc5, true) => vec!["-c".into(), find::DRIVER.into(), limit_s.to_string()],
        };
        words.into_iter().map(OsString::from).collect()
    }
}

/// `z3 4.8.12`
impl fmt::Display for Solver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind.name(), self.version)
    }
}
