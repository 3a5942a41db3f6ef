//! The identity of a file: detects that a file was changed or replaced.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::SystemTime;

use sha2::{Digest, Sha256};

use crate::open;

/// The number of samples of a file, and the bytes of each.
const SAMPLES: (u64, usize) = (64, 4096);

/// Length, time of the last change, and a hash of samples of the content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    length: u64,
    changed: SystemTime,
    samples: [u8; 32],
}

impl Known {
    /// `None` if the path is not a regular file, or cannot be read.
    pub(crate) fn of(file: &Path) -> Option<Known> {
        let known = open::regular(file)?;
        Known::read(file, &known).ok()
    }

    fn read(file: &Path, known: &Metadata) -> io::Result<Known> {
        let (length, changed) = (known.len(), known.modified()?);
        let mut file = File::open(file)?;
        let mut hash = Sha256::new();
        let (places, bytes) = SAMPLES;
        let mut sample = vec![0; bytes];
        for place in 0..places {
            // Spread the samples from the first byte to the last one.
            let last = u128::from(length.saturating_sub(bytes as u64));
            let at = (last * u128::from(place) / u128::from(places - 1)) as u64;
            file.seek(SeekFrom::Start(at))?;
            let count = file.read(&mut sample)?;
            hash.update(&sample[..count]);
        }
        Ok(Known { length, changed, samples: hash.finalize().into() })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_is_known_until_it_changes() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a");
        fs::write(&path, vec![7; 100_000]).expect("written");
        let first = Known::of(&path).expect("a file");
        assert_eq!(Known::of(&path).as_ref(), Some(&first));
        let mut other = vec![7; 100_000];
        other[99_999] = 8;
        fs::write(&path, &other).expect("written");
        let file = File::options().append(true).open(&path).expect("a file");
        file.set_modified(first.changed).expect("a time");
        assert_ne!(Known::of(&path).expect("a file"), first, "its content changed");
        assert_eq!(Known::of(folder.path()), None);
        assert_eq!(Known::of(Path::new("-")), None, "standard input");
    }
}
