//! From a suspicion to a verdict: events are recorded for the confirmation time, then State knows
//! what a look cannot see.

use std::time::Duration;

use wastenot_check::Check;
use wastenot_model::{Builder, CpuId, History, Span, Time};

use super::violation::Violation;
use super::{Found, Options, Run};
use crate::{Error, Way, begin, clock};

/// What came of looking into a suspicion.
#[derive(Debug)]
pub(super) struct Verdict {
    /// Events that found no room.
    pub(super) lost: u64,
    /// The violation, if it is one.
    pub(super) found: Option<Found>,
}

/// Records for as long as the rules ask and tells whether `run` is a violation.
pub(super) fn confirm(run: &Run, options: &Options) -> Result<Verdict, Error> {
    let (history, lost) = record(length(options), options.ring_bytes)?;
    Ok(Verdict { lost, found: judge(run, history, options) })
}

/// The rules look first after a period of theirs, and what ends on the last event is open still.
fn length(options: &Options) -> Span {
    let rules = options.rules();
    Span(rules.confirm.0 + 2 * rules.period.0)
}

fn record(length: Span, ring_bytes: u32) -> Result<(History, u64), Error> {
    let begun = begin(&crate::Options { ring_bytes, way: Way::Bpf })?;
    let (mut recording, mut tape) = (begun.recording, Builder::new(begun.head));
    let end = clock::now() + length;
    loop {
        let left = end.since(clock::now());
        if left == Span::ZERO {
            break;
        }
        recording.wait(Duration::from_nanos(left.0));
        recording.drain(&mut tape);
    }
    let summary = recording.finish(&mut tape);
    Ok((tape.finish(), summary.lost))
}

/// What the rules say of what was recorded.
fn judge(run: &Run, history: History, options: &Options) -> Option<Found> {
    let asked = wastenot_check::Options { sanity: options.rules(), ..Default::default() };
    let check = wastenot_check::check(&history, &asked);
    let &report = check.sanity.reports.first()?;
    let violation = describe(run.since, report, &history, &check, history.window().to)?;
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
