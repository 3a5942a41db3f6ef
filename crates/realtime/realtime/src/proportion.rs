//! Shares of sets: how well one is known, and whether two differ that were counted on the same
//! sets.

/// Two-sided 95 % of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// The interval of Wilson (1927) at 95 % around `accepted` of `of`; all of 0 to 1 of nothing.
///
/// Unlike the usual one it is not empty where all or none are accepted, and never leaves 0 to 1.
pub fn wilson(accepted: u64, of: u64) -> (f64, f64) {
    if of == 0 {
        return (0.0, 1.0);
    }
    let (count, share) = (of as f64, accepted as f64 / of as f64);
    let square = Z * Z / count;
    let middle = share + square / 2.0;
    let half = Z * ((share * (1.0 - share) + square / 4.0) / count).sqrt();
    // At both ends the terms cancel, but for rounding.
    let low = if accepted == 0 { 0.0 } else { (middle - half) / (1.0 + square) };
    let high = if accepted == of { 1.0 } else { (middle + half) / (1.0 + square) };
    (low, high)
}

/// McNemar's test of pairs, exact: how likely it is that pairs which differ do so as unevenly as
/// here, or more, if each way is as likely as the other. `only_first` sets are accepted by the
/// first curve alone, `only_second` by the second alone; sets that both judge alike do not count.
pub fn paired(only_first: u64, only_second: u64) -> f64 {
    let (fewer, of) = (only_first.min(only_second), only_first + only_second);
    if only_first == only_second {
        return 1.0;
    }
    // Twice the sum of C(of, k) / 2^of for k up to `fewer`, from its greatest term down.
    let factorial = |n: u64| libm::lgamma(n as f64 + 1.0);
    let choose = factorial(of) - factorial(fewer) - factorial(of - fewer);
    let greatest = libm::exp(choose - of as f64 * std::f64::consts::LN_2);
    let (mut sum, mut term) = (0.0, 1.0);
    for k in (0..=fewer).rev() {
        sum += term;
        term *= k as f64 / (of - k + 1) as f64;
        if term < sum * f64::EPSILON {
            break;
        }
    }
    (2.0 * greatest * sum).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_near(is: f64, should: f64, within: f64, what: &str) {
        assert!((is - should).abs() <= within, "{what}: {is} is not {should}");
    }

    /// Newcombe, "Two-sided confidence intervals for the single proportion" (Statistics in Medicine
    /// 17, 1998), table I, method 3; and 8 of 10, as R's `prop.test(correct = FALSE)` has it.
    #[test]
    fn intervals_are_those_that_were_published() {
        for (accepted, of, low, high) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
            (8, 10, 0.490_162, 0.943_318),
        ] {
            let what = format!("{accepted} of {of}");
            let interval = wilson(accepted, of);
            let within = if of == 10 { 5e-7 } else { 5e-5 };
            assert_near(interval.0, low, within, &what);
            assert_near(interval.1, high, within, &what);
            // What is accepted and what is not are alike.
            let mirrored = wilson(of - accepted, of);
            assert_near(mirrored.0, 1.0 - interval.1, 1e-15, &what);
            assert_near(mirrored.1, 1.0 - interval.0, 1e-15, &what);
        }
    }

    #[test]
    fn an_interval_holds_its_share_and_nothing_beyond_0_and_1() {
        assert_eq!(wilson(0, 0), (0.0, 1.0));
        for of in [1, 2, 3, 100, 1_000_003] {
            for accepted in [0, 1, of / 2, of - 1, of] {
                let (low, high) = wilson(accepted, of);
                let share = accepted as f64 / of as f64;
                assert!(0.0 <= low && low <= share && share <= high && high <= 1.0);
                assert!(low < high, "{accepted} of {of}");
            }
        }
    }

    /// By counting: of all ways in which `of` pairs may fall, those that are as uneven.
    #[test]
    fn pairs_are_as_uneven_as_counting_says() {
        for of in 0..=100_u64 {
            let mut choose = vec![1.0];
            for k in 0..of {
                choose.push(choose[k as usize] * (of - k) as f64 / (k + 1) as f64);
            }
            let all: f64 = choose.iter().sum();
            for first in 0..=of {
                let second = of - first;
                let uneven = |k: u64| k.min(of - k) <= first.min(second);
                let so: f64 = (0..=of).filter(|&k| uneven(k)).map(|k| choose[k as usize]).sum();
                let what = format!("{first} and {second}");
                assert_near(paired(first, second), so / all, 1e-12, &what);
            }
        }
        assert_eq!(paired(1, 9), paired(9, 1));
        assert_near(paired(1, 9), 22.0 / 1024.0, 1e-15, "1 and 9");
        // Many pairs: as the normal distribution has it, sqrt(10^7) / 2 being 1581.
        assert_near(paired(5_001_581, 4_998_419), 0.3173, 5e-4, "one standard deviation");
        assert!(paired(0, 10_000_000) < 1e-300);
    }
}
