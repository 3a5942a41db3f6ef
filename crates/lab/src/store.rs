//! Cells that were run before, in a file of JSON lines: one line a cell, written whole, so that a
//! run that is interrupted goes on where it was.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use wastenot_model::Span;
use wastenot_scenario::scenario::Variant;

use crate::{Cell, Error};

/// The file.
pub(crate) struct Store {
    path: PathBuf,
    file: Mutex<File>,
    known: HashMap<String, Cell>,
}

#[derive(Serialize, Deserialize)]
struct Line {
    key: String,
    cell: Cell,
}

/// Changes with whatever changes what a run gives: the program and everything that goes into the
/// run.
pub(crate) fn key(variant: &Variant, seed: u64, limit: Span) -> String {
    hex(format!("{} {seed} {limit:?} {variant:?}", program()).as_bytes())
}

/// The program that runs, to the byte: another build may simulate otherwise.
fn program() -> &'static str {
    static PROGRAM: OnceLock<String> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let bytes = std::env::current_exe().and_then(std::fs::read).unwrap_or_default();
        hex(&bytes)
    })
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

impl Store {
    pub(crate) fn open(path: &Path) -> Result<Store, Error> {
        let failed = |error| Error::Store { file: path.to_owned(), error };
        let mut open = OpenOptions::new();
        let mut file = open.read(true).append(true).create(true).open(path).map_err(failed)?;
        let known = read(&mut file).map_err(failed)?;
        Ok(Store { path: path.to_owned(), file: Mutex::new(file), known })
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Cell> {
        self.known.get(key)
    }

    pub(crate) fn put(&self, key: String, cell: &Cell) -> Result<(), Error> {
        let failed = |error| Error::Store { file: self.path.clone(), error };
        let line = Line { key, cell: cell.clone() };
        let mut text = serde_json::to_string(&line).map_err(|error| failed(error.into()))?;
        text.push('\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(text.as_bytes()).map_err(failed)
    }
}

/// Lines that are whole; what an interrupted run left behind them is begun anew on a line of its
/// own.
fn read(file: &mut File) -> io::Result<HashMap<String, Cell>> {
    let mut known = HashMap::new();
    file.seek(SeekFrom::Start(0))?;
    let mut ended = true;
    for line in BufReader::new(&*file).split(b'\n') {
        let line = line?;
        ended = true;
        match serde_json::from_slice::<Line>(&line) {
            Ok(Line { key, cell }) => drop(known.insert(key, cell)),
            Err(_) => ended = line.is_empty(),
        }
    }
    if !ended {
        file.write_all(b"\n")?;
    }
    Ok(known)
}
