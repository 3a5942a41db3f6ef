//! What was found of large recordings, kept so that they are shown at once the next time: files in
//! `$XDG_CACHE_HOME/wastenot/view`, or below `~/.cache`, which may be removed at any time.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{env, process};

use sha2::{Digest, Sha256};

/// Bytes of all that is kept; what was used longest ago goes first.
const MOST: u64 = 4 << 30;
/// Places of a recording that are looked at, and bytes at each.
const SAMPLES: (u64, usize) = (64, 4096);

/// The place of one result.
pub(crate) struct Entry(PathBuf);

impl Entry {
    /// Of what this program finds in `file` when it is asked for `what`. The file is known by its
    /// size, the time of its last change, and samples of its content. `None` if the
    /// user has no folder for caches, or if `file` is not a regular file.
    pub(crate) fn of(file: &Path, what: &str) -> Option<Entry> {
        let named = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        let home = || env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
        let folder = named.filter(|path| path.is_absolute()).or_else(home)?.join("wastenot/view");
        let key = key(file, what).ok()??;
        Some(Entry(folder.join(key)))
    }

    /// What is kept.
    pub(crate) fn read(&self) -> Option<Vec<u8>> {
        let bytes = fs::read(&self.0).ok()?;
        // It was used: others go first. Where that cannot be said, it only goes earlier.
        let _ =
            File::options().append(true).open(&self.0).map(|it| it.set_modified(SystemTime::now()));
        Some(bytes)
    }

    /// Keeps it. A cache that cannot be written is no failure.
    pub(crate) fn write(&self, bytes: &[u8]) {
        let _ = self.try_write(bytes);
    }

    fn try_write(&self, bytes: &[u8]) -> io::Result<()> {
        let folder = self.0.parent().ok_or(io::ErrorKind::NotFound)?;
        fs::create_dir_all(folder)?;
        make_room(folder, bytes.len() as u64)?;
        let part = self.0.with_extension(format!("{}.part", process::id()));
        let written = File::create(&part).and_then(|mut file| file.write_all(bytes));
        match written.and_then(|()| fs::rename(&part, &self.0)) {
            Ok(()) => Ok(()),
            Err(error) => {
                let _ = fs::remove_file(&part);
                Err(error)
            }
        }
    }
}

/// Removes what was used longest ago until so much more fits.
fn make_room(folder: &Path, bytes: u64) -> io::Result<()> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let known = entry.metadata()?;
        files.push((known.modified()?, known.len(), entry.path()));
    }
    files.sort_unstable();
    let mut all = files.iter().map(|(_, length, _)| length).sum::<u64>().saturating_add(bytes);
    for (_, length, path) in files {
        if all <= MOST {
            break;
        }
        fs::remove_file(path)?;
        all -= length;
    }
    Ok(())
}

fn key(path: &Path, what: &str) -> io::Result<Option<String>> {
    let mut file = File::open(path)?;
    let known = file.metadata()?;
    if !known.is_file() {
        return Ok(None);
    }
    // Another build of this program may find something else.
    let program = fs::metadata(env::current_exe()?)?;
    let mut hash = Sha256::new();
    let described = format!("{:?} {what}", path.file_name());
    hash.update(described.as_bytes());
    for of in [&program, &known] {
        hash.update(of.len().to_le_bytes());
        hash.update(format!("{:?}", of.modified()?).as_bytes());
    }
    let (places, length) = SAMPLES;
    let mut sample = vec![0; length];
    for place in 0..places {
        // From the first byte to the last one.
        let last = u128::from(known.len().saturating_sub(length as u64));
        let at = (last * u128::from(place) / u128::from(places - 1)) as u64;
        file.seek(SeekFrom::Start(at))?;
        let count = file.read(&mut sample)?;
        hash.update(&sample[..count]);
    }
    let digest = hash.finalize();
    Ok(Some(digest.iter().map(|byte| format!("{byte:02x}")).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_recognised_until_it_changes() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a");
        fs::write(&path, vec![7; 100_000]).expect("written");
        let first = key(&path, "x").expect("a file").expect("a key");
        assert_eq!(key(&path, "x").expect("a file").as_ref(), Some(&first));
        assert_ne!(key(&path, "y").expect("a file").as_ref(), Some(&first));
        let time = fs::metadata(&path).and_then(|it| it.modified()).expect("a time");
        let mut other = vec![7; 100_000];
        other[99_999] = 8;
        fs::write(&path, other).expect("written");
        let file = File::options().append(true).open(&path).expect("a file");
        file.set_modified(time).expect("a time");
        assert_ne!(key(&path, "x").expect("a file").as_ref(), Some(&first), "its content changed");
        assert_eq!(key(folder.path(), "x").expect("a folder"), None);
    }

    #[test]
    fn what_was_used_longest_ago_makes_room() {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, age) in [("old", 9), ("new", 1)] {
            let file = File::create(folder.path().join(name)).expect("a file");
            file.set_len(MOST / 2).expect("sparse");
            let time = SystemTime::now() - std::time::Duration::from_secs(age);
            file.set_modified(time).expect("a time");
        }
        let entry = Entry(folder.path().join("newest"));
        entry.write(b"found");
        assert_eq!(entry.read().as_deref(), Some(&b"found"[..]));
        let mut names: Vec<_> = fs::read_dir(folder.path())
            .expect("a folder")
            .map(|entry| entry.expect("an entry").file_name())
            .collect();
        names.sort_unstable();
        assert_eq!(names, ["new", "newest"]);
    }
}
