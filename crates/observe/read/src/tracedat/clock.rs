//! Converts a page's stamps to nanoseconds.

use wastenot_model::Clock;

/// Clocks of ftrace that count nanoseconds (`Documentation/trace/ftrace.rst`, `trace_clock`).
/// The others count cycles (`x86-tsc`, `ppc-tb`, `s390-tod`), events (`counter`) or ticks of
/// `USER_HZ` (`uptime`).
const NANOSECONDS: [&str; 7] = ["local", "global", "perf", "mono", "mono_raw", "boot", "tai"];

/// How stamps are converted to times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stamps {
    pub(super) scale: Scale,
    /// Added to every time (`trace-cmd record --ts-offset`, `--date`).
    pub(super) offset: i64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Scale {
    #[default]
    Same,
    /// `stamp * mult >> shift`, as the kernel converts a TSC.
    Mult { mult: u32, shift: u32 },
    /// Counts per second.
    Hz(u64),
}

impl Stamps {
    pub(super) fn are_times(self) -> bool {
        self == Stamps::default()
    }
    pub(super) fn time(self, stamp: u64) -> u64 {
        let wide = u128::from(stamp);
        let time = match self.scale {
            Scale::Same => stamp,
            Scale::Mult { mult, shift } => ((wide * u128::from(mult)) >> shift.min(127)) as u64,
            Scale::Hz(hz) => (wide * 1_000_000_000 / u128::from(hz.max(1))) as u64,
        };
        time.saturating_add_signed(self.offset)
    }
}

/// The name of the clock in a list such as `local [mono] boot`; the whole text if it is one name
/// without brackets.
pub(super) fn selected(list: &str) -> String {
    let bracketed = list.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    bracketed.map_or_else(|| list.trim().to_owned(), |(name, _)| name.to_owned())
}

/// The clock of a buffer, given the scale that is known for it.
pub(super) fn clock(name: &str, scale: Scale) -> Clock {
    let known = NANOSECONDS.contains(&name) || name.is_empty() || scale != Scale::Same;
    Clock { name: name.to_owned(), nanoseconds: known }
}

/// Whether `name` counts units that need a scale.
pub(super) fn needs_scale(name: &str) -> bool {
    !clock(name, Scale::Same).nanoseconds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_selected_clock_stands_in_brackets() {
        assert_eq!(selected("local global counter [mono] boot\n"), "mono");
        assert_eq!(selected("[local]"), "local");
        assert_eq!(selected("mono"), "mono");
        assert_eq!(selected(""), "");
    }

    #[test]
    fn only_clocks_that_count_nanoseconds_need_no_scale() {
        assert!(["local", "mono_raw", "tai", ""].iter().all(|name| !needs_scale(name)));
        assert!(["x86-tsc", "counter", "uptime", "ppc-tb"].iter().all(|name| needs_scale(name)));
    }

    #[test]
    fn cycles_become_nanoseconds_without_overflow() {
        let ghz3 = Stamps { scale: Scale::Hz(3_000_000_000), offset: 0 };
        assert_eq!(ghz3.time(u64::MAX / 8), 768_614_336_404_564_650);
        let half = Stamps { scale: Scale::Mult { mult: 1 << 31, shift: 32 }, offset: -5 };
        assert_eq!(half.time(1 << 60), (1 << 59) - 5);
        assert_eq!(half.time(4), 0);
    }
}
