//! Lengths of time, sizes and rates as people type them: the one parser of each.

use crate::Span;

/// `500us`, `4ms`, `1.5s`, `5min`; a bare number is seconds, as it is with sleep and timeout.
pub fn span(text: &str) -> Result<Span, &'static str> {
    let is_bare = text.ends_with(|last: char| last.is_ascii_digit());
    let span = if is_bare { Span::parse(&format!("{text}s")) } else { Span::parse(text) };
    span.ok_or("expected a duration: 500us, 4ms, 1.5s, or seconds: 10")
}

/// The same, but not none at all.
pub fn some_span(text: &str) -> Result<Span, &'static str> {
    match span(text)? {
        Span(0) => Err("expected a duration above 0"),
        some => Ok(some),
    }
}

/// Bytes: `65536`, `500MB`, `4MiB`. `MB` counts by 1000 and `MiB` by 1024 (IEC 80000-13); a bare
/// `M` is a `MiB`, as with perf, dd and head.
pub fn size(text: &str) -> Result<u64, &'static str> {
    const FORMS: &str = "expected a size: 65536, 512KiB, 4MiB, 500MB, 1GB";
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == ' ');
    let scale: u64 = match text[digits.len()..].trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        _ => return Err(FORMS),
    };
    let number: u64 = digits.parse().map_err(|_| FORMS)?;
    number.checked_mul(scale).filter(|bytes| *bytes > 0).ok_or(FORMS)
}

/// `2.4GHz`, `2400MHz`, `2400000000`; at least one cycle a second.
pub fn hertz(text: &str) -> Result<u64, &'static str> {
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
    use super::{hertz, size, span};
    use crate::Span;

    #[test]
    fn a_length_without_a_unit_is_seconds() {
        for text in ["10", "10s", "10000ms", "10.0"] {
            assert_eq!(span(text), Ok(Span::s(10)), "{text}");
        }
        assert_eq!((span("3.2"), span("5m")), (Ok(Span::ms(3200)), Ok(Span::s(300))));
        for bad in ["", "s", "ten", "-1", "1e3", "3 parsecs"] {
            assert!(span(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_size_says_by_what_it_counts() {
        for text in ["4194304", "4194304B", "4096k", "4096 KiB", "4MiB", "4m", "4M"] {
            assert_eq!(size(text), Ok(4 << 20), "{text}");
        }
        for text in ["500MB", "500 mb", "500000kB", "500000000"] {
            assert_eq!(size(text), Ok(500_000_000), "{text}");
        }
        assert_eq!((size("1GB"), size("1GiB")), (Ok(1_000_000_000), Ok(1 << 30)));
        let too_much = ["99999999999999999999", "99999999999GiB"];
        let bad = ["", "0", "0MB", "MiB", "GB", "4.5MiB", "4TiB", "1XB", "-1", "-1GB", "4µB"];
        for bad in bad.into_iter().chain(too_much) {
            assert!(size(bad).is_err(), "{bad}");
        }
    }

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
