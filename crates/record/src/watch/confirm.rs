//! From a suspicion to a verdict: events are recorded for the confirmation time, then State knows
//! what a look cannot see.

use std::time::Duration;

use wastenot_check::Check;
use wastenot_model::{Builder, CpuId, History, Span, Time};

use super::violation::Violation;
use super::{Found, Options};
use crate::recording::{Anew, load};
use crate::{Error, Way, clock};

/// Records when it is asked to. The programs are loaded all the time, and attached to nothing
/// meanwhile: to load them takes more CPU time than to confirm a suspicion.
pub(super) struct Confirm {
    recording: Box<dyn Anew>,
    options: Options,
}

/// What came of looking into a suspicion.
#[derive(Debug)]
pub(super) struct Verdict {
    /// Events that found no room.
    pub(super) lost: u64,
    /// The violation, if it is one.
    pub(super) found: Option<Found>,
}

impl Confirm {
    pub(super) fn load(options: &Options) -> Result<Confirm, Error> {
        let how = crate::Options { ring_bytes: options.ring_bytes, way: Way::Bpf };
        Ok(Confirm { recording: load(&how)?, options: *options })
    }

    /// Records for as long as the rules ask and tells whether there is a violation. It goes on
    /// `since` then, where that is known.
    pub(super) fn look_into(&mut self, since: Option<Time>) -> Result<Verdict, Error> {
        let (history, lost) = self.record()?;
        Ok(Verdict { lost, found: judge(since, history, &self.options) })
    }

    fn record(&mut self) -> Result<(History, u64), Error> {
        let mut tape = Builder::new(self.recording.begin()?);
        let end = clock::now() + length(&self.options);
        loop {
            let left = end.since(clock::now());
            if left == Span::ZERO {
                break;
            }
            self.recording.wait(Duration::from_nanos(left.0));
            self.recording.drain(&mut tape);
        }
        let summary = self.recording.finish(&mut tape);
        Ok((tape.finish(), summary.lost))
    }
}

/// The rules look first after a period of theirs, and what ends on the last event is open still.
fn length(options: &Options) -> Span {
    let rules = options.rules();
    Span(rules.confirm.0 + 2 * rules.period.0)
}

/// What the rules say of what was recorded.
fn judge(since: Option<Time>, history: History, options: &Options) -> Option<Found> {
    let asked = wastenot_check::Options { sanity: options.rules(), ..Default::default() };
    let check = wastenot_check::check(&history, &asked);
    let &report = check.sanity.reports.first()?;
    let since = since.unwrap_or(report.0);
    let violation = describe(since, report, &history, &check, history.window().to)?;
    Some(Found { violation, history })
}

/// The rules name when and which CPU idled; who waited longest beside it is the one to begin with.
pub(super) fn describe(
    since: Time,
    (seen, idle): (Time, CpuId),
    history: &History,
    check: &Check,
    until: Time,
) -> Option<Violation> {
    let wait = check
        .violations
        .worst
        .iter()
        .find(|it| it.window.to > seen && it.idle.iter().any(|other| other.cpu == idle))?;
    Some(Violation::new(since, history, check, wait, until))
}
