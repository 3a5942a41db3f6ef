//! A boot of a guest: how far it came, and what it sent back.

use std::collections::HashMap;
use std::io::Read as _;

use crate::Error;
use crate::job::{self, Done};
use crate::qemu::{Ended, Guest, Qemu, Way};

/// A boot that is over.
#[derive(Debug)]
pub(crate) struct Boot {
    /// Who ran its instructions.
    pub(crate) way: Way,
    /// Why it ended, if it had more to do.
    pub(crate) why: Error,
    /// How far it came.
    pub(crate) heard: Heard,
    files: HashMap<String, Vec<u8>>,
}

/// What a guest says on its console.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    is_up: bool,
    /// How many cells it began.
    pub(crate) begun: usize,
    /// Whether the scheduler that it loaded last was verified.
    pub(crate) is_verified: bool,
    /// What the kernel verified, in words.
    pub(crate) verified: Vec<String>,
}

impl Heard {
    /// A line of its console; whether a cell is done.
    fn line(&mut self, line: &str) -> bool {
        let says = line.strip_prefix(job::SAYS).map_or("", str::trim);
        match says.split_once(' ').map_or("", |(word, _)| word) {
            "up" => self.is_up = true,
            "begin" => self.begun += 1,
            "loads" => self.is_verified = false,
            "verified" => {
                self.is_verified = true;
                self.verified.push(says.to_owned());
            }
            "done" => return true,
            _ => {}
        }
        false
    }
}

impl Boot {
    /// Boots `guest`, and waits until it ends. `done` is called for each cell.
    ///
    /// # Errors
    /// There is no QEMU, it was interrupted before it was up, or it came to no cell.
    pub(crate) fn of(
        qemu: &Qemu,
        guest: &Guest<'_>,
        is_over: &dyn Fn() -> bool,
        done: &dyn Fn(),
    ) -> Result<Boot, Error> {
        let boot = || {
            let mut heard = Heard::default();
            let mut said = |line: &str| {
                if heard.line(line) {
                    done();
                }
            };
            let ended = qemu.boot(guest, is_over, &mut said)?;
            Ok::<_, Error>((ended, heard))
        };
        let mut booted = boot()?;
        if !booted.1.is_up && !booted.0.0.why.is_interrupted() {
            // A loaded machine can keep a kernel from booting: once more.
            booted = boot()?;
        }
        let ((Ended { disk, why }, way), heard) = booted;
        if heard.begun == 0 {
            return Err(why);
        }
        let unread = |error| Error::Qemu { doing: "read the results", why: format!("{error}") };
        let mut files = HashMap::new();
        let mut archive = tar::Archive::new(disk);
        for entry in archive.entries().map_err(unread)? {
            // Where a guest ended before its time the archive ends within a file.
            let Ok(mut entry) = entry else { break };
            let name = entry.path().map(|it| it.display().to_string()).unwrap_or_default();
            let mut bytes = Vec::new();
            if entry.read_to_end(&mut bytes).is_ok() {
                files.insert(name, bytes);
            }
        }
        Ok(Boot { way, why, heard, files })
    }

    /// What came of cell `n`, and its recording; `None` if nothing came back.
    pub(crate) fn sent(&self, n: usize) -> Option<(Done, &[u8])> {
        let (json, wn) = Done::files(n);
        let done = serde_json::from_slice(self.files.get(&json)?).ok()?;
        Some((done, self.files.get(&wn).map_or(&[], Vec::as_slice)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_console_says_how_far_a_guest_came() {
        let mut heard = Heard::default();
        let lines = [
            "[    0.1] wastenot: up is not said here",
            "wastenot: up 7.2.13 16",
            "wastenot: begin 0",
            "wastenot: loads my.rota",
            "wastenot: verified my.rota: 20 programs, 4000 instructions",
            "wastenot: done 0",
            "wastenot: begin 1",
            "wastenot: loads other.rota",
        ];
        let done = lines.iter().filter(|line| heard.line(line)).count();
        assert_eq!((done, heard.begun), (1, 2));
        assert!(heard.is_up && !heard.is_verified);
        assert_eq!(heard.verified, ["verified my.rota: 20 programs, 4000 instructions"]);
    }
}
