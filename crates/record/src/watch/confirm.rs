//! From a suspicion to a verdict: events are recorded for the confirmation time, then State knows
//! what a look cannot see.

use std::time::Duration;

use wastenot_check::sanity::Rules;
use wastenot_model::{Builder, History, Span, Time};

use super::violation::Violation;
use super::{Found, Options, Run};
use crate::{Error, Way, begin, clock};

/// Records for as long as the rules ask and tells whether `run` is a violation.
pub(super) fn confirm(run: &Run, options: &Options) -> Result<Option<Found>, Error> {
    let history = record(options.rules.confirm + margin(options), options.ring_bytes)?;
    Ok(judge(run, history, options))
}

/// Room for the first look, and for the second that a blip may spoil.
fn margin(options: &Options) -> Span {
    Span(options.look.0 * 2)
}

fn record(length: Span, ring_bytes: u32) -> Result<History, Error> {
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
    recording.finish(&mut tape);
    Ok(tape.finish())
}

/// What the rules say of what was recorded.
fn judge(run: &Run, history: History, options: &Options) -> Option<Found> {
    let rules = Rules { period: options.look, ..options.rules };
    let asked = wastenot_check::Options { sanity: rules, ..wastenot_check::Options::default() };
    let check = wastenot_check::check(&history, &asked);
    let &(since, idle) = check.sanity.reports.first()?;
    let until: Time = history.window().to;
    let wait = check.violations.worst.iter().find(|it| {
        it.window.to > since && it.idle.iter().any(|other| other.cpu == idle)
    })?;
    let violation = Violation::new(run, &history, &check, wait, until);
    Some(Found { violation, history })
}
