//! Parts of pages that are made from runs, each between its marks.

use std::fs;
use std::path::Path;

use wastenot_golden::with_part;

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
