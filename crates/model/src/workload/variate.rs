//! Lengths of time that vary, and the random streams that they are drawn from.

use crate::Span;

/// A length of time, or its distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Variate {
    /// Always this.
    Fixed(Span),
    /// Uniform between the two.
    Uniform {
        /// Shortest.
        from: Span,
        /// Longest.
        to: Span,
    },
    /// Exponential.
    Exponential {
        /// Mean.
        mean: Span,
    },
    /// Log-normal: most are short, some are very long.
    LogNormal {
        /// Mean (not of the logarithm).
        mean: Span,
        /// Standard deviation over mean.
        cv: f64,
    },
}

impl Variate {
    /// Uniform within `share` (0.05 is five percent) of `mean`.
    pub fn around(mean: Span, share: f64) -> Variate {
        let off = (mean.0 as f64 * share) as u64;
        Variate::Uniform { from: Span(mean.0.saturating_sub(off)), to: Span(mean.0 + off) }
    }

    /// Its mean.
    pub fn mean(self) -> Span {
        match self {
            Variate::Fixed(span) => span,
            Variate::Uniform { from, to } => Span(from.0 / 2 + to.0 / 2 + (from.0 & to.0 & 1)),
            Variate::Exponential { mean } | Variate::LogNormal { mean, .. } => mean,
        }
    }

    /// Draws the next one. Logarithms are those of libm, so that they are the same everywhere.
    pub fn draw(self, random: &mut Random) -> Span {
        match self {
            Variate::Fixed(span) => span,
            Variate::Uniform { from, to } => Span(from.0 + random.below(to.0 - from.0 + 1)),
            Variate::Exponential { mean } => {
                Span((-libm::log(random.unit()) * mean.0 as f64) as u64)
            }
            Variate::LogNormal { mean, cv } => {
                let variance = libm::log(1.0 + cv * cv);
                let normal = random.normal();
                let log = libm::sqrt(variance) * normal - variance / 2.0;
                Span((mean.0 as f64 * libm::exp(log)) as u64)
            }
        }
    }
}

/// A stream of random numbers (SplitMix64: Steele, Lea, Flood, OOPSLA 2014).
///
/// Streams of different `purpose` and `ordinal` are independent, so that an additional draw from
/// one stream does not change the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Random(u64);

impl Random {
    /// The stream of this seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }
    /// Stream `ordinal` of `purpose` for this seed.
    pub fn stream(seed: u64, purpose: u32, ordinal: u64) -> Random {
        let mut random = Random(seed);
        random = Random(random.bits() ^ (u64::from(purpose) << 32));
        random = Random(random.bits() ^ ordinal);
        Random(random.bits())
    }
    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    /// A number below `n`, which is not 0; 0 stands for 2^64.
    pub fn below(&mut self, n: u64) -> u64 {
        match n {
            0 => self.bits(),
            n => ((u128::from(self.bits()) * u128::from(n)) >> 64) as u64,
        }
    }
    /// A number in (0, 1].
    pub fn unit(&mut self) -> f64 {
        ((self.bits() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }
    /// A normal number of mean 0 and variance 1 (Box and Muller 1958).
    fn normal(&mut self) -> f64 {
        let (radius, angle) = (self.unit(), self.unit());
        libm::sqrt(-2.0 * libm::log(radius)) * libm::cos(std::f64::consts::TAU * angle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean_of(variate: Variate) -> f64 {
        let mut random = Random::stream(7, 1, 0);
        let sum: u64 = (0..100_000).map(|_| variate.draw(&mut random).0).sum();
        sum as f64 / 100_000.0
    }

    #[test]
    fn draws_have_the_mean_that_they_say() {
        for variate in [
            Variate::Fixed(Span::us(150)),
            Variate::around(Span::us(150), 0.05),
            Variate::Uniform { from: Span::us(100), to: Span::us(201) },
            Variate::Exponential { mean: Span::us(150) },
            Variate::LogNormal { mean: Span::us(150), cv: 0.5 },
        ] {
            let (drawn, said) = (mean_of(variate), variate.mean().0 as f64);
            assert!((drawn / said - 1.0).abs() < 0.01, "{variate:?}: {drawn} for {said}");
        }
    }

    #[test]
    fn streams_are_separate_and_the_same_every_time() {
        let first = |seed, purpose, ordinal| Random::stream(seed, purpose, ordinal).bits();
        assert_eq!(first(1, 2, 3), first(1, 2, 3));
        let all = [first(1, 2, 3), first(2, 2, 3), first(1, 3, 3), first(1, 2, 4)];
        assert!(all.iter().enumerate().all(|(n, a)| !all[..n].contains(a)));
    }

    #[test]
    fn uniform_reaches_both_ends_and_no_further() {
        let mut random = Random::stream(1, 1, 1);
        let variate = Variate::Uniform { from: Span(3), to: Span(5) };
        let drawn: Vec<u64> = (0..200).map(|_| variate.draw(&mut random).0).collect();
        assert_eq!((drawn.iter().min(), drawn.iter().max()), (Some(&3), Some(&5)));
    }
}
