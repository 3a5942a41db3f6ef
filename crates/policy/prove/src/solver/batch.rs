//! Many scripts asked of one process, one after the other: most are answered sooner than a process
//! starts.

use std::time::Duration;

use super::answer::{self, Reply};
use super::process::{self, Told};
use super::{Seek, Solver};
use crate::Error;
use crate::smt::Script;

/// Stands behind each answer, on a line of its own.
const MARK: &str = "wastenot: that was one";

impl Solver {
    /// The reply to each of these scripts. `timeout` is for all of them together; if it is over
    /// before the last is answered, none is.
    ///
    /// # Errors
    /// Those of [`Solver::ask`].
    pub fn ask_each(
        &self,
        scripts: &[Script],
        seek: Seek,
        timeout: Duration,
    ) -> Result<Vec<Reply>, Error> {
        let one = |script: &Script| {
            let asked = self.asked(&script.to_string(), seek);
            format!("{asked}(echo \"{MARK}\")\n(reset)\n")
        };
        let text: String = scripts.iter().map(one).collect();
        let told = process::run(self.program(), &self.arguments(timeout), &text, timeout)
            .map_err(|error| Error::Start { solver: self.to_string(), error })?;
        if told.timed_out {
            return scripts.iter().map(|_| answer::read(self, seek, &told)).collect();
        }
        let lines: Vec<&str> = told.out.lines().collect();
        // cvc5 repeats the quotation marks.
        let mut parts = lines.split(|line| line.trim_matches('"') == MARK);
        let mut next = || parts.next().map(|lines| lines.join("\n")).unwrap_or_default();
        let each = scripts.iter().map(|_| {
            let complaint = told.complaint.clone();
            answer::read(self, seek, &Told { out: next(), complaint, ..told })
        });
        each.collect()
    }
}
