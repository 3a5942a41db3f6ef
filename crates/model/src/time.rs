//! Time in integer nanoseconds: instants, lengths, and half-open windows of them.

use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub};

/// An instant: nanoseconds since the origin of the History's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

/// A length of time in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(pub u64);

impl Time {
    /// Later than every event of any History.
    pub const MAX: Time = Time(u64::MAX);

    /// The length from `earlier` to `self`; zero when `earlier` is the later one.
    pub fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Sub for Time {
    type Output = Span;
    fn sub(self, earlier: Time) -> Span {
        self.since(earlier)
    }
}

impl Add<Span> for Time {
    type Output = Time;
    fn add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}

impl Mul<u64> for Span {
    type Output = Span;
    fn mul(self, times: u64) -> Span {
        Span(self.0.saturating_mul(times))
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Span) {
        *self = *self + other;
    }
}

impl Span {
    /// Zero length.
    pub const ZERO: Span = Span(0);
    /// `n` microseconds.
    pub const fn us(n: u64) -> Span {
        Span(n * 1_000)
    }
    /// `n` milliseconds.
    pub const fn ms(n: u64) -> Span {
        Span(n * 1_000_000)
    }
    /// `n` seconds.
    pub const fn s(n: u64) -> Span {
        Span(n * 1_000_000_000)
    }
    /// As seconds, for display and division only.
    pub fn as_secs(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Reads `"5ms"`, `"1.5s"`, `"20us"`, `"300ns"`, `"2m"`: a unit is required.
    pub fn parse(text: &str) -> Option<Span> {
        let split = text.find(|c: char| c.is_ascii_alphabetic() || c == 'µ')?;
        let (number, unit) = text.split_at(split);
        let scale = match unit {
            "ns" => 1u64,
            "us" | "µs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" | "min" => 60_000_000_000,
            _ => return None,
        };
        decimal(number.trim(), scale).map(Span)
    }

    /// The text that [`Span::parse`] reads as this: a whole number of the largest unit that fits.
    pub fn exact(self) -> String {
        let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us"), (1, "ns")];
        let fits = units.into_iter().find(|(scale, _)| self.0 > 0 && self.0.is_multiple_of(*scale));
        let (scale, unit) = fits.unwrap_or((1, "ns"));
        format!("{}{unit}", self.0 / scale)
    }
}

/// Exact decimal times scale: `"1.5"` times 1000 is 1500; digits below one unit are dropped.
fn decimal(number: &str, scale: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() && fraction.is_empty() || !digits(whole) || !digits(fraction) {
        return None;
    }
    let whole = if whole.is_empty() { 0 } else { whole.parse::<u64>().ok()? };
    let mut value = whole.checked_mul(scale)?;
    let mut unit = scale;
    for digit in fraction.bytes() {
        unit /= 10;
        value = value.checked_add(unit * u64::from(digit - b'0'))?;
    }
    Some(value)
}

/// Four significant digits with the fitting unit: `1.234 ms`, `12.34 ms`.
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, unit) = match self.0 {
            0..1_000 => return f.pad(&format!("{} ns", self.0)),
            1_000..1_000_000 => (self.0 as f64 / 1e3, "us"),
            1_000_000..1_000_000_000 => (self.0 as f64 / 1e6, "ms"),
            _ => (self.0 as f64 / 1e9, "s"),
        };
        let decimals = if value < 10.0 {
            3
        } else if value < 100.0 {
            2
        } else {
            1
        };
        f.pad(&format!("{value:.decimals$} {unit}"))
    }
}

/// Seconds with nine decimals, as the kernel's tools print them.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}.{:09}", self.0 / 1_000_000_000, self.0 % 1_000_000_000))
    }
}

/// The half-open interval `[from, to)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// First instant inside.
    pub from: Time,
    /// First instant after.
    pub to: Time,
}

impl Window {
    /// Every instant.
    pub const ALL: Window = Window { from: Time(0), to: Time::MAX };

    /// The part of `[from, to)` inside the window, if any of it is.
    pub fn clip(self, from: Time, to: Time) -> Option<(Time, Time)> {
        let (from, to) = (from.max(self.from), to.min(self.to));
        (from < to).then_some((from, to))
    }
    /// Whether `time` lies inside.
    pub fn holds(self, time: Time) -> bool {
        self.from <= time && time < self.to
    }
    /// Its length.
    pub fn span(self) -> Span {
        self.to - self.from
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_parse_exactly_and_need_a_unit() {
        assert_eq!(Span::parse("1.5ms"), Some(Span(1_500_000)));
        assert_eq!(Span::parse("3.0755s"), Some(Span(3_075_500_000)));
        assert_eq!(Span::parse("20us"), Some(Span::us(20)));
        assert_eq!(Span::parse(".5s"), Some(Span::ms(500)));
        for bad in ["5", "ms", "", ".", "-1ms", "1e3ms", "1.x s", "99999999999999999999s"] {
            assert_eq!(Span::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn windows_are_half_open() {
        let window = Window { from: Time(10), to: Time(20) };
        assert_eq!(window.clip(Time(0), Time(10)), None);
        assert_eq!(window.clip(Time(0), Time(11)), Some((Time(10), Time(11))));
        assert!(window.holds(Time(10)) && !window.holds(Time(20)));
    }
}
