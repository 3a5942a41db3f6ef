//! Watches a live kernel for CPUs that idle while tasks wait.
//!
//! Two stages. A timer in the kernel looks at every run queue each few milliseconds ([`Figures`]);
//! no event of the scheduler is hooked. What several looks in a row find is a *suspicion*: the
//! tasks may be pinned or throttled, which a look cannot see. Then events are recorded for the
//! confirmation time, and the same [`sanity`](wastenot_check::sanity) rules that `check` applies
//! to files decide.

mod confirm;
mod looks;
mod violation;

use std::os::fd::BorrowedFd;

use wastenot_check::sanity::Rules;
use wastenot_model::{History, Span};

use self::looks::{Looks, Rhythm, Telling};
pub use self::looks::{Figures, Run};
pub use self::violation::Violation;
use crate::{Error, clock};

/// How to watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Between two looks.
    pub look: Span,
    /// The rules of the sanity checker: what is confirmed, and how often.
    pub rules: Rules,
    /// Bytes of each CPU's ring while events are recorded.
    pub ring_bytes: u32,
}

impl Default for Options {
    fn default() -> Options {
        Options { look: Span::ms(10), rules: Rules::default(), ring_bytes: 1 << 20 }
    }
}

/// What was confirmed, and the recording that shows it.
#[derive(Debug)]
pub struct Found {
    /// The violation.
    pub violation: Violation,
    /// What happened while it was confirmed.
    pub history: History,
}

/// What came of waiting.
#[derive(Debug)]
pub enum Turn {
    /// A violation was confirmed.
    Found(Box<Found>),
    /// What was suspected ended, or is no violation.
    Cleared,
    /// A confirmed violation ended; it had lasted this long.
    Ended(Run),
    /// The interrupt came.
    Interrupted,
}

/// The watch.
pub struct Watch {
    options: Options,
    looks: Looks,
}

impl Watch {
    /// Begins to watch.
    pub fn begin(options: &Options) -> Result<Watch, Error> {
        let rhythm = Rhythm {
            look: options.look,
            period: options.rules.period,
            idle_looks: 2,
            tell_looks: 3,
            blind: false,
        };
        Ok(Watch { options: *options, looks: Looks::begin(&rhythm)? })
    }

    /// Waits for the next thing to happen, or until `interrupt` can be read.
    pub fn turn(&mut self, interrupt: BorrowedFd<'_>) -> Result<Turn, Error> {
        let run = match self.looks.wait(interrupt)? {
            None => return Ok(Turn::Interrupted),
            Some(Telling::Ended(run)) => return Ok(Turn::Ended(run)),
            Some(Telling::Suspicion(run)) => run,
        };
        let confirmed = confirm::confirm(&run, &self.options)?;
        self.looks.be_quiet_until(clock::now() + self.options.rules.period)?;
        Ok(match confirmed {
            Some(found) => {
                self.looks.follow(&run)?;
                Turn::Found(Box::new(found))
            }
            None => Turn::Cleared,
        })
    }
}
