//! `wastenot watch`

use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use wastenot_model::Span;
use wastenot_model::quantity::{size, some_span};

use super::address::address;

/// Watch for CPUs that stay idle while tasks wait
#[derive(Args, Debug)]
#[command(after_help = "\
A timer in the kernel examines all run queues at regular intervals. Each
examination is called a look. If several consecutive looks find an idle CPU and
waiting tasks, `watch` suspects a violation. It then records events for a short
time to confirm the violation. `watch` prints each confirmed violation as one
line of JSON with the schema wastenot.violation/1 (docs/how-to/watch.md).

Examples:
  sudo wastenot watch --save /var/lib/wastenot --listen 127.0.0.1:9777
  wastenot watch --for 1s
  wastenot watch --for 1s --save violations --keep 100MB
  wastenot watch --for 1s --listen 127.0.0.1:0
  wastenot watch --for 1s --mode consecutive:10 --period 10ms
  wastenot watch --for 1s --exact --also run-time-deficit")]
pub(crate) struct Watch {
    /// Examine the run queues at this interval, 1ms to 10ms
    #[arg(long, value_name = "TIME", value_parser = look, default_value = "10ms")]
    pub(crate) look: Span,
    /// To confirm violations, record events at most once per period of this length, 10ms to 1h
    #[arg(long, value_name = "TIME", value_parser = period, default_value = "1s")]
    pub(crate) period: Span,
    /// Record events for this long to confirm a violation: 1ms to 1s, and less than --period.
    /// Shorter violations are ignored
    #[arg(long, value_name = "TIME", value_parser = confirm, default_value = "100ms")]
    pub(crate) confirm: Span,
    /// Use the rule consecutive:N. It examines the run queues once per --period, and reports a CPU
    /// that is idle in N consecutive examinations while tasks wait
    #[arg(long, value_name = "RULE", conflicts_with_all = ["look", "confirm"])]
    pub(crate) mode: Option<Consecutive>,
    /// Trace all events instead of examining run queues; the overhead is the same as with `record`
    #[arg(long, conflicts_with = "mode")]
    pub(crate) exact: bool,
    /// Keep the events of the last TIME, and save them with each violation
    #[arg(long, value_name = "TIME", value_parser = some_span, default_value = "10s", requires = "exact")]
    pub(crate) last: Span,
    /// Limit the memory for kept events
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "32MiB", requires = "exact")]
    pub(crate) memory: u64,
    /// Also report violations of these kinds
    #[arg(long, value_name = "KIND", value_enum, value_delimiter = ',', requires = "exact")]
    pub(crate) also: Vec<Also>,
    /// Stop after this time
    #[arg(long = "for", value_name = "TIME", value_parser = some_span)]
    pub(crate) time: Option<Span>,
    /// Serve /metrics (OpenMetrics) and /healthz at this address; without ADDR, the server listens
    /// on the loopback interface
    #[arg(long, value_name = "[ADDR:]PORT", value_parser = address)]
    pub(crate) listen: Option<SocketAddr>,
    /// Save a trace of each violation in this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) save: Option<PathBuf>,
    /// Save at most N traces per hour
    #[arg(long, value_name = "N", default_value = "12", requires = "save")]
    pub(crate) at_most: u32,
    /// Limit the total size of saved traces; the oldest traces are deleted first
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "1GB", requires = "save")]
    pub(crate) keep: u64,
}

/// Violations that are reported only with `--also`, because fair schedulers also cause them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Also {
    /// A task waits longer or shorter than other tasks with the same weight
    RunTimeDeficit,
    /// A waiting task migrates to a CPU with the same or a higher load
    UselessMigration,
}

/// The rule `consecutive:N`: this number of consecutive looks find the same CPU idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Consecutive(pub(crate) u32);

impl FromStr for Consecutive {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Consecutive, &'static str> {
        let looks = text.strip_prefix("consecutive:").and_then(|looks| looks.parse().ok());
        looks.filter(|looks| *looks > 1).map(Consecutive).ok_or("expected a rule: consecutive:10")
    }
}

fn look(text: &str) -> Result<Span, &'static str> {
    within(text, Span::ms(1)..=Span::ms(10)).ok_or("expected a time from 1ms to 10ms")
}

fn period(text: &str) -> Result<Span, &'static str> {
    within(text, Span::ms(10)..=Span::s(3600)).ok_or("expected a time from 10ms to 1h")
}

/// The recording is kept in memory, so its length is limited.
fn confirm(text: &str) -> Result<Span, &'static str> {
    within(text, Span::ms(1)..=Span::s(1)).ok_or("expected a time from 1ms to 1s")
}

fn within(text: &str, range: RangeInclusive<Span>) -> Option<Span> {
    Span::parse(text).filter(|span| range.contains(span))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_read_as_people_write_it() {
        assert_eq!("consecutive:10".parse(), Ok(Consecutive(10)));
        for bad in ["10", "consecutive:", "consecutive:0", "consecutive:x"] {
            assert!(bad.parse::<Consecutive>().is_err(), "{bad}");
        }
    }
}
