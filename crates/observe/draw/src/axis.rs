//! Readable ticks of axes: steps of 1, 2 or 5, in a suitable unit.

use wastenot_model::{History, Time, Window, printable};

/// The clock of what happens step by step, each as long as the others.
pub(crate) const STEPS: &str = "steps";

/// The ticks of a time axis.
pub(crate) struct TimeAxis {
    /// Instants and labels.
    pub(crate) ticks: Vec<(Time, String)>,
    /// What the labels count.
    pub(crate) unit: String,
}

impl TimeAxis {
    /// About `count` ticks over `window`, counted from the start of the recording.
    pub(crate) fn new(history: &History, window: Window, count: u64) -> TimeAxis {
        let start = history.window().from;
        let step = nice(window.span().0 / count.max(1));
        let is_story = history.head.clock.name == STEPS;
        let step = if is_story { step.max(1_000) } else { step };
        // The smallest unit that a step is a tenth of: decimals then tell ticks apart.
        let (scale, name) = match (history.head.clock.nanoseconds, step) {
            (false, _) => (1, "clock units"),
            (_, 0..100) => (1, "ns"),
            (_, 100..100_000) => (1_000, "us"),
            (_, 100_000..100_000_000) => (1_000_000, "ms"),
            _ => (1_000_000_000, "s"),
        };
        let decimals = usize::from(step < scale);
        let first = (window.from - start).0.div_ceil(step);
        let last = (window.to - start).0 / step;
        let tick = |n: u64| {
            let at = n * step;
            (Time(start.0 + at), format!("{:.decimals$}", at as f64 / scale as f64))
        };
        let clock = match history.head.clock.name.as_str() {
            "" => String::new(),
            name => format!(", clock {}", printable(name)),
        };
        let begun =
            if history.head.clock.nanoseconds { format!("{start} s") } else { start.0.to_string() };
        if is_story {
            let unit = "one step per microsecond".to_owned();
            return TimeAxis { ticks: (first..=last).map(tick).collect(), unit };
        }
        let unit = format!("time since the start of the trace, {name} (began at {begun}{clock})");
        TimeAxis { ticks: (first..=last).map(tick).collect(), unit }
    }
}

/// The least of 1, 2, 5 times a power of ten that is not below `value`.
pub(crate) fn nice(value: u64) -> u64 {
    let mut power = 1u64;
    loop {
        for step in [1, 2, 5] {
            if power.saturating_mul(step) >= value {
                return power.saturating_mul(step);
            }
        }
        power = power.saturating_mul(10);
    }
}

/// Seconds as the option was typed: without zeros at the end.
pub(crate) fn seconds(ns: u64) -> String {
    let text = format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_one_two_or_five() {
        assert_eq!([0, 1, 3, 11, 200, 201].map(nice), [1, 1, 5, 20, 200, 500]);
        assert_eq!(nice(u64::MAX), u64::MAX);
    }

    #[test]
    fn seconds_are_written_as_they_are_typed() {
        assert_eq!(seconds(3_075_500_000), "3.0755");
        assert_eq!(seconds(3_000_000_000), "3");
    }
}
