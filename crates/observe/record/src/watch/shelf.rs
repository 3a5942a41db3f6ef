//! The folder of saved recordings of violations, with limits per hour and in bytes.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use wastenot_host::part;
use wastenot_model::{History, Span, Time};

use crate::Error;

/// The limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Recordings per hour.
    pub an_hour: u32,
    /// Bytes of kept recordings; the oldest are removed first.
    pub bytes: u64,
}

/// The fate of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It was saved.
    Saved,
    /// There were too many within the hour.
    OverRate,
    /// It could not be written.
    Failed,
    /// It was removed for a newer one.
    Removed,
}

impl Fate {
    /// All fates.
    pub const ALL: [Fate; 4] = [Fate::Saved, Fate::OverRate, Fate::Failed, Fate::Removed];

    /// Its name in one word.
    pub fn name(self) -> &'static str {
        match self {
            Fate::Saved => "saved",
            Fate::OverRate => "over_rate",
            Fate::Failed => "failed",
            Fate::Removed => "removed",
        }
    }
}

/// A folder of recordings. Other files in it are not touched.
#[derive(Debug)]
pub struct Shelf {
    folder: PathBuf,
    limits: Limits,
    saved: VecDeque<Time>,
}

const PREFIX: &str = "violation-";
const SUFFIX: &str = ".wn";
/// The suffix of files that a killed watch may leave incomplete.
const HALF: &str = ".wn.part";
const HOUR: Span = Span::s(3600);

impl Shelf {
    /// Keeps recordings in `folder`, and creates it. Recordings that an earlier watch saved there
    /// within the hour count.
    pub fn new(folder: &Path, limits: Limits, now: Time) -> Result<Shelf, Error> {
        Shelf::open(folder, limits, now).map_err(|error| match error {
            Error::Io(why) => Error::Folder { folder: folder.to_owned(), why },
            other => other,
        })
    }

    fn open(folder: &Path, limits: Limits, now: Time) -> Result<Shelf, Error> {
        fs::create_dir_all(folder)?;
        for half in ours(folder, HALF)? {
            // Another watch may be writing it.
            if let Some(_held) = part::left(&half.path)? {
                fs::remove_file(&half.path)?;
            }
        }
        let unix_ms = crate::clock::unix_ms();
        // Fails now, not only when the first violation is to be saved, if nothing can be saved.
        fs::remove_file(Half::make(folder, unix_ms)?.path)?;
        // A recording from the future was saved under another clock.
        let ages = ours(folder, SUFFIX)?.into_iter().map(|it| unix_ms.checked_sub(it.unix_ms));
        let ages = ages.map(|ms| Span::ms(ms.unwrap_or(0))).filter(|age| *age < HOUR);
        let saved = ages.map(|age| Time(now.0.saturating_sub(age.0))).collect();
        Ok(Shelf { folder: folder.to_owned(), limits, saved })
    }

    /// Saves the events around `now`, and returns the path; `None` if the rate limit is reached.
    pub fn save(&mut self, history: &History, now: Time) -> Result<Option<PathBuf>, Error> {
        while self.saved.front().is_some_and(|&first| now.since(first) >= HOUR) {
            self.saved.pop_front();
        }
        if self.saved.len() >= self.limits.an_hour as usize {
            return Ok(None);
        }
        // The order of names is that of time, also across reboots.
        let half = Half::make(&self.folder, crate::clock::unix_ms())?;
        let written = half.fill(history);
        if written.is_err() {
            // The incomplete file is of no use.
            let _ = fs::remove_file(&half.path);
        }
        written?;
        self.saved.push_back(now);
        Ok(Some(half.whole))
    }

    /// Removes the oldest until the rest is within its limit; returns how many, and the bytes that
    /// remain.
    pub fn tidy(&self) -> Result<(u64, u64), Error> {
        let kept = ours(&self.folder, SUFFIX)?;
        let mut bytes: u64 = kept.iter().map(|it| it.bytes).sum();
        let mut removed = 0;
        for it in &kept {
            if bytes <= self.limits.bytes {
                break;
            }
            fs::remove_file(&it.path)?;
            bytes -= it.bytes;
            removed += 1;
        }
        Ok((removed, bytes))
    }
}

/// A recording that is being written.
#[derive(Debug)]
struct Half {
    file: File,
    path: PathBuf,
    /// Its name once it is complete.
    whole: PathBuf,
}

impl Half {
    /// Creates a file named after `unix_ms`, or after the next millisecond whose name is free.
    fn make(folder: &Path, unix_ms: u64) -> Result<Half, Error> {
        for unix_ms in unix_ms.. {
            let whole = folder.join(format!("{PREFIX}{unix_ms}{SUFFIX}"));
            let path = folder.join(format!("{PREFIX}{unix_ms}{HALF}"));
            let file = match File::create_new(&path) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                made => made?,
            };
            if !part::hold(&file, &path)? {
                continue;
            }
            // Only the holder of the incomplete file may complete it, so this stays as it is.
            if !whole.exists() {
                return Ok(Half { file, path, whole });
            }
            fs::remove_file(&path)?;
        }
        Err(std::io::Error::from(ErrorKind::AlreadyExists).into())
    }

    /// Writes `history`, and gives the file its name once it is on disk.
    fn fill(&self, history: &History) -> Result<(), Error> {
        let mut out = BufWriter::new(&self.file);
        wastenot_read::write::wn(history, &mut out)?;
        out.flush()?;
        self.file.sync_data()?;
        Ok(fs::rename(&self.path, &self.whole)?)
    }
}

#[derive(Debug)]
struct Kept {
    path: PathBuf,
    /// When it was saved.
    unix_ms: u64,
    bytes: u64,
}

/// Our files, oldest first.
fn ours(folder: &Path, suffix: &str) -> Result<Vec<Kept>, Error> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let stamp = name.to_str().and_then(|name| {
            let stamp = name.strip_prefix(PREFIX)?.strip_suffix(suffix)?;
            stamp.parse::<u64>().ok()
        });
        if let Some(unix_ms) = stamp {
            found.push(Kept { path: entry.path(), unix_ms, bytes: entry.metadata()?.len() });
        }
    }
    found.sort_by_key(|kept| kept.unix_ms);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wastenot_model::{Builder, Head, Help, Machine};

    fn history() -> History {
        Builder::new(Head::new(Machine::flat(2))).finish()
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder").flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_folder_that_cannot_hold_any_is_refused_at_once_and_by_name() {
        let limits = Limits { an_hour: 1, bytes: u64::MAX };
        for folder in ["/proc", "/proc/x"] {
            let error = Shelf::new(Path::new(folder), limits, Time(1)).expect_err(folder);
            assert!(error.to_string().starts_with("cannot write traces to /proc"), "{error}");
            assert!(error.help().contains("--save DIR"), "{}", error.help());
        }
    }

    #[test]
    fn no_more_are_saved_in_an_hour_than_allowed() {
        let folder = tempfile::tempdir().expect("a folder");
        let limits = Limits { an_hour: 1, bytes: u64::MAX };
        let mut shelf = Shelf::new(folder.path(), limits, Time(1)).expect("a shelf");
        assert!(shelf.save(&history(), Time(1)).expect("saved").is_some());
        assert_eq!(shelf.save(&history(), Time(1) + Span::s(3599)).expect("no error"), None);
        assert!(shelf.save(&history(), Time(1) + HOUR).expect("saved").is_some());
    }

    #[test]
    fn a_restart_allows_no_more_an_hour() {
        let folder = tempfile::tempdir().expect("a folder");
        let limits = Limits { an_hour: 1, bytes: u64::MAX };
        let shelf = |now| Shelf::new(folder.path(), limits, now).expect("a shelf");
        let now = Time(1) + Span::s(7200);
        assert!(shelf(now).save(&history(), now).expect("saved").is_some());
        assert_eq!(shelf(now).save(&history(), now + Span::s(3000)).expect("no error"), None);
        let later = now + HOUR + Span::s(60);
        assert!(shelf(now).save(&history(), later).expect("saved").is_some());
    }

    #[test]
    fn no_recording_takes_the_name_of_another() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["violation-5.wn", "violation-7.wn"] {
            fs::write(folder.path().join(name), name).expect("a file");
        }
        let first = Half::make(folder.path(), 5).expect("a file");
        // Another one within the same millisecond, of this watch or of another.
        let second = Half::make(folder.path(), 5).expect("a file");
        for (half, name) in [(&first, "violation-6.wn"), (&second, "violation-8.wn")] {
            half.fill(&history()).expect("written");
            assert_eq!(half.whole, folder.path().join(name));
        }
        let expected = ["violation-5.wn", "violation-6.wn", "violation-7.wn", "violation-8.wn"];
        assert_eq!(names(folder.path()), expected);
        assert_eq!(fs::read(folder.path().join("violation-7.wn")).expect("it"), b"violation-7.wn");
    }

    #[test]
    fn what_another_watch_is_writing_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let limits = Limits { an_hour: 1, bytes: u64::MAX };
        let other = Half::make(folder.path(), 5).expect("a file");
        Shelf::new(folder.path(), limits, Time(1)).expect("a shelf");
        other.fill(&history()).expect("written");
        assert_eq!(names(folder.path()), ["violation-5.wn"]);
    }

    #[test]
    fn the_oldest_of_ours_make_room_and_nobody_elses() {
        let folder = tempfile::tempdir().expect("a folder");
        let put = |name: &str| fs::write(folder.path().join(name), [0; 10]).expect("a file");
        for name in ["violation-9.wn", "violation-100.wn", "violation-20.wn", "violation-x.wn"] {
            put(name);
        }
        put("violation-3.wn.part");
        let limits = Limits { an_hour: 1, bytes: 20 };
        let shelf = Shelf::new(folder.path(), limits, Time(1)).expect("a shelf");
        assert_eq!(shelf.tidy().expect("tidied"), (1, 20));
        assert_eq!(names(folder.path()), ["violation-100.wn", "violation-20.wn", "violation-x.wn"]);
    }
}
