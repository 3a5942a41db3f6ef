//! Exact comparisons of rational numbers, fast where they are not close.
//!
//! A formula is written once, over [`Number`]. It is worked out with intervals of doubles first,
//! rounded outwards, so that what they can tell apart is so; where two intervals overlap it is
//! worked out again with fractions of any length. Equal sums are common (utilisations that add up
//! to the number of CPUs), and a test that rounds gets them wrong.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::{Add, Div, Mul, Sub};

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive};

/// Why a formula gave no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Halt {
    /// These numbers are too close to be told apart.
    Close,
    /// It would take more steps than are left of a [`Budget`].
    Spent,
}

/// How many steps tests may take together: a step is one task looked at once. What is spent does
/// not depend on the machine, so that answers do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget(pub u64);

impl Budget {
    /// As many as a user waits for: some seconds.
    pub const USUAL: Budget = Budget(2_000_000_000);

    /// For whoever has none, since it works out a formula once: a fraction of a second with
    /// doubles, and about a second with fractions.
    pub(crate) fn once() -> Budget {
        Budget(40_000_000)
    }
    /// Lets `work` spend at most so many of the steps that are left.
    pub fn lend<T>(&mut self, most: u64, work: impl FnOnce(&mut Budget) -> T) -> T {
        let given = self.0.min(most);
        let mut own = Budget(given);
        let done = work(&mut own);
        self.0 -= given - own.0;
        done
    }
    pub(crate) fn spend(&mut self, steps: usize) -> Result<(), Halt> {
        self.0 = self.0.checked_sub(steps as u64).ok_or(Halt::Spent)?;
        Ok(())
    }
}

/// Works a formula out with intervals, and exactly only if they are too close.
pub(crate) fn decide<T>(
    budget: &mut Budget,
    quick: impl FnOnce(&mut Budget) -> Result<T, Halt>,
    exact: impl FnOnce(&mut Budget) -> Result<T, Halt>,
) -> Result<T, Halt> {
    match quick(budget) {
        Err(Halt::Close) => {
            let all = budget.0 / LONG_STEP;
            let mut left = Budget(all);
            let answer = exact(&mut left);
            budget.0 -= (all - left.0) * LONG_STEP;
            answer
        }
        answer => answer,
    }
}

/// How many steps with doubles one with fractions counts for.
const LONG_STEP: u64 = 64;

/// A number, as far as it is known.
pub(crate) trait Number:
    Clone + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    /// `num / den`, of which `den` is not 0.
    fn ratio(num: i128, den: i128) -> Self;
    /// Which of the two is greater.
    fn compare(&self, other: &Self) -> Result<Ordering, Halt>;
    /// The greatest whole number that is not greater.
    fn floor(&self) -> Result<i128, Halt>;

    fn whole(num: i128) -> Self {
        Self::ratio(num, 1)
    }
    fn below(&self, other: &Self) -> Result<bool, Halt> {
        Ok(self.compare(other)? == Ordering::Less)
    }
    /// The least whole number that is not less.
    fn ceil(&self) -> Result<i128, Halt> {
        Ok(-(Self::whole(0) - self.clone()).floor()?)
    }
    fn least(self, other: Self) -> Result<Self, Halt> {
        Ok(if self.compare(&other)? == Ordering::Greater { other } else { self })
    }
    fn greatest(self, other: Self) -> Result<Self, Halt> {
        Ok(if self.compare(&other)? == Ordering::Less { other } else { self })
    }
    /// What it takes to add them up, beyond looking at each once, is spent before.
    fn sum(all: impl Iterator<Item = Self>, budget: &mut Budget) -> Result<Self, Halt>;
    /// How many steps an operation with it takes beyond the first.
    fn length(&self) -> usize;
}

/// Quotient and remainder, `num` at least 0 and `den` above it. Almost all fit a machine word,
/// whose division takes a fraction of the time.
pub(crate) fn div_rem(num: i128, den: i128) -> (i128, i128) {
    match (u64::try_from(num), u64::try_from(den)) {
        (Ok(num), Ok(den)) => ((num / den).into(), (num % den).into()),
        _ => (num / den, num % den),
    }
}

/// Whole numbers up to there are doubles, each; and a sum or product below it was not rounded.
const EXACT: f64 = (1_u64 << 53) as f64;

/// Somewhere between two doubles, both included.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interval {
    low: f64,
    high: f64,
}

impl Interval {
    /// One rounding away from what was worked out, on both sides.
    fn around(low: f64, high: f64) -> Interval {
        Interval { low: low.next_down(), high: high.next_up() }
    }
    const ANY: Interval = Interval { low: f64::NEG_INFINITY, high: f64::INFINITY };

    fn of(all: [f64; 4]) -> Interval {
        if all.iter().any(|it| it.is_nan()) {
            return Interval::ANY;
        }
        let low = all.into_iter().fold(f64::INFINITY, f64::min);
        let high = all.into_iter().fold(f64::NEG_INFINITY, f64::max);
        Interval::around(low, high)
    }
    /// Two whole numbers, if both are known.
    fn wholes(self, other: Interval) -> Option<(f64, f64)> {
        let whole = |it: Interval| it.low == it.high && it.low.fract() == 0.0;
        (whole(self) && whole(other)).then_some((self.low, other.low))
    }
    /// What was worked out of whole numbers, if that is one and not rounded; else what `rounded`
    /// says.
    fn whole_or(value: Option<f64>, rounded: impl FnOnce() -> Interval) -> Interval {
        match value {
            Some(value) if value.fract() == 0.0 && value.abs() <= EXACT => {
                Interval { low: value, high: value }
            }
            _ => rounded(),
        }
    }
    fn exactly(num: i128) -> Option<Interval> {
        let value = num as f64;
        (value.abs() <= EXACT).then_some(Interval { low: value, high: value })
    }
}

impl Number for Interval {
    fn ratio(num: i128, den: i128) -> Interval {
        let of = |num| {
            Interval::exactly(num).unwrap_or_else(|| Interval::around(num as f64, num as f64))
        };
        match (i64::try_from(num), i64::try_from(den)) {
            _ if den == 1 => of(num),
            (Ok(a), Ok(b)) if a.unsigned_abs().max(b.unsigned_abs()) <= EXACT as u64 => {
                let value = a as f64 / b as f64;
                match a % b {
                    0 => Interval { low: value, high: value },
                    _ => Interval::around(value, value),
                }
            }
            _ => of(num) / of(den),
        }
    }
    fn compare(&self, other: &Interval) -> Result<Ordering, Halt> {
        if self.high < other.low {
            Ok(Ordering::Less)
        } else if self.low > other.high {
            Ok(Ordering::Greater)
        } else if self.low == self.high && other.low == other.high {
            Ok(Ordering::Equal)
        } else {
            Err(Halt::Close)
        }
    }
    fn floor(&self) -> Result<i128, Halt> {
        let (low, high) = (self.low.floor(), self.high.floor());
        match low == high && low.abs() < 9e15 {
            true => Ok(low as i128),
            false => Err(Halt::Close),
        }
    }
    fn sum(all: impl Iterator<Item = Interval>, _: &mut Budget) -> Result<Interval, Halt> {
        Ok(all.fold(Interval::whole(0), |sum, it| sum + it))
    }
    fn length(&self) -> usize {
        0
    }
    fn least(self, other: Interval) -> Result<Interval, Halt> {
        Ok(Interval { low: self.low.min(other.low), high: self.high.min(other.high) })
    }
    fn greatest(self, other: Interval) -> Result<Interval, Halt> {
        Ok(Interval { low: self.low.max(other.low), high: self.high.max(other.high) })
    }
}

impl Add for Interval {
    type Output = Interval;
    fn add(self, by: Interval) -> Interval {
        let value = self.wholes(by).map(|(a, b)| a + b);
        Interval::whole_or(value, || Interval::around(self.low + by.low, self.high + by.high))
    }
}

impl Sub for Interval {
    type Output = Interval;
    fn sub(self, by: Interval) -> Interval {
        let value = self.wholes(by).map(|(a, b)| a - b);
        Interval::whole_or(value, || Interval::around(self.low - by.high, self.high - by.low))
    }
}

impl Mul for Interval {
    type Output = Interval;
    fn mul(self, by: Interval) -> Interval {
        let (a, b) = (self, by);
        let all = [a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high];
        Interval::whole_or(a.wholes(b).map(|(a, b)| a * b), || Interval::of(all))
    }
}

impl Div for Interval {
    type Output = Interval;
    fn div(self, by: Interval) -> Interval {
        if by.low <= 0.0 && by.high >= 0.0 {
            return Interval::ANY;
        }
        let (a, b) = (self, by);
        let all = [a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high];
        let whole = a.wholes(b).filter(|(a, b)| a % b == 0.0).map(|(a, b)| a / b);
        Interval::whole_or(whole, || Interval::of(all))
    }
}

/// A fraction of whole numbers of any length, its denominator above 0.
#[derive(Clone, Debug)]
pub(crate) struct Exact {
    num: BigInt,
    den: BigInt,
}

/// How many steps it takes to multiply numbers of so many bits: more than in proportion.
fn long(bits: u64) -> usize {
    let words = (bits / 64) as usize;
    words * words.isqrt() / 256
}

/// Longer fractions, in bits, are not reduced: that takes a time with the square of their length.
const REDUCED: u64 = 2_048;

impl Exact {
    fn new(num: BigInt, den: BigInt) -> Exact {
        if den.bits() > REDUCED {
            let (num, den) = if den.is_negative() { (-num, -den) } else { (num, den) };
            return Exact { num, den };
        }
        let (num, den) = BigRational::new(num, den).into_raw();
        Exact { num, den }
    }
}

impl PartialEq for Exact {
    fn eq(&self, other: &Exact) -> bool {
        self.compare(other) == Ok(Ordering::Equal)
    }
}

impl Number for Exact {
    fn ratio(num: i128, den: i128) -> Exact {
        Exact::new(BigInt::from(num), BigInt::from(den))
    }
    fn compare(&self, other: &Exact) -> Result<Ordering, Halt> {
        Ok((&self.num * &other.den).cmp(&(&other.num * &self.den)))
    }
    fn floor(&self) -> Result<i128, Halt> {
        let whole = BigRational::new_raw(self.num.clone(), self.den.clone()).floor().to_integer();
        // Whatever is as long as that is beyond every budget.
        whole.to_i128().ok_or(Halt::Spent)
    }
    /// Those with one denominator first: there are often few. Then in pairs, and pairs of pairs:
    /// one after the other a million would take for ever.
    fn sum(all: impl Iterator<Item = Exact>, budget: &mut Budget) -> Result<Exact, Halt> {
        let mut nums: BTreeMap<BigInt, BigInt> = BTreeMap::new();
        for it in all {
            *nums.entry(it.den).or_default() += it.num;
        }
        // The sum's denominator is no longer than all of them together.
        let bits = nums.keys().map(BigInt::bits).sum();
        budget.spend(4 * nums.len() + long(bits))?;
        let mut all: Vec<Exact> = nums.into_iter().map(|(den, num)| Exact::new(num, den)).collect();
        while all.len() > 1 {
            let pair = |pair: &[Exact]| match pair {
                [a, b] => a.clone() + b.clone(),
                rest => rest[0].clone(),
            };
            all = all.chunks(2).map(pair).collect();
        }
        Ok(all.pop().unwrap_or_else(|| Exact::whole(0)))
    }
    fn length(&self) -> usize {
        long(self.num.bits().max(self.den.bits()))
    }
}

impl Add for Exact {
    type Output = Exact;
    fn add(self, by: Exact) -> Exact {
        match self.den == by.den {
            true => Exact::new(self.num + by.num, self.den),
            false => Exact::new(self.num * &by.den + by.num * &self.den, self.den * by.den),
        }
    }
}

impl Sub for Exact {
    type Output = Exact;
    fn sub(self, by: Exact) -> Exact {
        self + Exact { num: -by.num, den: by.den }
    }
}

impl Mul for Exact {
    type Output = Exact;
    fn mul(self, by: Exact) -> Exact {
        Exact::new(self.num * by.num, self.den * by.den)
    }
}

impl Div for Exact {
    type Output = Exact;
    fn div(self, by: Exact) -> Exact {
        Exact::new(self.num * by.den, self.den * by.num)
    }
}

#[cfg(test)]
mod tests {
    use wastenot_model::workload::Random;

    use super::*;

    /// The same expression, of random fractions.
    fn expression<N: Number>(seed: u64) -> (N, N) {
        let mut random = Random::stream(seed, 0, 0);
        let mut next = || {
            let num = random.below(1 << (1 + seed % 50)) as i128 - (1 << (seed % 50));
            N::ratio(num, 1 + random.below(1 << (1 + seed % 40)) as i128)
        };
        let (a, b, c, d) = (next(), next(), next(), next());
        (a.clone() * b.clone() + c.clone(), (a - b) * d + c)
    }

    #[test]
    fn what_intervals_tell_apart_is_so() {
        let mut told = 0;
        for seed in 0..20_000 {
            let (a, b) = expression::<Interval>(seed);
            let (exact_a, exact_b) = expression::<Exact>(seed);
            if let Ok(order) = a.compare(&b) {
                told += 1;
                assert_eq!(Ok(order), exact_a.compare(&exact_b), "seed {seed}");
            }
            if let Ok(floor) = a.floor() {
                assert_eq!(Ok(floor), exact_a.floor(), "seed {seed}");
            }
            if let Ok(ceil) = b.ceil() {
                assert_eq!(Ok(ceil), exact_b.ceil(), "seed {seed}");
            }
        }
        assert!(told > 19_000, "{told}");
    }

    #[test]
    fn equal_sums_are_left_to_fractions() {
        fn thirds<N: Number>() -> Result<Ordering, Halt> {
            let thirds = (0..3).map(|_| N::ratio(1, 3));
            N::sum(thirds, &mut Budget::once())?.compare(&N::whole(1))
        }
        assert_eq!(thirds::<Interval>(), Err(Halt::Close));
        assert_eq!(thirds::<Exact>(), Ok(Ordering::Equal));
    }

    #[test]
    fn many_fractions_are_summed_while_one_waits() {
        // 1/p + 1/(p + 1) + .. less all of them, in an order in which nothing cancels on the way.
        let all = || (2..50_002).map(|p| Exact::ratio(1, p));
        let one = Exact::sum(all(), &mut Budget::once()).expect("it is enough");
        let other = Exact::sum(all().map(|it| Exact::whole(0) - it), &mut Budget::once());
        let none = one + other.expect("it is enough");
        assert_eq!(none.compare(&Exact::whole(0)), Ok(Ordering::Equal));
        assert_eq!((none.floor(), (none - Exact::whole(1)).ceil()), (Ok(0), Ok(-1)));
    }

    #[test]
    fn a_sum_that_would_be_too_long_is_not_begun() {
        let all = || (0..300_000).map(|n| Exact::ratio(1, (1 << 39) + 2 * n + 1));
        let mut budget = Budget(1_000_000);
        assert_eq!(Exact::sum(all(), &mut budget), Err(Halt::Spent));
        // Many fractions of few kinds are short, however many they are.
        let few = (0..300_000).map(|n| Exact::ratio(1, 1 + n % 10));
        let sum = Exact::sum(few, &mut Budget(100)).expect("it is enough");
        assert_eq!(sum.compare(&Exact::ratio(30_000 * 7_381, 2_520)), Ok(Ordering::Equal));
    }
}
