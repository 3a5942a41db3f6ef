//! Results that were computed before, in a file of JSON lines: one line a cell, written whole, so
//! that an interrupted run continues where it stopped. Each ends with a digest of itself: a line
//! that was edited is refused.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::hex;
use rayon::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use wastenot_model::Help;

/// Why results cannot be kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A line of the file of results is not as it was written.
    #[error("{}:{line}: this result was edited, so it cannot be used", file.display())]
    Edited {
        /// Which.
        file: PathBuf,
        /// Counted from 1.
        line: usize,
    },
    /// The file of results is something else.
    #[error("{}: the file is not a results file, so no result was added", file.display())]
    Foreign {
        /// Which.
        file: PathBuf,
    },
    /// It cannot be told which program runs, hence not which results are its own.
    #[error("cannot read the program file of wastenot to mark its results: {error}")]
    Program {
        /// Why.
        error: io::Error,
    },
    /// The file of results cannot be read or written.
    #[error("{}: {error}", file.display())]
    File {
        /// Which.
        file: PathBuf,
        /// Why.
        error: io::Error,
    },
}

impl Help for Error {
    fn help(&self) -> std::borrow::Cow<'_, str> {
        match self {
            Error::Edited { .. } => "delete this line; its result is then computed again",
            Error::Foreign { .. } => "give a new file, or a file that `--resume` created",
            Error::Program { .. } => "run the command without a results file",
            Error::File { .. } => "give another file, or none",
        }
        .into()
    }
}

/// The file. A cell `C` is an object in JSON.
pub struct Store<C> {
    path: PathBuf,
    program: &'static str,
    file: Mutex<File>,
    known: HashMap<String, C>,
}

/// A line, but for its digest.
#[derive(Serialize, Deserialize)]
struct Line<C> {
    key: String,
    cell: C,
}

/// What comes between a line and its digest; then `"}`.
const SUM: &str = ",\"sum\":\"";

impl<C: Clone + Serialize + DeserializeOwned> Store<C> {
    /// Opens the file, or creates it.
    ///
    /// # Errors
    /// It cannot be read or written, or has other lines than those of a store.
    pub fn open(path: &Path) -> Result<Store<C>, Error> {
        let failed = |error| Error::File { file: path.to_owned(), error };
        let program = program()?;
        let mut open = OpenOptions::new();
        let mut file = open.read(true).append(true).create(true).open(path).map_err(failed)?;
        let known = match file.metadata().map_err(failed)?.is_file() {
            true => read(&mut file).map_err(failed)?,
            false => Err(Bad::Foreign),
        };
        let known = known.map_err(|bad| match bad {
            Bad::Foreign => Error::Foreign { file: path.to_owned() },
            Bad::Edited { line } => Error::Edited { file: path.to_owned(), line },
        })?;
        Ok(Store { path: path.to_owned(), program, file: Mutex::new(file), known })
    }

    /// The cell of which `from` is all that goes into it, beside the program that runs.
    pub fn get(&self, from: &str) -> Option<&C> {
        self.known.get(&self.key(from))
    }

    fn key(&self, from: &str) -> String {
        digest(format!("{} {from}", self.program).as_bytes())
    }

    fn put(&self, from: &str, cell: &C) -> Result<(), Error> {
        let failed = |error| Error::File { file: self.path.clone(), error };
        let line = Line { key: self.key(from), cell: cell.clone() };
        let text = serde_json::to_string(&line).map_err(|error| failed(error.into()))?;
        let text = sealed(&text) + "\n";
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(text.as_bytes()).map_err(failed)
    }
}

/// A cell of each of `all`, in their order: those that are stored as they are, the others made on
/// all CPUs and stored. `from` tells all that goes into one; `progress` is told how many are there.
///
/// # Errors
/// Those of `make`, or a cell cannot be written.
pub fn fill<
    T: Sync,
    C: Clone + Serialize + DeserializeOwned + Send + Sync,
    E: From<Error> + Send,
>(
    store: Option<&Store<C>>,
    all: &[T],
    from: impl Fn(&T) -> String + Sync,
    make: impl Fn(&T) -> Result<C, E> + Sync,
    progress: impl Fn(usize) + Sync,
) -> Result<Vec<C>, E> {
    // One by one: some take a thousand times as long as others.
    each(store, all, &from, &make, &progress).collect()
}

/// The same; each cell is made, and stored, though others fail.
pub fn fill_each<
    T: Sync,
    C: Clone + Serialize + DeserializeOwned + Send + Sync,
    E: From<Error> + Send,
>(
    store: Option<&Store<C>>,
    all: &[T],
    from: impl Fn(&T) -> String + Sync,
    make: impl Fn(&T) -> Result<C, E> + Sync,
    progress: impl Fn(usize) + Sync,
) -> Vec<Result<C, E>> {
    each(store, all, &from, &make, &progress).collect()
}

fn each<
    'a,
    T: Sync,
    C: Clone + Serialize + DeserializeOwned + Send + Sync,
    E: From<Error> + Send,
>(
    store: Option<&'a Store<C>>,
    all: &'a [T],
    from: &'a (impl Fn(&T) -> String + Sync),
    make: &'a (impl Fn(&T) -> Result<C, E> + Sync),
    progress: &'a (impl Fn(usize) + Sync),
) -> impl ParallelIterator<Item = Result<C, E>> + 'a {
    let done = AtomicUsize::new(0);
    let cell = move |of: &T| {
        let Some(store) = store else { return make(of) };
        let from = from(of);
        if let Some(cell) = store.get(&from) {
            return Ok(cell.clone());
        }
        let cell = make(of)?;
        store.put(&from, &cell)?;
        Ok(cell)
    };
    all.par_iter().with_max_len(1).map(move |of: &T| {
        let cell = cell(of);
        progress(done.fetch_add(1, Ordering::Relaxed) + 1);
        cell
    })
}

/// The program that runs, to the byte: another build may simulate otherwise.
fn program() -> Result<&'static str, Error> {
    static PROGRAM: OnceLock<String> = OnceLock::new();
    match PROGRAM.get() {
        Some(program) => Ok(program),
        None => {
            let program = program_digest(std::env::current_exe())?;
            Ok(PROGRAM.get_or_init(|| program))
        }
    }
}

fn program_digest(program: io::Result<PathBuf>) -> Result<String, Error> {
    let bytes = program.and_then(fs::read).map_err(|error| Error::Program { error })?;
    Ok(digest(&bytes))
}

/// The first 16 bytes of the SHA-256 of `bytes`, in hexadecimal.
pub fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes)[..16])
}

/// Why a file is not gone on with.
enum Bad {
    /// It is of something else.
    Foreign,
    /// A line is not as it was written.
    Edited {
        /// Counted from 1.
        line: usize,
    },
}

/// Lines that are whole; what an interrupted run left behind them is begun anew on a line of its
/// own.
fn read<C: DeserializeOwned>(file: &mut File) -> io::Result<Result<HashMap<String, C>, Bad>> {
    let mut known = HashMap::new();
    file.seek(SeekFrom::Start(0))?;
    let mut ended = true;
    for (n, line) in BufReader::new(&*file).split(b'\n').enumerate() {
        let line = line?;
        ended = true;
        match opened(&line) {
            Opened::Whole(text) => {
                // What is not a line is one of another version.
                if let Ok(Line { key, cell }) = serde_json::from_str::<Line<C>>(&text) {
                    known.insert(key, cell);
                }
            }
            Opened::Edited => return Ok(Err(Bad::Edited { line: n + 1 })),
            Opened::Unsealed if is_ours(&line) => ended = line.is_empty(),
            Opened::Unsealed => return Ok(Err(Bad::Foreign)),
        }
    }
    if !ended {
        file.write_all(b"\n")?;
    }
    Ok(Ok(known))
}

/// `text`, an object in JSON, with its digest as a last name.
fn sealed(text: &str) -> String {
    let body = text.strip_suffix('}').unwrap_or(text);
    format!("{body}{SUM}{}\"}}", digest(text.as_bytes()))
}

/// What a line holds.
enum Opened {
    /// What was written, without its digest.
    Whole(String),
    /// Something else than its digest is of.
    Edited,
    /// No digest: cut short, of a version without, or not ours.
    Unsealed,
}

fn opened(line: &[u8]) -> Opened {
    let text = std::str::from_utf8(line).ok().and_then(|text| text.strip_suffix("\"}"));
    let Some((body, sum)) = text.and_then(|text| text.rsplit_once(SUM)) else {
        return Opened::Unsealed;
    };
    let text = format!("{body}}}");
    if digest(text.as_bytes()) == sum { Opened::Whole(text) } else { Opened::Edited }
}

/// Whether a line that holds no cell may still be one of ours: cut short, or of another version.
fn is_ours(line: &[u8]) -> bool {
    const BEGIN: &[u8] = b"{\"key\":\"";
    let length = line.len().min(BEGIN.len());
    let begins = line[..length] == BEGIN[..length];
    let other = || match serde_json::from_slice::<serde_json::Value>(line) {
        Ok(value) => value["cell"].is_object(),
        Err(error) => error.is_eof(),
    };
    line.is_empty() || (begins && other())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_cannot_be_read_has_no_results_of_its_own() {
        let missing = program_digest(Ok("/nowhere/wastenot".into())).expect_err("missing");
        assert!(
            missing.to_string().starts_with("cannot read the program file of wastenot"),
            "{missing}"
        );
        assert!(missing.help().contains("without"), "{}", missing.help());
        let unknown = program_digest(Err(io::ErrorKind::NotFound.into())).expect_err("unknown");
        assert!(matches!(unknown, Error::Program { .. }), "{unknown}");
        assert_eq!(program().expect("this test").len(), 32);
    }
}
