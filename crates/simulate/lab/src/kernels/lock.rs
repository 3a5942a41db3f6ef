//! One process at a time fetches kernels into a folder.

use std::fs::{self, File, OpenOptions};
use std::path::Path;
use std::process::Stdio;

use rustix::fs::{FlockOperation, flock};

use super::Error;

/// The lock of a folder, until it is dropped, or its process and all with which it is shared end.
pub(super) struct Lock(File);

impl Lock {
    /// Makes the folder if there is none, and waits for its lock.
    pub(super) fn take(folder: &Path, progress: &dyn Fn(&str)) -> Result<Lock, Error> {
        fs::create_dir_all(folder).map_err(|error| Error::file(folder, error))?;
        let path = folder.join("lock");
        let failed = |error| Error::file(&path, error);
        let mut open = OpenOptions::new();
        let open = open.read(true).write(true).create(true).truncate(false);
        let file = open.open(&path).map_err(failed)?;
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            progress("waiting for another process that downloads kernels");
            flock(&file, FlockOperation::LockExclusive).map_err(|error| failed(error.into()))?;
        }
        Ok(Lock(file))
    }

    /// An input without content for a program, which holds the lock from then on, too: it goes on
    /// writing for a while if this process is killed.
    pub(super) fn share(&self) -> Stdio {
        self.0.try_clone().map_or_else(|_| Stdio::null(), Stdio::from)
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn is_free(folder: &Path) -> bool {
        let file = File::open(folder.join("lock")).expect("a lock");
        flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok()
    }

    #[test]
    fn a_lock_is_held_until_the_programs_that_share_it_end() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().join("deep");
        let lock = Lock::take(&folder, &|said| panic!("{said}")).expect("a lock");
        assert!(!is_free(&folder));
        let program = Command::new("sleep").arg("100").stdin(lock.share()).spawn();
        drop(lock);
        let mut program = program.expect("a program");
        assert!(!is_free(&folder));
        program.kill().expect("ours");
        program.wait().expect("ours");
        assert!(is_free(&folder));
    }
}
