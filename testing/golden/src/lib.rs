//! Does a committed file say what the code says? Tests hold text that is generated against the file
//! in which it stands; with `SNAPSHOTS=overwrite` in the environment they write it anew.
//!
//! A page of which only parts are generated has each between two marks, `<!-- NAME -->` and
//! `<!-- end of NAME -->`.

use std::fs;
use std::path::Path;

fn marks(name: &str) -> (String, String) {
    (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->"))
}

/// What stands between the marks of `name`. `None`: there are no such marks.
pub fn part<'p>(page: &'p str, name: &str) -> Option<&'p str> {
    let (from, to) = marks(name);
    let (_, rest) = page.split_once(&from)?;
    Some(rest.split_once(&to)?.0)
}

/// The page with `text` between the marks of `name`. `None`: there are no such marks.
pub fn with_part(page: &str, name: &str, text: &str) -> Option<String> {
    let (from, to) = marks(name);
    let (before, rest) = page.split_once(&from)?;
    let (_, after) = rest.split_once(&to)?;
    Some(format!("{before}{from}{text}{to}{after}"))
}

/// Holds `text` against the file at `path`.
///
/// # Panics
/// They differ, and which line does first; or the file cannot be read or written.
pub fn holds(path: impl AsRef<Path>, text: &str) {
    let path = path.as_ref();
    let old = fs::read_to_string(path).unwrap_or_default();
    if old == text {
        return;
    }
    if std::env::var("SNAPSHOTS").is_ok_and(|action| action == "overwrite") {
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        made.and_then(|()| fs::write(path, text))
            .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        return;
    }
    panic!("{}", difference(path, &old, text));
}

/// Holds parts of a page, each by its name, against the file at `path`.
///
/// # Panics
/// They differ, and which line does first; or the page cannot be read, or has not their marks.
pub fn page_holds<'n>(path: impl AsRef<Path>, parts: impl IntoIterator<Item = (&'n str, String)>) {
    let path = path.as_ref();
    let mut page =
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    for (name, text) in parts {
        page = with_part(&page, name, &text)
            .unwrap_or_else(|| panic!("{}: has no <!-- {name} -->", path.display()));
    }
    holds(path, &page);
}

fn difference(path: &Path, old: &str, new: &str) -> String {
    let mut lines = old.lines().zip(new.lines());
    let same = lines.position(|(old, new)| old != new);
    let at = same.unwrap_or_else(|| old.lines().count().min(new.lines().count()));
    let line =
        |text: &str| text.lines().nth(at).map_or("nothing".to_owned(), |it| format!("`{it}`"));
    format!(
        "{}, line {}: is {}, and should be {}; SNAPSHOTS=overwrite cargo test writes it anew",
        path.display(),
        at + 1,
        line(old),
        line(new)
    )
}
