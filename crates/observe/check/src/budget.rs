//! Compares wasted CPU time with a stated bound.

use std::str::FromStr;

use wastenot_model::{History, Span, Unit, Value};

use crate::{Check, is_cut};

/// A bound on wasted CPU time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Budget {
    /// A share of the known CPU time.
    Share(f64),
    /// An amount of CPU time.
    CpuTime(Span),
}

impl FromStr for Budget {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Budget, &'static str> {
        const FORMS: &str = "expected a share from 0% to 100%, or CPU time (20ms)";
        match text.strip_suffix('%') {
            Some(number) => {
                let share = percent(number).filter(|share| *share <= 1.0);
                share.map(Budget::Share).ok_or(FORMS)
            }
            None => Span::parse(text).map(Budget::CpuTime).ok_or(FORMS),
        }
    }
}

/// The share that a number before a `%` means.
pub fn percent(number: &str) -> Option<f64> {
    let number: f64 = number.trim().parse().ok()?;
    (number.is_finite() && number >= 0.0).then_some(number / 100.0)
}

/// The result of the comparison, with a reason if the answer is not yes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judged {
    /// Even the upper bound of waste is within the budget.
    Within,
    /// Even the lower bound of waste is above the budget.
    Over(String),
    /// The bounds of waste are on both sides of the budget, or there are no bounds.
    CannotTell(String),
}

impl Budget {
    /// Compares the waste in `history` with the budget.
    pub fn judge(self, check: &Check, history: &History) -> Judged {
        let waste = &check.waste;
        if matches!(self, Budget::CpuTime(_)) && !history.head.clock.nanoseconds {
            return Judged::CannotTell(
                "no verdict: the clock counts cycles, so CPU time is unknown; give the clock rate \
                 with `--clock-hz 2.4GHz`, or give the budget as a share: `--budget 1%`"
                    .to_owned(),
            );
        }
        if waste.known_ns == 0 {
            let text = "no verdict: the activity of every CPU is unknown";
            return Judged::CannotTell(text.to_owned());
        }
        let (low, high, limit, unit) = match self {
            Budget::CpuTime(limit) => {
                (waste.cpu_ns as f64, waste.cpu_ns_max as f64, limit.0 as f64, Unit::Ns)
            }
            // The upper bound takes unknown CPUs for idle ones, so all CPU time is its measure.
            Budget::Share(limit) => {
                let high = waste.cpu_ns_max as f64 / waste.online_ns.max(1) as f64;
                (waste.share(), high, limit, Unit::Share)
            }
        };
        let [low_words, high_words, limit_words] =
            [low, high, limit].map(|value| Value::Num(value).show(unit));
        let of = if unit == Unit::Share { " of the known CPU time" } else { " of CPU time" };
        if high > limit && is_cut(history) {
            Judged::CannotTell(format!(
                "no verdict: about {low_words}{of} was wasted, but this figure is uncertain \
                 because the file is truncated; {limit_words} is allowed"
            ))
        } else if low > limit {
            Judged::Over(format!(
                "over budget: {low_words}{of} was wasted, {limit_words} is allowed"
            ))
        } else if high > limit {
            Judged::CannotTell(format!(
                "no verdict: at least {low_words}{of} was wasted, and at most {high_words}; \
                 {limit_words} is allowed"
            ))
        } else {
            Judged::Within
        }
    }
}
