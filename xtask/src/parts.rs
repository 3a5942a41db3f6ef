//! Parts of pages that are made from runs, each between its marks; and what runs need: files, and
//! the solver.

use std::fs;
use std::path::{Path, PathBuf};

use wastenot_golden::with_part;
use wastenot_prove::solver::{Kind, Places, Solver};

/// Puts each of `parts`, by name, into `page`. What was written there meanwhile stays.
pub(crate) fn put(page: &Path, parts: &[(&str, String)]) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", page.display());
    let mut text = fs::read_to_string(page).map_err(failed)?;
    for (name, made) in parts {
        text = with_part(&text, name, made)
            .ok_or_else(|| format!("{}: has no <!-- {name} -->", page.display()))?;
    }
    fs::write(page, &text).map_err(failed)
}

/// The solver z3.
pub(crate) fn z3() -> Result<Solver, String> {
    let found = Places::from_environment().find(Kind::Z3).map_err(|error| error.to_string())?;
    found.ok_or_else(|| format!("there is no z3: {}", Kind::Z3.recipe()))
}

/// The files of a folder whose names end so, in order.
pub(crate) fn files(folder: &Path, ending: &str) -> Result<Vec<PathBuf>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        if file.extension().is_some_and(|it| it == ending) {
            files.push(file);
        }
    }
    files.sort();
    Ok(files)
}
