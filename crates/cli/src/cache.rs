//! The cache of results for large traces, so that `view` shows them at once the next time. The
//! files are in `$XDG_CACHE_HOME/wastenot/view`, or below `~/.cache`, and may be removed at any
//! time.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{env, process};

use wastenot_view::{Bytes, Spill};

use crate::known::Known;
use crate::map;

/// The largest size of the cache in bytes. The entry that was not used for the longest time is
/// removed first.
const MOST: u64 = 4 << 30;
/// The size of an entry's seal: the CRC-32 of all bytes before it, little-endian.
const SEAL: usize = size_of::<u32>();

/// The place of one result.
#[derive(Clone)]
pub(crate) struct Entry {
    path: PathBuf,
    files: Vec<PathBuf>,
    what: String,
}

impl Entry {
    /// The entry for the first of `files`, which is read with the help of the other files, and for
    /// the options `what`. `None` if the user has no cache directory, or if one of the files is not
    /// a regular file. Call it before the files are read.
    pub(crate) fn of(files: &[&Path], what: &str) -> Option<Entry> {
        Entry::within(&wastenot_host::cache("view")?, files, what)
    }

    fn within(folder: &Path, files: &[&Path], what: &str) -> Option<Entry> {
        let files: Vec<PathBuf> = files.iter().map(|file| file.to_path_buf()).collect();
        let path = folder.join(key(&files, what)?);
        Some(Entry { path, files, what: what.to_owned() })
    }

    /// True if the files are unchanged.
    fn is_of_now(&self) -> bool {
        key(&self.files, &self.what).is_some_and(|key| self.path.ends_with(key))
    }

    /// The cached result, mapped into memory. `None` if it is missing or damaged.
    pub(crate) fn read(&self) -> Option<Bytes> {
        let mut file = File::open(&self.path).ok()?;
        if !is_whole(&mut file).ok()? {
            return None;
        }
        let bytes = map::Bytes::map(&file).ok()?;
        // Mark the entry as used, so that others are removed first. If that fails, this entry is
        // only removed earlier.
        let _ = File::options()
            .append(true)
            .open(&self.path)
            .map(|it| it.set_modified(SystemTime::now()));
        Some(Bytes::new(Sealed(bytes)))
    }

    /// Begins to write the entry, under another name until it is complete.
    pub(crate) fn begin(&self) -> io::Result<Part> {
        let folder = self.path.parent().ok_or(io::ErrorKind::NotFound)?;
        fs::create_dir_all(folder)?;
        remove_parts(folder, |process| !Path::new("/proc").join(process).exists())?;
        let path = self.path.with_extension(format!("{}.{PART}", process::id()));
        let file =
            File::options().create(true).truncate(true).read(true).write(true).open(&path)?;
        let crc = crc32fast::Hasher::new();
        Ok(Part { entry: self.clone(), path, to: BufWriter::new(file), crc })
    }
}

/// Returns true if the file ends with a valid seal. This function reads the file and does not map
/// it, so that the pages do not count as memory of this process.
fn is_whole(file: &mut File) -> io::Result<bool> {
    let Some(content) = file.metadata()?.len().checked_sub(SEAL as u64) else { return Ok(false) };
    let (mut crc, mut piece) = (crc32fast::Hasher::new(), vec![0; 1 << 18]);
    let mut reader = (&mut *file).take(content);
    loop {
        match reader.read(&mut piece)? {
            0 => break,
            count => crc.update(&piece[..count]),
        }
    }
    let mut seal = [0; SEAL];
    file.read_exact(&mut seal)?;
    Ok(crc.finalize().to_le_bytes() == seal)
}

/// An entry without its seal.
struct Sealed(map::Bytes);

impl Deref for Sealed {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        self.0.split_last_chunk::<SEAL>().map_or(&[], |(content, _)| content)
    }
}

/// The extension of an incomplete entry, after the number of the process that writes it.
const PART: &str = "part";

/// An entry that is being written. It is removed unless `keep` is called.
pub(crate) struct Part {
    entry: Entry,
    path: PathBuf,
    to: BufWriter<File>,
    crc: crc32fast::Hasher,
}

impl Part {
    /// Writes `tail`, which completes the entry. The entry is not kept if it is too large, or if a
    /// file changed meanwhile, because the result may then belong to other content.
    pub(crate) fn keep(mut self, tail: &[u8]) -> io::Result<()> {
        self.put(tail)?;
        self.to.write_all(&self.crc.clone().finalize().to_le_bytes())?;
        self.to.flush()?;
        if !self.entry.is_of_now() || self.path.metadata()?.len() > MOST {
            return Ok(());
        }
        make_room(self.entry.path.parent().unwrap_or(Path::new("")))?;
        fs::rename(&self.path, &self.entry.path)
    }
}

impl Spill for Part {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.crc.update(bytes);
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
        // A mapping of the file stays valid.
        let _ = fs::remove_file(&self.path);
    }
}

/// Removes the entries that this process began and will not complete.
pub(crate) fn remove_begun() {
    let own = process::id().to_string();
    if let Some(folder) = wastenot_host::cache("view") {
        let _ = remove_parts(&folder, |process| process == &*own);
    }
}

/// Removes the incomplete entries of the processes that `of` selects.
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

/// Removes a file, unless another process removed it.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Removes the entries that were not used for the longest time until the rest fits.
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

/// The name of an entry. `None` if one of the files cannot be identified.
fn key(files: &[PathBuf], what: &str) -> Option<String> {
    // Another build of this program may give another result.
    let mut known = format!("{what:?} {:?}", Known::of(&env::current_exe().ok()?)?);
    for file in files {
        // The report suggests commands with the file name that the user typed.
        known += &format!(" {file:?} {:?}", Known::of(file)?);
    }
    Some(wastenot_host::sha256(known.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory with a trace, and the cache entry of that trace.
    fn desk() -> (tempfile::TempDir, PathBuf, Entry) {
        let folder = tempfile::tempdir().expect("a folder");
        let (trace, cache) = (folder.path().join("trace"), folder.path().join("cache"));
        fs::write(&trace, "events").expect("written");
        fs::create_dir(&cache).expect("a folder");
        let entry = Entry::within(&cache, &[&trace], "x").expect("a file");
        (folder, trace, entry)
    }

    /// The names of all files in the cache.
    fn names(entry: &Entry) -> Vec<String> {
        let files = fs::read_dir(entry.path.parent().expect("a folder")).expect("a folder");
        let name = |it: io::Result<fs::DirEntry>| it.expect("an entry").file_name();
        let mut names: Vec<_> = files.map(|it| name(it).to_string_lossy().into_owned()).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn each_file_and_each_question_has_its_place() {
        let (folder, trace, first) = desk();
        let cache = first.path.parent().expect("a folder");
        let machine = folder.path().join("machine");
        fs::write(&machine, "a").expect("written");
        let path =
            |what: &str| Entry::within(cache, &[&trace, &machine], what).expect("files").path;
        let with = path("x");
        assert_eq!(path("x"), with);
        assert!(with != first.path && with != path("y"));
        fs::write(&machine, "b").expect("written");
        assert_ne!(path("x"), with, "what helps to read it changed");
        assert!(Entry::within(cache, &[folder.path()], "x").is_none(), "no file");
    }

    #[test]
    fn what_is_not_kept_goes_and_so_does_what_a_killed_process_left() {
        let (_folder, _, entry) = desk();
        let [ours, other] =
            [process::id(), u32::MAX].map(|it| entry.path.with_extension(format!("{it}.part")));
        for path in [&ours, &other] {
            fs::write(path, "begun").expect("written");
        }
        let mut part = entry.begin().expect("a file");
        assert_eq!(names(&entry).len(), 1);
        assert!(ours.exists());
        part.put(b"found").expect("written");
        let bytes = part.read().expect("a map");
        drop(part);
        assert_eq!((names(&entry).len(), &*bytes), (0, &b"found"[..]));
    }

    #[test]
    fn what_was_used_longest_ago_makes_room() {
        let (_folder, _, entry) = desk();
        for (name, age) in [("old", 9), ("new", 1)] {
            let file = File::create(entry.path.with_file_name(name)).expect("a file");
            file.set_len(MOST / 2).expect("sparse");
            let time = SystemTime::now() - std::time::Duration::from_secs(age);
            file.set_modified(time).expect("a time");
        }
        let mut part = entry.begin().expect("a file");
        part.put(b"fou").expect("written");
        assert_eq!(&*part.read().expect("a map"), b"fou");
        assert!(entry.read().is_none(), "it is not complete");
        part.keep(b"nd").expect("kept");
        assert_eq!(entry.read().as_deref(), Some(&b"found"[..]));
        let names = names(&entry);
        assert_eq!(names.len(), 2);
        assert!(names.contains(&"new".to_owned()), "{names:?}");
    }

    #[test]
    fn what_was_damaged_is_not_believed() {
        let (_folder, _, entry) = desk();
        entry.begin().and_then(|part| part.keep(b"found")).expect("kept");
        let whole = fs::read(&entry.path).expect("bytes");
        assert_eq!(entry.read().as_deref(), Some(&b"found"[..]));
        for n in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[n] ^= 1;
            for bytes in [&damaged, &whole[..n], &[&whole[..], &whole[..n + 1]].concat()] {
                fs::write(&entry.path, bytes).expect("written");
                assert!(entry.read().is_none(), "{bytes:?}");
            }
        }
    }

    #[test]
    fn what_was_found_in_a_file_that_changed_meanwhile_is_not_kept() {
        let (_folder, trace, entry) = desk();
        let mut part = entry.begin().expect("a file");
        part.put(b"found").expect("written");
        fs::write(&trace, "others").expect("written");
        part.keep(b"").expect("no error");
        assert!(names(&entry).is_empty());
    }
}
