//! What was found of large recordings, kept so that they are shown at once the next time: files in
//! `$XDG_CACHE_HOME/wastenot/view`, or below `~/.cache`, which may be removed at any time.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{env, process};

use sha2::{Digest, Sha256};
use wastenot_view::{Bytes, Spill};

use crate::map;

/// Bytes of all that is kept; what was used longest ago goes first.
const MOST: u64 = 4 << 30;
/// Places of a recording that are looked at, and bytes at each.
const SAMPLES: (u64, usize) = (64, 4096);

/// The place of one result.
pub(crate) struct Entry(PathBuf);

impl Entry {
    /// Of what this program finds in the first of `files`, with the help of the others, when it is
    /// asked for `what`. A file is known by its name, its size, the time of its last change, and
    /// samples of its content. `None` if the user has no folder for caches, or if one of them is
    /// not a regular file.
    pub(crate) fn of(files: &[&Path], what: &str) -> Option<Entry> {
        let key = key(files, what).ok()??;
        Some(Entry(folder()?.join(key)))
    }

    /// What is kept, to be read in place.
    pub(crate) fn read(&self) -> Option<Bytes> {
        let file = File::open(&self.0).ok()?;
        let bytes = map::Bytes::map(&file).ok()?;
        // It was used: others go first. Where that cannot be said, it only goes earlier.
        let _ =
            File::options().append(true).open(&self.0).map(|it| it.set_modified(SystemTime::now()));
        Some(Bytes::new(bytes))
    }

    /// Begins to write it, beside its place until it is complete.
    pub(crate) fn begin(&self) -> io::Result<Part> {
        let folder = self.0.parent().ok_or(io::ErrorKind::NotFound)?;
        fs::create_dir_all(folder)?;
        remove_parts(folder, |process| !Path::new("/proc").join(process).exists())?;
        let path = self.0.with_extension(format!("{}.{PART}", process::id()));
        let file =
            File::options().create(true).truncate(true).read(true).write(true).open(&path)?;
        Ok(Part { entry: self.0.clone(), path, to: BufWriter::new(file) })
    }
}

/// What the name of an entry ends with that is not complete, behind the number of the process that
/// writes it.
const PART: &str = "part";

/// An entry that is being written. If it is not kept, it is removed.
pub(crate) struct Part {
    entry: PathBuf,
    path: PathBuf,
    to: BufWriter<File>,
}

impl Part {
    /// It ends with `tail`, and is complete.
    pub(crate) fn keep(mut self, tail: &[u8]) -> io::Result<()> {
        self.to.write_all(tail)?;
        self.to.flush()?;
        make_room(self.entry.parent().unwrap_or(Path::new("")))?;
        fs::rename(&self.path, &self.entry)
    }
}

impl Spill for Part {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.to.write_all(bytes)
    }
    fn read(&mut self) -> io::Result<Bytes> {
        self.to.flush()?;
        if self.to.get_ref().metadata()?.len() == 0 {
            return Ok(Bytes::new(Vec::new())); // an empty file has no map
        }
        map::Bytes::map(self.to.get_ref()).map(Bytes::new)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // A map of it stays.
        let _ = fs::remove_file(&self.path);
    }
}

fn folder() -> Option<PathBuf> {
    let named = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    Some(named.filter(|path| path.is_absolute()).or_else(home)?.join("wastenot/view"))
}

/// Removes what this process began, and will not complete.
pub(crate) fn remove_begun() {
    let own = process::id().to_string();
    if let Some(folder) = folder() {
        let _ = remove_parts(&folder, |process| process == &*own);
    }
}

/// Removes what such processes began.
fn remove_parts(folder: &Path, of: impl Fn(&OsStr) -> bool) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let process = path.extension().filter(|it| *it == PART).and_then(|_| path.file_stem());
        if process.and_then(|stem| Path::new(stem).extension()).is_some_and(&of) {
            remove(&path)?;
        }
    }
    Ok(())
}

/// Removes a file, unless another process did so.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Removes what was used longest ago until all fits.
fn make_room(folder: &Path) -> io::Result<()> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        // Another process may have removed it.
        let Ok(known) = entry.metadata() else { continue };
        files.push((known.modified()?, known.len(), entry.path()));
    }
    files.sort_unstable();
    let mut all = files.iter().map(|(_, length, _)| length).sum::<u64>();
    for (_, length, path) in files {
        if all <= MOST {
            break;
        }
        if path.extension().is_some_and(|it| it == PART) {
            continue; // it is being written
        }
        remove(&path)?;
        all -= length;
    }
    Ok(())
}

fn key(files: &[&Path], what: &str) -> io::Result<Option<String>> {
    let mut hash = Sha256::new();
    hash.update(what.as_bytes());
    // Another build of this program may find something else.
    describe(&fs::metadata(env::current_exe()?)?, &mut hash)?;
    for path in files {
        let mut file = File::open(path)?;
        let known = file.metadata()?;
        if !known.is_file() {
            return Ok(None);
        }
        // Commands to try next name the file as the user did.
        hash.update(format!("{path:?}").as_bytes());
        describe(&known, &mut hash)?;
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
    }
    let digest = hash.finalize();
    Ok(Some(digest.iter().map(|byte| format!("{byte:02x}")).collect()))
}

fn describe(known: &Metadata, hash: &mut Sha256) -> io::Result<()> {
    hash.update(known.len().to_le_bytes());
    hash.update(format!("{:?}", known.modified()?).as_bytes());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_recognised_until_it_changes() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a");
        fs::write(&path, vec![7; 100_000]).expect("written");
        let other = folder.path().join("b");
        fs::write(&other, "machine").expect("written");
        let both = || key(&[&path, &other], "x").expect("files").expect("a key");
        let with = both();
        fs::write(&other, "machines").expect("written");
        assert_ne!(both(), with, "what helps to read it changed");
        let key = |path: &Path, what| key(&[path], what);
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
    fn what_is_not_kept_goes_and_so_does_what_a_killed_process_left() {
        let folder = tempfile::tempdir().expect("a folder");
        let [ours, other] = [process::id(), u32::MAX].map(|it| format!("x.{it}.part"));
        for name in [&ours, &other] {
            fs::write(folder.path().join(name), "begun").expect("written");
        }
        let names = || {
            let names = fs::read_dir(folder.path()).expect("a folder");
            names.map(|it| it.expect("an entry").file_name()).collect::<Vec<_>>()
        };
        let mut part = Entry(folder.path().join("x")).begin().expect("a file");
        assert_eq!(names(), [&*ours]);
        part.put(b"found").expect("written");
        let bytes = part.read().expect("a map");
        drop(part);
        assert_eq!((names().len(), &*bytes), (0, &b"found"[..]));
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
        let mut part = entry.begin().expect("a file");
        part.put(b"fou").expect("written");
        assert_eq!(&*part.read().expect("a map"), b"fou");
        assert!(entry.read().is_none(), "it is not complete");
        part.keep(b"nd").expect("kept");
        assert_eq!(entry.read().as_deref(), Some(&b"found"[..]));
        let mut names: Vec<_> = fs::read_dir(folder.path())
            .expect("a folder")
            .map(|entry| entry.expect("an entry").file_name())
            .collect();
        names.sort_unstable();
        assert_eq!(names, ["new", "newest"]);
    }
}
