//! A folder that says what was shown and how, so that somebody else can show it again.
//!
//! Every obligation is a file of SMT-LIB that is complete in itself and says which answer is
//! expected (`:status`). `manifest.json` (schema `wastenot.certificate/1`) lists them with their
//! SHA-256, what each holds of (`any n`, `n <= 4`), and what each solver said, with its version and
//! time. Where a solver gave a proof it stands beside the obligation.
//!
//! [`recheck`] needs the folder and any solver. That the obligations are the right ones for a
//! policy is not in the certificate: that is what wastenot itself is trusted with.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::digest::digest;
use crate::smt::{Script, read};
use crate::solver::{Answer, Seek, Solver};

/// What the manifest says it is.
pub const SCHEMA: &str = "wastenot.certificate/1";

const MANIFEST: &str = "manifest.json";

/// No file of a certificate that is read is larger.
const FILE_MAX: u64 = 64 << 20;

/// Something to be shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Obligation {
    /// Its name.
    pub name: String,
    /// What it holds of: `any n`, or `n <= 4`.
    pub label: String,
    /// What is asked.
    pub script: Script,
    /// The answer that it should have.
    pub expected: Expected,
}

/// The answer that an obligation should have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Expected {
    /// It can hold.
    Sat,
    /// It cannot.
    Unsat,
}

/// What stands in the folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`SCHEMA`].
    pub schema: String,
    /// Of what it is a certificate.
    pub about: String,
    /// What was shown.
    pub obligations: Vec<Shown>,
}

/// An obligation, and who showed it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shown {
    /// Its name.
    pub name: String,
    /// What it holds of.
    pub label: String,
    /// The answer that it should have.
    pub expected: Expected,
    /// What was asked.
    pub script: Stored,
    /// What each solver said.
    pub answers: Vec<Said>,
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

/// What a solver says to one obligation of a certificate.
#[derive(Clone, Debug, PartialEq)]
pub struct Rechecked {
    /// The obligation.
    pub name: String,
    /// Which solver.
    pub solver: String,
    /// What it should say.
    pub expected: Expected,
    /// What it says.
    pub answer: Answer,
    /// How long it took.
    pub took: Duration,
}

impl Expected {
    fn word(self) -> &'static str {
        match self {
            Expected::Sat => "sat",
            Expected::Unsat => "unsat",
        }
    }
}

impl Manifest {
    /// Whether somebody gave each expected answer, and nobody another one.
    pub fn holds(&self) -> bool {
        self.obligations.iter().all(|shown| {
            let said: Vec<&str> = shown.answers.iter().map(|said| said.answer.as_str()).collect();
            let other = |word: &&str| *word != "unknown" && *word != shown.expected.word();
            said.contains(&shown.expected.word()) && !said.iter().any(other)
        })
    }
}

impl Rechecked {
    /// Whether it says what it should.
    pub fn holds(&self) -> bool {
        self.answer.word() == self.expected.word()
    }
}

/// Asks every solver for every obligation and writes it all down, the manifest last: a folder
/// without one is not finished.
///
/// # Errors
/// The folder holds a certificate already, cannot be written, or a solver fails.
pub fn write(
    folder: &Path,
    about: &str,
    obligations: &[Obligation],
    solvers: &[Solver],
    timeout: Duration,
) -> Result<Manifest, Error> {
    fs::create_dir_all(folder).map_err(|error| at(folder, error))?;
    let place = folder.join(MANIFEST);
    if place.exists() {
        return Err(at(&place, io::ErrorKind::AlreadyExists.into()));
    }
    let mut shown = Vec::new();
    for (number, obligation) in obligations.iter().enumerate() {
        let stem = format!("{:03}-{}", number + 1, file_name(&obligation.name));
        let text = format!("(set-info :status {})\n", obligation.expected.word());
        let text = text + &obligation.script.to_string();
        let script = store(folder, format!("{stem}.smt2"), &text)?;
        let mut answers = Vec::new();
        for solver in solvers {
            answers.push(ask(folder, &stem, &text, obligation.expected, solver, timeout)?);
        }
        let (name, label) = (obligation.name.clone(), obligation.label.clone());
        shown.push(Shown { name, label, expected: obligation.expected, script, answers });
    }
    let manifest =
        Manifest { schema: SCHEMA.to_owned(), about: about.to_owned(), obligations: shown };
    let json = serde_json::to_string_pretty(&manifest).map_err(|e| at(&place, e.into()))?;
    fs::write(&place, json + "\n").map_err(|error| at(&place, error))?;
    Ok(manifest)
}

fn ask(
    folder: &Path,
    stem: &str,
    text: &str,
    expected: Expected,
    solver: &Solver,
    timeout: Duration,
) -> Result<Said, Error> {
    let seek = match expected {
        Expected::Sat => Seek::Model,
        Expected::Unsat if solver.gives_proofs() => Seek::Proof,
        Expected::Unsat => Seek::Refutation,
    };
    let reply = solver.ask_text(text, seek, timeout)?;
    let proof = reply.proof.map(|proof| {
        store(folder, format!("{stem}.{}.proof", solver.kind.name()), &(proof + "\n"))
    });
    Ok(Said {
        solver: solver.kind.name().to_owned(),
        version: solver.version.clone(),
        answer: reply.answer.word().to_owned(),
        time_ns: u64::try_from(reply.took.as_nanos()).unwrap_or(u64::MAX),
        proof: proof.transpose()?,
    })
}

/// Asks these solvers for every obligation that the manifest lists. Nothing is needed but the
/// folder.
///
/// # Errors
/// The manifest is none, a file is missing or is not the one that was written, a script does more
/// than ask, or a solver fails.
pub fn recheck(
    folder: &Path,
    solvers: &[Solver],
    timeout: Duration,
) -> Result<Vec<Rechecked>, Error> {
    let manifest = manifest(folder)?;
    let mut all = Vec::new();
    for shown in manifest.obligations {
        let text = stored(folder, &shown.script)?;
        only_asks(&folder.join(&shown.script.file), &text)?;
        for proof in shown.answers.iter().filter_map(|said| said.proof.as_ref()) {
            stored(folder, proof)?;
        }
        let seek = match shown.expected {
            Expected::Sat => Seek::Model,
            Expected::Unsat => Seek::Refutation,
        };
        for solver in solvers {
            let reply = solver.ask_text(&text, seek, timeout)?;
            let (name, expected) = (shown.name.clone(), shown.expected);
            let (answer, took) = (reply.answer, reply.took);
            all.push(Rechecked { name, solver: solver.to_string(), expected, answer, took });
        }
    }
    Ok(all)
}

/// Reads what a folder says that it holds.
///
/// # Errors
/// There is no manifest, or it is of another schema.
pub fn manifest(folder: &Path) -> Result<Manifest, Error> {
    let place = folder.join(MANIFEST);
    let text = read_file(&place)?;
    let wrong = |why: String| Error::Manifest { file: place.clone(), why };
    let manifest: Manifest = serde_json::from_str(&text).map_err(|e| wrong(e.to_string()))?;
    match manifest.schema == SCHEMA {
        true => Ok(manifest),
        false => Err(wrong(format!("its schema is {:?}, not {SCHEMA}", manifest.schema))),
    }
}

/// A script from elsewhere may only declare, assert and ask: solvers have commands that write
/// files.
fn only_asks(file: &Path, text: &str) -> Result<(), Error> {
    const COMMANDS: [&str; 8] = [
        "set-info",
        "set-logic",
        "declare-sort",
        "declare-fun",
        "declare-const",
        "define-fun",
        "assert",
        "check-sat",
    ];
    let wrong = |why: &str| Error::Manifest { file: file.to_owned(), why: why.to_owned() };
    let (commands, flaw) = read(text);
    if flaw.is_some() {
        return Err(wrong("it is not SMT-LIB"));
    }
    let allowed = |command: &_| COMMANDS.iter().any(|word| crate::smt::Sexp::begins(command, word));
    let asks = commands.iter().filter(|command| command.begins("check-sat")).count();
    match commands.iter().all(allowed) && asks == 1 {
        true => Ok(()),
        false => Err(wrong("it does more than declare, assert and ask once")),
    }
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
