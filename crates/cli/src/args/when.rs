//! Instants and windows on the command line: the only parser for `--from` and `--to`.

use std::str::FromStr;

use clap::Args;
use wastenot_model::{History, Span, Time, Window, quantity};

use crate::fail::Stop;

/// An instant of a trace that is not read yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// `3`, `3s`, `200ms`: this long after the trace begins.
    AfterStart(Span),
    /// `-50ms`: this long before the trace ends.
    BeforeEnd(Span),
    /// `@5123.0045`: a timestamp of the trace's own clock in seconds, as every table prints it.
    At(Time),
}

impl FromStr for When {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<When, &'static str> {
        const FORMS: &str = "expected 3.2 or 200ms (after the start), -50ms (before the end) \
            or @5123.0045 (a timestamp as printed)";
        let span = |text: &str| quantity::span(text).map_err(|_| FORMS);
        if let Some(stamp) = text.strip_prefix('@') {
            let is_bare = stamp.ends_with(|last: char| last.is_ascii_digit());
            return span(stamp)
                .ok()
                .filter(|_| is_bare)
                .map(|it| When::At(Time(it.0)))
                .ok_or(FORMS);
        }
        match text.strip_prefix('-') {
            Some(before) => span(before).map(When::BeforeEnd),
            None => span(text).map(When::AfterStart),
        }
    }
}

impl When {
    /// The instant, in a trace of this window.
    pub(crate) fn in_trace(self, trace: Window) -> Time {
        match self {
            When::AfterStart(span) => trace.from + span,
            When::BeforeEnd(span) => Time(trace.to.0.saturating_sub(span.0)),
            When::At(time) => time,
        }
    }
}

/// The part of a trace that counts.
#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "Selection")]
pub(crate) struct WindowArgs {
    /// Start of the time window: 3.2 (seconds) or 200ms after the start of the trace, -50ms before
    /// its end, or a timestamp as printed (@5123.0045)
    #[arg(long, value_name = "TIME", alias = "min", allow_hyphen_values = true)]
    pub(crate) from: Option<When>,
    /// End of the time window, in the same forms as --from
    #[arg(long, value_name = "TIME", alias = "max", allow_hyphen_values = true)]
    pub(crate) to: Option<When>,
}

impl WindowArgs {
    /// Whether the user selected a part of the trace.
    pub(crate) fn is_asked(self) -> bool {
        self.from.is_some() || self.to.is_some()
    }

    /// The window in `history`. Fails if no part of the trace lies in the window.
    pub(crate) fn of(self, history: &History) -> Result<Window, Stop> {
        let is_length = |when: &When| !matches!(when, When::At(_));
        if !history.head.clock.nanoseconds && self.from.iter().chain(&self.to).any(is_length) {
            return Err(cycles(history, "--from and --to are lengths of time"));
        }
        let trace = history.window();
        let from = self.from.map_or(trace.from, |when| when.in_trace(trace));
        let to = self.to.map_or(trace.to, |when| when.in_trace(trace));
        match trace.clip(from, to) {
            Some((from, to)) => Ok(Window { from, to }),
            None if !self.is_asked() => Ok(trace),
            None if from > to && self.from.is_some() && self.to.is_some() => Err(Stop::new(
                format_args!("--from @{from} is after --to @{to}"),
                "exchange the two times",
            )),
            None => Err(Stop::new(
                format_args!("no part of the trace is between --from @{from} and --to @{to}"),
                format_args!(
                    "choose a time between @{} and @{} ({}); a number without a unit is in seconds",
                    trace.from,
                    trace.to,
                    trace.span()
                ),
            )),
        }
    }
}

/// The error if the user gives a length of time, but the rate of the trace clock is unknown.
pub(crate) fn cycles(history: &History, what: &str) -> Stop {
    let clock = &history.head.clock.name;
    Stop::new(
        format_args!("{what}, but the trace clock ({clock}) counts cycles of an unknown rate"),
        "set the rate of the clock: `--clock-hz 2.4GHz`",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_names_its_instant() {
        let trace = Window { from: Time(5_000_000_000), to: Time(9_000_000_000) };
        for (text, ns) in [
            ("3", 8_000_000_000),
            ("3.0755", 8_075_500_000),
            ("200ms", 5_200_000_000),
            ("-50ms", 8_950_000_000),
            ("-1", 8_000_000_000),
            ("5m", 305_000_000_000),
            ("@7.5", 7_500_000_000),
        ] {
            assert_eq!(text.parse::<When>().expect(text).in_trace(trace), Time(ns), "{text}");
        }
        for bad in ["", "x", "@", "@5ms", "3 parsecs", "--1"] {
            assert!(bad.parse::<When>().is_err(), "{bad}");
        }
    }
}
