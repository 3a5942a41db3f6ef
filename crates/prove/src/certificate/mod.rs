//! A folder that says what was shown and how, so that somebody else can show it again.
//!
//! `manifest.json` (schema `wastenot.certificate/2`) lists the claims, and of each all that it
//! follows from: what the text says by itself, and what solvers were asked. What they were asked is
//! a file of SMT-LIB that is complete in itself and says which answer is expected (`:status`), with
//! what each solver said, its version and time; where a solver gave a proof it stands beside.
//! `policy.rota` is the text that all of it is about. Every file is listed with its SHA-256.
//!
//! For asking again the folder and any solver are enough: a claim is shown if the text says what it
//! should, and every script that is listed for it is `unsat`. [`recheck`] also makes the list anew,
//! from the text: of one that was shortened or changed it says so. That the obligations are the
//! right ones is not in the certificate: that is what wastenot itself is trusted with.

mod conclude;
mod recheck;
mod write;

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use recheck::{Again, Rechecked, Standing, recheck};
pub use write::write;

use crate::Error;
use crate::digest::digest;
use crate::smt::Script;
use crate::solver::Seek;

/// What the manifest says it is.
pub const SCHEMA: &str = "wastenot.certificate/2";

const MANIFEST: &str = "manifest.json";
const TEXT: &str = "policy.rota";

/// No file of a certificate that is read is larger.
const FILE_MAX: u64 = 64 << 20;

/// What stands in the folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`SCHEMA`].
    pub schema: String,
    /// Of what it is a certificate: where the text was.
    pub about: String,
    /// The text.
    pub text: Stored,
    /// The claims that were judged.
    pub claims: Vec<Claimed>,
}

/// A claim, and what it follows from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claimed {
    /// The policy that claims it.
    pub policy: String,
    /// Its word.
    pub claim: String,
    /// All of this has to hold.
    pub obligations: Vec<Listed>,
}

/// An obligation, and who showed it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// What holds, in one sentence.
    pub what: String,
    /// Whether it holds only of a re-check that emitted code does not make.
    pub model_only: bool,
    /// Who shows it.
    #[serde(flatten)]
    pub shown: Shown,
}

/// Who shows an obligation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "lowercase")]
pub enum Shown {
    /// The text says so, or that it is not so.
    Text {
        /// So.
        holds: bool,
    },
    /// Whoever is asked this.
    Solvers(Asked),
    /// There are no words for it in the language of solvers.
    Nobody {
        /// For what there are none.
        why: String,
    },
}

/// What solvers were asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// What it holds of: `any n`.
    pub label: String,
    /// The answer that it should have.
    pub expected: Expected,
    /// What was asked. Several claims may follow from the same.
    pub script: Stored,
    /// What each solver said.
    pub answers: Vec<Said>,
}

/// The answer that a script should have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Expected {
    /// It can hold: the obligation does not.
    Sat,
    /// It cannot: the obligation holds.
    Unsat,
    /// Nobody knew.
    Unknown,
}

/// What a solver said.
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
    /// Its proof, where it gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<Stored>,
}

/// A file of the folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stored {
    /// Its name.
    pub file: String,
    /// The SHA-256 of what it holds.
    pub sha256: String,
}

impl Expected {
    /// As solvers write it.
    pub fn word(self) -> &'static str {
        match self {
            Expected::Sat => "sat",
            Expected::Unsat => "unsat",
            Expected::Unknown => "unknown",
        }
    }
    /// Whether an answer is as it should be. Where nobody knew any will do.
    pub fn is_met(self, answer: &str) -> bool {
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
    /// Whether it is shown, if all answers are as they should be.
    pub fn is_shown(&self) -> bool {
        self.obligations.iter().all(|listed| match &listed.shown {
            Shown::Text { holds } => *holds,
            Shown::Solvers(asked) => asked.expected == Expected::Unsat,
            Shown::Nobody { .. } => false,
        })
    }
}

impl Manifest {
    /// Whether every claim is shown: somebody gave each expected answer, and nobody another one.
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

/// Reads what a folder says that it holds.
///
/// # Errors
/// There is no manifest, or it is of another schema.
pub fn manifest(folder: &Path) -> Result<Manifest, Error> {
    #[derive(Deserialize)]
    struct Head {
        schema: String,
    }
    let place = folder.join(MANIFEST);
    let wrong = |why: String| Error::Manifest { file: place.clone(), why };
    if !place.exists() {
        return Err(wrong("no such file, so the folder is no certificate".to_owned()));
    }
    let text = read_file(&place)?;
    let head: Head = serde_json::from_str(&text).map_err(|e| wrong(e.to_string()))?;
    if head.schema != SCHEMA {
        return Err(wrong(format!("its schema is {:?}, not {SCHEMA}", head.schema)));
    }
    serde_json::from_str(&text).map_err(|e| wrong(e.to_string()))
}

/// The file of a script: what it should be, then what is asked.
fn asking(script: &Script, expected: Expected) -> String {
    format!("(set-info :status {})\n{script}", expected.word())
}

fn store(folder: &Path, file: String, text: &str) -> Result<Stored, Error> {
    let place = folder.join(&file);
    fs::write(&place, text).map_err(|error| at(&place, error))?;
    Ok(Stored { file, sha256: digest(text.as_bytes()) })
}

/// A file of the folder, if it holds what it held when it was written.
fn stored(folder: &Path, stored: &Stored) -> Result<String, Error> {
    let place = folder.join(&stored.file);
    let plain = file_name(&stored.file) == stored.file && !stored.file.starts_with('.');
    if !plain {
        let why = format!("{:?} is not a file of this folder", stored.file);
        return Err(Error::Manifest { file: folder.join(MANIFEST), why });
    }
    let text = read_file(&place)?;
    match digest(text.as_bytes()) == stored.sha256 {
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
