//! The median of some runs, and an interval for it.

/// Fewest runs of which there is an interval: the median lies outside of all of five with 6 %.
pub const FEWEST: u64 = 6;
/// Most runs.
pub const MOST: u64 = 1000;

/// A median with its 95 % interval: two of the values, so nothing is assumed of how they are
/// distributed.
///
/// Of n values the median lies below the kth smallest with the probability that fewer than k of n
/// fair coins show heads. k is the largest for which that, twice, is at most 5 % (Hahn and Meeker,
/// Statistical Intervals, 1991, section 5.2): of 10 values the second and the second last, 97.9 %.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Median {
    /// The lower end.
    pub low: u64,
    /// The median, the lower one of two.
    pub median: u64,
    /// The upper end.
    pub high: u64,
}

impl Median {
    /// Of these values; `None` if there are fewer than [`FEWEST`].
    pub fn of(mut values: Vec<u64>) -> Option<Median> {
        let k = rank(values.len())?;
        values.sort_unstable();
        let (n, median) = (values.len(), values[(values.len() - 1) / 2]);
        Some(Median { low: values[k - 1], median, high: values[n - k] })
    }

    /// Whether all of it lies below all of `other`.
    pub fn is_below(&self, other: &Median) -> bool {
        self.high < other.low
    }
}

/// Which of `n` values in order is the lower end, from 1.
fn rank(n: usize) -> Option<usize> {
    const EACH_SIDE: f64 = 0.025;
    let mut exactly = 0.5_f64.powi(i32::try_from(n).ok()?);
    let (mut at_most, mut k) = (0.0, 0);
    while k < n && at_most + exactly <= EACH_SIDE {
        at_most += exactly;
        exactly *= (n - k) as f64 / (k + 1) as f64;
        k += 1;
    }
    (k > 0).then_some(k)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ranks of the table of the sign test (Conover, Practical Nonparametric Statistics).
    #[test]
    fn ranks_are_those_of_the_sign_test() {
        let known = [(5, None), (6, Some(1)), (8, Some(1)), (9, Some(2)), (10, Some(2))];
        let more = [(12, Some(3)), (15, Some(4)), (20, Some(6)), (25, Some(8)), (100, Some(40))];
        for (n, k) in known.into_iter().chain(more) {
            assert_eq!(rank(n), k, "{n}");
        }
        assert_eq!((rank(0), rank(MOST as usize)), (None, Some(469)));
    }

    #[test]
    fn ends_are_values_counted_from_both_ends() {
        let values = vec![9, 1, 8, 2, 7, 3, 6, 4, 5, 100];
        let of = Median::of(values).expect("ten");
        assert_eq!(of, Median { low: 2, median: 5, high: 9 });
        let six = Median::of(vec![6, 5, 4, 3, 2, 1]).expect("six");
        assert_eq!(six, Median { low: 1, median: 3, high: 6 });
        assert_eq!(Median::of(vec![1; FEWEST as usize - 1]), None);
        assert!(six.is_below(&Median { low: 7, median: 8, high: 9 }));
        assert!(!six.is_below(&Median { low: 6, median: 8, high: 9 }), "they touch");
    }
}
