//! A trace to read: the same words in every verb.

use std::path::PathBuf;

use clap::Args;
use wastenot_model::Span;

/// What the help says of FILE.
pub(crate) const FILE: &str =
    "Trace in any supported format, detected from its content; `-` is standard input";

/// What a file does not tell, or what of it is meant.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Input")]
pub(crate) struct Reading {
    /// Machine that recorded the trace: a preset, an hwloc description, or a file (hwloc XML,
    /// `lscpu -p`, /sys)
    #[arg(long, value_name = "MACHINE")]
    pub(crate) machine: Option<String>,
    /// Buffer of a trace.dat with several buffers
    #[arg(long, value_name = "NAME")]
    pub(crate) buffer: Option<String>,
    /// Read event formats that a truncated perf.data lacks from another recording of the same
    /// kernel, perf.data or trace.dat
    #[arg(long, value_name = "FILE")]
    pub(crate) formats_from: Option<PathBuf>,
    /// Cycles per second, if the trace clock counts cycles: 2.4GHz, 2400MHz, 2400000000
    #[arg(long, value_name = "HZ", value_parser = hertz)]
    pub(crate) clock_hz: Option<u64>,
}

/// `2.4GHz`, `2400MHz`, `2400000000`; at least one cycle a second.
fn hertz(text: &str) -> Result<u64, &'static str> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == ' ');
    // A length of time is parsed exactly and in the same steps of 1000: a GHz is to a Hz what a
    // second is to a nanosecond.
    let step = match text[digits.len()..].trim().to_ascii_lowercase().as_str() {
        "ghz" => "s",
        "mhz" => "ms",
        "khz" => "us",
        "hz" | "" if !digits.contains('.') => "ns",
        _ => "",
    };
    let cycles = Span::parse(&format!("{digits}{step}")).filter(|cycles| *cycles > Span::ZERO);
    cycles.map(|cycles| cycles.0).ok_or("expected cycles per second: 2.4GHz, 2400MHz, 2400000000")
}

#[cfg(test)]
mod tests {
    use super::hertz;

    #[test]
    fn a_rate_is_exact_in_every_unit() {
        for text in ["2400000000", "2400000000Hz", "2400000 kHz", "2400MHz", "2.4GHz", "2.4 ghz"] {
            assert_eq!(hertz(text), Ok(2_400_000_000), "{text}");
        }
        assert_eq!(hertz("2.599999999GHz"), Ok(2_599_999_999));
        for bad in ["", "0", "0.0GHz", "GHz", "fast", "2.4", "-1GHz", "2.4THz", "3s", "1e9", "2 4"]
        {
            assert!(hertz(bad).is_err(), "{bad}");
        }
    }
}
