//! A certificate: a folder that records what was shown and how, so that another person can show it
//! again.
//!
//! `manifest.json` (schema `wastenot.certificate/2`) lists the claims, and for each claim all its
//! obligations: those that the text decides, and those that solvers decide. Each query to solvers
//! is a complete SMT-LIB file that contains the expected answer (`:status`). The manifest records
//! the answer of each solver, its version and its time; a proof that a solver gave is a file beside
//! the query. `policy.rota` is the text that the certificate is about. The manifest lists every
//! file with its SHA-256.
//!
//! The folder and any solver are enough to check it again: a claim is shown if each obligation that
//! the text decides holds, and every script that is listed for the claim is `unsat`. [`recheck`]
//! also derives the list again from the text, and reports a list that was shortened or changed. The
//! certificate does not show that the obligations are the right ones: for this, wastenot itself is
//! trusted.

mod conclude;
mod recheck;
mod write;

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use wastenot_host::sha256;

pub use recheck::{Again, Rechecked, Standing, recheck};
pub use write::write;

use crate::Error;
use crate::smt::Script;
use crate::solver::Seek;

/// The schema of the manifest.
pub const SCHEMA: &str = "wastenot.certificate/2";

const MANIFEST: &str = "manifest.json";
const TEXT: &str = "policy.rota";

/// The most bytes that are read of a file of a certificate.
const FILE_MAX: u64 = 64 << 20;

/// The contents of `manifest.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`SCHEMA`].
    pub schema: String,
    /// What it certifies: the place of the text when it was judged.
    pub about: String,
    /// The file of the text.
    pub text: Stored,
    /// The claims that were judged.
    pub claims: Vec<Claimed>,
}

/// A claim, and the obligations that it follows from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claimed {
    /// The policy that claims it.
    pub policy: String,
    /// The name of the claim.
    pub claim: String,
    /// All of these have to hold.
    pub obligations: Vec<Listed>,
}

/// An obligation, and how it is shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// What holds, in one sentence.
    pub what: String,
    /// Whether it relies on a re-check that emitted code does not make.
    pub model_only: bool,
    /// How it is shown.
    #[serde(flatten)]
    pub shown: Shown,
}

/// How an obligation is shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "lowercase")]
pub enum Shown {
    /// The text decides it.
    Text {
        /// Whether it holds.
        holds: bool,
    },
    /// Solvers decide it.
    Solvers(Asked),
    /// Neither the text nor a solver decides it.
    Nobody {
        /// Why: what cannot be encoded, or what is not checked.
        why: String,
    },
}

/// A query to solvers, with their answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// The machines for which it holds: `any n`.
    pub label: String,
    /// The expected answer.
    pub expected: Expected,
    /// The file of the query. Several claims may share it.
    pub script: Stored,
    /// The answer of each solver.
    pub answers: Vec<Said>,
}

/// The expected answer of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Expected {
    /// The script is satisfiable: the obligation fails.
    Sat,
    /// The script is unsatisfiable: the obligation holds.
    Unsat,
    /// No solver had an answer when the certificate was written.
    Unknown,
}

/// The answer of a solver.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Said {
    /// Which solver.
    pub solver: String,
    /// Its version.
    pub version: String,
    /// `sat`, `unsat` or `unknown`.
    pub answer: String,
    /// How long it took.
    pub time_ns: u64,
    /// The file of its proof, if it gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<Stored>,
}

/// A file of the folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stored {
    /// Its name.
    pub file: String,
    /// The SHA-256 of its contents.
    pub sha256: String,
}

impl Expected {
    /// The answer as solvers write it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Expected::Sat => "sat",
            Expected::Unsat => "unsat",
            Expected::Unknown => "unknown",
        }
    }
    /// Whether an answer is as expected. [`Expected::Unknown`] accepts any answer.
    pub(crate) fn is_met(self, answer: &str) -> bool {
        self == Expected::Unknown || self.word() == answer
    }
    fn seek(self) -> Seek {
        match self {
            Expected::Sat => Seek::Model,
            Expected::Unsat | Expected::Unknown => Seek::Refutation,
        }
    }
}

impl Claimed {
    /// Whether the claim is shown, if all answers are as expected.
    pub(crate) fn is_shown(&self) -> bool {
        self.obligations.iter().all(|listed| match &listed.shown {
            Shown::Text { holds } => *holds,
            Shown::Solvers(asked) => asked.expected == Expected::Unsat,
            Shown::Nobody { .. } => false,
        })
    }
}

impl Manifest {
    /// Whether every claim is shown: for each query some solver gave the expected answer, and no
    /// solver gave another one except `unknown`.
    pub fn holds(&self) -> bool {
        let said = |listed: &Listed| match &listed.shown {
            Shown::Solvers(asked) => {
                let said = || asked.answers.iter().map(|said| said.answer.as_str());
                said().any(|word| word == asked.expected.word())
                    && said().all(|word| word == "unknown" || asked.expected.is_met(word))
            }
            Shown::Text { .. } | Shown::Nobody { .. } => true,
        };
        self.claims.iter().all(|claim| claim.is_shown() && claim.obligations.iter().all(said))
    }
}

/// Reads the manifest of a folder.
///
/// # Errors
/// There is no manifest, or it has another schema.
pub fn manifest(folder: &Path) -> Result<Manifest, Error> {
    #[derive(Deserialize)]
    struct Head {
        schema: String,
    }
    let place = folder.join(MANIFEST);
    let wrong = |why: String| Error::Manifest { file: place.clone(), why };
    if !place.exists() {
        return Err(wrong("there is no such file, so the folder is not a certificate".to_owned()));
    }
    let text = read_file(&place)?;
    let head: Head = serde_json::from_str(&text).map_err(|e| wrong(e.to_string()))?;
    if head.schema != SCHEMA {
        return Err(wrong(format!("its schema is {:?}, not {SCHEMA}", head.schema)));
    }
    serde_json::from_str(&text).map_err(|e| wrong(e.to_string()))
}

/// The text of the file of a script: the expected answer, then the query.
fn asking(script: &Script, expected: Expected) -> String {
    format!("(set-info :status {})\n{script}", expected.word())
}

fn store(folder: &Path, file: String, text: &str) -> Result<Stored, Error> {
    let place = folder.join(&file);
    fs::write(&place, text).map_err(|error| at(&place, error))?;
    Ok(Stored { file, sha256: sha256(text.as_bytes()) })
}

/// The contents of a file of the folder, if they have the listed SHA-256.
fn stored(folder: &Path, stored: &Stored) -> Result<String, Error> {
    let place = folder.join(&stored.file);
    let plain = file_name(&stored.file) == stored.file && !stored.file.starts_with('.');
    if !plain {
        let why = format!("{:?} is not in this folder", stored.file);
        return Err(Error::Manifest { file: folder.join(MANIFEST), why });
    }
    let text = read_file(&place)?;
    match sha256(text.as_bytes()) == stored.sha256 {
        true => Ok(text),
        false => Err(Error::Altered { file: place }),
    }
}

fn read_file(place: &Path) -> Result<String, Error> {
    let mut text = String::new();
    let file = fs::File::open(place).map_err(|error| at(place, error))?;
    file.take(FILE_MAX).read_to_string(&mut text).map_err(|error| at(place, error))?;
    Ok(text)
}

/// A name made of letters, digits, dots and dashes.
fn file_name(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    name.chars().map(plain).collect()
}

fn at(file: &Path, error: io::Error) -> Error {
    Error::File { file: PathBuf::from(file), error }
}
