//! Periods: the time between two releases of a task.
//!
//! Emberson, Stafford, Davis, "Techniques for the synthesis of multiprocessor tasksets" (WATERS
//! 2010): periods are drawn up to one step beyond the longest and rounded down to whole steps, so
//! that the longest is as frequent as its neighbours.

use std::fmt;
use std::str::FromStr;

use wastenot_model::shortened;
use wastenot_model::workload::Random;

use super::words::{Names, amount, name_of, named, range, wrong};
use crate::Error;

/// The distribution of a task's period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Periods {
    /// How periods are spread between the ends.
    pub spread: Spread,
    /// The shortest, in us; a multiple of the step.
    pub from_us: u64,
    /// The longest, in us; a multiple of the step.
    pub to_us: u64,
    /// All are multiples of this, in us.
    pub step_us: u64,
}

/// How periods are spread between the shortest and the longest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Spread {
    /// See [`SPREADS`].
    Uniform,
    /// See [`SPREADS`].
    LogUniform,
}

/// Every spread with its name and meaning.
pub const SPREADS: &Names<Spread> = &[
    (Spread::Uniform, "uniform", "all periods are equally likely"),
    (
        Spread::LogUniform,
        "log-uniform",
        "the logarithm of the period is uniform: a period from 10 to 100 ms is about as likely as \
         a period from 100 to 1000 ms",
    ),
];

/// Units with their length in us.
const UNITS: &[(&str, u64)] = &[("s", 1_000_000), ("ms", 1_000), ("us", 1)];
/// The longest period: a day.
const LONGEST_US: u64 = 24 * 3_600_000_000;
const HELP: &str = "write `log-uniform 10-100 ms`, or `uniform 10-100 ms by 5 ms`";

impl Periods {
    pub(super) fn check(&self) -> Result<(), Error> {
        let Periods { from_us, to_us, step_us, .. } = *self;
        if from_us == 0 || step_us == 0 {
            return wrong("a period must be longer than 0", HELP);
        }
        if to_us > LONGEST_US {
            return wrong("a period is longer than a day", "write at most 86400 s");
        }
        if from_us > to_us {
            return wrong(format!("the range from {from_us} to {to_us} us is empty"), HELP);
        }
        if from_us % step_us != 0 || to_us % step_us != 0 {
            let what = format!("{from_us} and {to_us} us are not both multiples of {step_us} us");
            return wrong(what, "make both ends multiples of the step");
        }
        Ok(())
    }

    /// The next period, in us.
    pub(super) fn draw(&self, random: &mut Random) -> u64 {
        let Periods { spread, from_us, to_us, step_us } = *self;
        match spread {
            Spread::Uniform => from_us + step_us * random.below((to_us - from_us) / step_us + 1),
            Spread::LogUniform => {
                let ratio = (to_us + step_us) as f64 / from_us as f64;
                let drawn_us = from_us as f64 * libm::exp(random.unit() * libm::log(ratio));
                (drawn_us as u64 / step_us * step_us).clamp(from_us, to_us)
            }
        }
    }
}

impl FromStr for Periods {
    type Err = Error;
    /// The step is one unit if none is written.
    fn from_str(text: &str) -> Result<Periods, Error> {
        let (spread, rest) = text.trim().split_once(char::is_whitespace).unwrap_or((text, ""));
        let spread = named(spread, "spreads of periods", SPREADS)?;
        let (ends, step) = match rest.split_once(" by ") {
            Some((ends, step)) => (ends, Some(step)),
            None => (rest, None),
        };
        let us = |unit| UNITS.iter().find(|(name, _)| *name == unit).map(|(_, us)| *us);
        let read = || {
            let (from, to, unit) = range(ends)?;
            let step_us = match step {
                None => us(unit)?,
                Some(step) => {
                    let (step, unit) = amount(step)?;
                    step.checked_mul(us(unit)?)?
                }
            };
            let (from_us, to_us) = (from.checked_mul(us(unit)?)?, to.checked_mul(us(unit)?)?);
            Some(Periods { spread, from_us, to_us, step_us })
        };
        let Some(periods) = read() else {
            return wrong(
                format!("`{}` is not a valid distribution of periods", shortened(text.trim())),
                HELP,
            );
        };
        periods.check()?;
        Ok(periods)
    }
}

impl fmt::Display for Periods {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = [self.from_us, self.to_us, self.step_us];
        let fits = |us: u64| all.iter().all(|time| time % us == 0);
        let unit = UNITS.iter().find(|(_, us)| fits(*us));
        let &(unit, us) = unit.unwrap_or(&("us", 1));
        let (from, to, step) = (self.from_us / us, self.to_us / us, self.step_us / us);
        write!(f, "{} {from}-{to} {unit}", name_of(&self.spread, SPREADS))?;
        if step != 1 { write!(f, " by {step} {unit}") } else { Ok(()) }
    }
}
