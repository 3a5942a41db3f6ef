//! The values of expressions: numbers, or what is known of numbers.

use std::fmt::Debug;

use crate::ir::{Aggregate, Comparison};

/// A kind of values, and the operations of the language on them.
pub trait Domain {
    /// The value of a number.
    type Num: Clone + Debug;
    /// The value of a condition.
    type Bool: Clone + Debug;

    /// A number that is known.
    fn number(value: i64) -> Self::Num;
    /// A condition that is known.
    fn truth(value: bool) -> Self::Bool;
    /// Sum; saturates.
    fn add(a: Self::Num, b: Self::Num) -> Self::Num;
    /// Difference; saturates.
    fn sub(a: Self::Num, b: Self::Num) -> Self::Num;
    /// The smaller of two numbers.
    fn min(a: Self::Num, b: Self::Num) -> Self::Num;
    /// The larger of two numbers.
    fn max(a: Self::Num, b: Self::Num) -> Self::Num;
    /// Times a constant; saturates.
    fn times(a: Self::Num, by: i64) -> Self::Num;
    /// Divided by a constant above zero, rounded down.
    fn over(a: Self::Num, by: i64) -> Self::Num;
    /// [`scaled`].
    fn scaled(time: Self::Num, weight: Self::Num) -> Self::Num;
    /// [`decayed`].
    fn decayed(a: Self::Num, time: Self::Num, half: Self::Num) -> Self::Num;
    /// [`until`].
    fn until(now: Self::Num, period: Self::Num) -> Self::Num;
    /// 1 if the condition holds, else 0.
    fn one_if(condition: Self::Bool) -> Self::Num;
    /// Two numbers compared.
    fn compare(a: Self::Num, how: Comparison, b: Self::Num) -> Self::Bool;
    /// Negation.
    fn not(a: Self::Bool) -> Self::Bool;
    /// Whether every condition holds, or at least one. `each` evaluates them, one by one.
    fn joined(every: bool, each: impl Iterator<Item = Self::Bool>) -> Self::Bool;
}

/// Numbers that are known.
#[derive(Clone, Copy, Debug)]
pub struct Exact;

impl Domain for Exact {
    type Num = i64;
    type Bool = bool;

    fn number(value: i64) -> i64 {
        value
    }
    fn truth(value: bool) -> bool {
        value
    }
    fn add(a: i64, b: i64) -> i64 {
        a.saturating_add(b)
    }
    fn sub(a: i64, b: i64) -> i64 {
        a.saturating_sub(b)
    }
    fn min(a: i64, b: i64) -> i64 {
        a.min(b)
    }
    fn max(a: i64, b: i64) -> i64 {
        a.max(b)
    }
    fn times(a: i64, by: i64) -> i64 {
        a.saturating_mul(by)
    }
    fn over(a: i64, by: i64) -> i64 {
        a.div_euclid(by)
    }
    fn scaled(time: i64, weight: i64) -> i64 {
        scaled(time, weight)
    }
    fn decayed(a: i64, time: i64, half: i64) -> i64 {
        decayed(a, time, half)
    }
    fn until(now: i64, period: i64) -> i64 {
        until(now, period)
    }
    fn one_if(condition: bool) -> i64 {
        i64::from(condition)
    }
    fn compare(a: i64, how: Comparison, b: i64) -> bool {
        how.holds(a, b)
    }
    fn not(a: bool) -> bool {
        !a
    }
    fn joined(every: bool, mut each: impl Iterator<Item = bool>) -> bool {
        each.all(|it| it == every) == every
    }
}

impl Aggregate {
    /// The aggregate of these values; 0 if there are none.
    pub fn of<D: Domain>(self, values: impl Iterator<Item = D::Num>) -> D::Num {
        let mut count = 0;
        let value = values.inspect(|_| count += 1).reduce(|a, b| match self {
            Aggregate::Sum | Aggregate::Mean => D::add(a, b),
            Aggregate::Min => D::min(a, b),
            Aggregate::Max => D::max(a, b),
        });
        let value = value.unwrap_or_else(|| D::number(0));
        if self == Aggregate::Mean { D::over(value, count.max(1)) } else { value }
    }
}

impl Comparison {
    /// Whether the comparison holds for two numbers.
    pub fn holds(self, a: i64, b: i64) -> bool {
        match self {
            Comparison::Less => a < b,
            Comparison::LessOrEqual => a <= b,
            Comparison::Equal => a == b,
            Comparison::NotEqual => a != b,
        }
    }
}

/// A time as virtual time: `ceil(time * 100 / weight)`. Rounded up, so that every task that ran
/// pays.
pub fn scaled(time: i64, weight: i64) -> i64 {
    let (time, weight) = (i128::from(time) * 100, i128::from(weight.max(1)));
    let up = time.div_euclid(weight) + i128::from(time.rem_euclid(weight) != 0);
    up.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
}

/// What is left of `value` after `time`, if it halves in each `half`; linear between halvings, and
/// rounded down, so that integer arithmetic is enough.
pub fn decayed(value: i64, time: i64, half: i64) -> i64 {
    let (time, half) = (time.max(0), half.max(1));
    let halvings = time / half;
    if halvings > 62 {
        return 0;
    }
    let left = value.max(0) >> halvings;
    let part = i128::from(left) * i128::from(time % half) / (2 * i128::from(half));
    left - part as i64
}

/// The time from `now` to the next multiple of a period; never 0.
pub fn until(now: i64, period: i64) -> i64 {
    let period = period.max(1);
    period - now.rem_euclid(period)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn virtual_time_is_rounded_up() {
        assert_eq!(scaled(1_000, 100), 1_000);
        assert_eq!(scaled(1, 10_000), 1);
        assert_eq!(scaled(0, 1), 0);
        assert_eq!(scaled(i64::MAX, 1), i64::MAX);
    }

    #[test]
    fn what_decays_halves_in_each_half() {
        assert_eq!(decayed(1_000, 0, 10), 1_000);
        assert_eq!(decayed(1_000, 10, 10), 500);
        assert_eq!(decayed(1_000, 5, 10), 750);
        assert_eq!(decayed(1_000, 700, 10), 0);
        let steps: Vec<i64> = (0..100).map(|time| decayed(12_345, time, 7)).collect();
        assert!(steps.is_sorted_by(|a, b| a >= b));
    }

    #[test]
    fn the_next_multiple_is_ahead() {
        assert_eq!((until(0, 10), until(9, 10), until(10, 10)), (10, 1, 10));
    }
}
