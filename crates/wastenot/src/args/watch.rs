//! `wastenot watch`

use clap::Args;
use wastenot_model::Span;

use super::check::span;

/// Watch this machine for CPUs that idle while tasks wait, always on
#[derive(Args, Debug)]
#[command(after_help = "\
A timer in the kernel looks at every run queue. What several looks in a row find is confirmed by
recording events for a moment; one JSON line (wastenot.violation/1) tells of each violation.

Examples:
  wastenot watch")]
pub(crate) struct Watch {
    /// Time between looks, 1ms to 10ms
    #[arg(long, value_name = "TIME", value_parser = span, default_value = "10ms")]
    pub(crate) look: Span,
    /// Confirm at most one suspicion in this time
    #[arg(long, value_name = "TIME", value_parser = span, default_value = "1s")]
    pub(crate) period: Span,
    /// How long events are recorded, and a violation must last, to be confirmed
    #[arg(long, value_name = "TIME", value_parser = span, default_value = "100ms")]
    pub(crate) confirm: Span,
}
