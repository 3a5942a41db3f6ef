//! Files that are being written: the writer holds a lock on its file (flock(2)), so that other
//! processes can distinguish it from a file whose writer was killed.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};

/// Locks `file`, just created at `path`, until it is closed. Returns whether the file is still
/// there: before it was locked another process may have removed it as left behind.
pub fn hold(file: &File, path: &Path) -> io::Result<bool> {
    flock(file, FlockOperation::LockExclusive)?;
    is_at(file, path)
}

/// The file at `path`, locked, if no process writes it any more. `None` if a process does, or if
/// the file has disappeared meanwhile.
pub fn left(path: &Path) -> io::Result<Option<File>> {
    let file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
        return Ok(None);
    }
    Ok(is_at(&file, path)?.then_some(file))
}

/// Whether `path` names this file, and not another one that replaced it.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let own = file.metadata()?;
    match fs::metadata(path) {
        Ok(there) => Ok((there.dev(), there.ino()) == (own.dev(), own.ino())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_left_once_nobody_holds_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.part");
        assert!(left(&path).expect("no error").is_none());
        let file = File::create_new(&path).expect("a file");
        assert!(hold(&file, &path).expect("held"));
        assert!(left(&path).expect("no error").is_none());
        drop(file);
        assert!(left(&path).expect("no error").is_some());
    }

    #[test]
    fn who_was_too_slow_to_hold_a_file_is_told_that_it_is_gone() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.part");
        let slow = File::create_new(&path).expect("a file");
        let taken = left(&path).expect("no error").expect("not held yet");
        fs::remove_file(&path).expect("removed");
        drop(taken);
        let fast = File::create_new(&path).expect("another file");
        assert!(!hold(&slow, &path).expect("held"));
        assert!(hold(&fast, &path).expect("held"));
    }
}
