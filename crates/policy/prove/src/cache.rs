//! A cache of answers: the same question is sent to the same solver once.
//!
//! An answer is one small file, named by the SHA-256 of the script, the solver, its version and
//! its arguments. Answers to scripts that were asked together share one file. Only `sat` and
//! `unsat` are kept: more time may turn `unknown` into either. A file that is cut, was changed or
//! has another version is ignored, and is written again.
//!
//! The folder does not grow without bound: no file is larger than [`ENTRY_MAX`] bytes. When there
//! are more than [`ENTRIES_MAX`] files, or they take more than [`BYTES_MAX`], the oldest are
//! deleted until half of that is left. The size is checked when the folder is opened and after
//! every [`STORES_BETWEEN`] answers.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::slice;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use wastenot_host::sha256;

use crate::Error;
use crate::smt::Script;
use crate::solver::{Reply, Seek, Solver};

/// The first word of every file.
const VERSION: &str = "wastenot.answer/1";
/// Stands between the answers to several scripts. No solver prints it: it is ASCII's record
/// separator.
const BETWEEN: &str = "\u{1e}";
/// The most bytes of an answer that is kept.
const ENTRY_MAX: usize = 1 << 20;
/// The most answers that are kept.
const ENTRIES_MAX: usize = 8_192;
/// The most bytes of all answers together.
const BYTES_MAX: u64 = 128 << 20;
/// The size of the folder is checked again after so many new answers.
const STORES_BETWEEN: usize = 512;
/// The remains of an interrupted write are deleted after this time.
const LEFT_BEHIND: Duration = Duration::from_secs(3_600);

/// A folder of answers. Several processes may use it at once.
#[derive(Debug)]
pub struct Cache {
    folder: PathBuf,
    stored: AtomicUsize,
}

impl Cache {
    /// Makes the folder if it does not exist, and deletes the oldest answers if there are too many.
    ///
    /// # Errors
    /// The folder cannot be made or read.
    pub fn open(folder: &Path) -> Result<Cache, Error> {
        let cache = Cache { folder: folder.to_owned(), stored: AtomicUsize::new(0) };
        let opened = fs::create_dir_all(folder).and_then(|()| cache.shrink(ENTRIES_MAX, BYTES_MAX));
        opened.map_err(|error| Error::File { file: folder.to_owned(), error })?;
        Ok(cache)
    }

    /// The answer of [`Solver::ask`], now or from the cache. If the cache cannot be written, the
    /// answer is returned nevertheless.
    ///
    /// # Errors
    /// Those of [`Solver::ask`].
    pub fn ask(
        &self,
        solver: &Solver,
        script: &Script,
        seek: Seek,
        timeout: Duration,
    ) -> Result<Reply, Error> {
        let ask = || Ok(vec![solver.ask(script, seek, timeout)?]);
        Ok(self.answers(solver, slice::from_ref(script), seek, ask)?.swap_remove(0))
    }

    /// The answers of [`Solver::ask_each`], now or from the cache, which keeps them in one file.
    ///
    /// # Errors
    /// Those of [`Solver::ask_each`].
    pub fn ask_each(
        &self,
        solver: &Solver,
        scripts: &[Script],
        seek: Seek,
        timeout: Duration,
    ) -> Result<Vec<Reply>, Error> {
        self.answers(solver, scripts, seek, || solver.ask_each(scripts, seek, timeout))
    }

    /// One answer for each script: from the cache, or else those that `ask` gets.
    fn answers(
        &self,
        solver: &Solver,
        scripts: &[Script],
        seek: Seek,
        ask: impl FnOnce() -> Result<Vec<Reply>, Error>,
    ) -> Result<Vec<Reply>, Error> {
        let asked = scripts.iter().map(|script| solver.asked(&script.to_string(), seek));
        let asked: String = asked.collect();
        let key = sha256(format!("{VERSION}\n{solver}\n{asked}").as_bytes());
        if let Some(replies) = self.get(&key, seek).filter(|it| it.len() == scripts.len()) {
            return Ok(replies);
        }
        let replies = ask()?;
        if replies.iter().all(|reply| reply.answer.is_certain()) {
            self.put(&key, &replies).ok();
        }
        Ok(replies)
    }

    fn get(&self, key: &str, seek: Seek) -> Option<Vec<Reply>> {
        let file = fs::read_to_string(self.folder.join(key)).ok()?;
        let (head, text) = file.split_once('\n')?;
        let mut words = head.split(' ');
        let known = words.next() == Some(VERSION) && words.next() == Some(key);
        let took = Duration::from_nanos(words.next()?.parse().ok()?);
        let whole = words.next() == Some(&sha256(text.as_bytes()));
        let replies = || text.split(BETWEEN).map(|text| Reply::read(text, seek, took)).collect();
        if known && whole { replies() } else { None }
    }

    fn put(&self, key: &str, replies: &[Reply]) -> io::Result<()> {
        let texts: Vec<&str> = replies.iter().map(|reply| &*reply.text).collect();
        let text = texts.join(BETWEEN);
        if text.len() > ENTRY_MAX {
            return Ok(());
        }
        // Those of one process took the same time.
        let took_ns = replies.first().map_or(0, |reply| reply.took.as_nanos());
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        writeln!(file, "{VERSION} {key} {took_ns} {}", sha256(text.as_bytes()))?;
        file.write_all(text.as_bytes())?;
        file.persist(self.folder.join(key))?;
        if self.stored.fetch_add(1, Ordering::Relaxed) % STORES_BETWEEN == STORES_BETWEEN - 1 {
            self.shrink(ENTRIES_MAX, BYTES_MAX)?;
        }
        Ok(())
    }

    /// If the folder exceeds these limits, deletes the oldest answers until half of each is left.
    fn shrink(&self, entries_max: usize, bytes_max: u64) -> io::Result<()> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            // Another process may have removed it since.
            let Ok(about) = entry.metadata() else { continue };
            let written = about.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            let name = entry.file_name().to_string_lossy().into_owned();
            if is_key(&name) {
                entries.push((written, entry.path(), about.len()));
            } else if name.starts_with(".tmp") && written.elapsed().is_ok_and(|t| t > LEFT_BEHIND) {
                fs::remove_file(entry.path()).ok();
            }
        }
        let mut count = entries.len();
        let mut bytes: u64 = entries.iter().map(|(_, _, bytes)| bytes).sum();
        if count <= entries_max && bytes <= bytes_max {
            return Ok(());
        }
        entries.sort();
        for (_, file, size) in entries {
            if count <= entries_max / 2 && bytes <= bytes_max / 2 {
                break;
            }
            fs::remove_file(file).ok();
            count -= 1;
            bytes -= size;
        }
        Ok(())
    }
}

/// Whether a file belongs to the cache, by its name.
fn is_key(name: &str) -> bool {
    name.len() == 64 && name.bytes().all(|digit| digit.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::Answer;

    fn replies() -> Vec<Reply> {
        let read = |text| Reply::read(text, Seek::Proof, Duration::from_nanos(5)).unwrap();
        vec![read("unsat\n((because))\n"), read("sat\n")]
    }

    #[test]
    fn what_was_put_comes_back_whole() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(&folder.path().join("new/folder")).unwrap();
        let key = sha256(b"question");
        assert_eq!(cache.get(&key, Seek::Proof), None);
        cache.put(&key, &replies()).unwrap();
        assert_eq!(cache.get(&key, Seek::Proof), Some(replies()));
        assert_eq!(replies()[0].answer, Answer::Unsat);
    }

    #[test]
    fn a_file_that_was_changed_is_none_and_is_written_anew() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path()).unwrap();
        let key = sha256(b"question");
        cache.put(&key, &replies()).unwrap();
        let file = folder.path().join(&key);
        let whole = fs::read(&file).unwrap();
        for end in 0..whole.len() {
            fs::write(&file, &whole[..end]).unwrap();
            assert_eq!(cache.get(&key, Seek::Proof), None, "cut to {end} bytes");
        }
        let turned = String::from_utf8(whole).unwrap().replace("unsat", "sat");
        fs::write(&file, turned).unwrap();
        assert_eq!(cache.get(&key, Seek::Proof), None);
        fs::write(&file, [0xff, 0xfe]).unwrap();
        assert_eq!(cache.get(&key, Seek::Proof), None);
        cache.put(&key, &replies()).unwrap();
        assert_eq!(cache.get(&key, Seek::Proof), Some(replies()));
    }

    #[test]
    fn the_oldest_go_and_what_is_not_ours_stays() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path()).unwrap();
        fs::write(folder.path().join("notes"), "mine").unwrap();
        let keys: Vec<String> = (0..8).map(|n| sha256(format!("{n}").as_bytes())).collect();
        for (age, key) in keys.iter().rev().enumerate() {
            cache.put(key, &replies()).unwrap();
            let file = fs::File::options().append(true).open(folder.path().join(key)).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(age as u64)).unwrap();
        }
        cache.shrink(8, u64::MAX).unwrap();
        assert!(keys.iter().all(|key| cache.get(key, Seek::Proof).is_some()));
        cache.shrink(7, u64::MAX).unwrap();
        let left = keys.iter().filter(|key| cache.get(key, Seek::Proof).is_some());
        assert_eq!(left.collect::<Vec<_>>(), keys[..3].iter().collect::<Vec<_>>());
        cache.shrink(8, 1).unwrap();
        assert!(keys.iter().all(|key| cache.get(key, Seek::Proof).is_none()));
        assert!(folder.path().join("notes").exists());
    }
}
