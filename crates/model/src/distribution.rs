//! The distribution of lengths, in bounded memory.

mod values;

use serde::{Deserialize, Serialize};

use self::values::Values;

const SUB_BITS: u32 = 5;
const SUB: u64 = 1 << SUB_BITS;

/// Lengths: exact up to [`Distribution::EXACT`] of them, then in buckets whose width is at most
/// 1/32 of their value (log-linear, like HDR histograms). Count, sum and maximum stay exact.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Stored", into = "Stored")]
pub struct Distribution {
    /// How many.
    pub count: u64,
    /// Their sum.
    pub sum: u64,
    /// The largest.
    pub max: u64,
    values: Values,
}

impl Distribution {
    /// Up to this many values are kept one by one.
    pub const EXACT: usize = 64;

    /// Adds a length.
    #[inline]
    pub fn add(&mut self, value: u64) {
        self.add_length(Length::new(value));
    }

    /// Adds a length whose bucket is known.
    #[inline]
    pub fn add_length(&mut self, length: Length) {
        let value = length.value;
        self.count += 1;
        self.sum = self.sum.saturating_add(value);
        self.max = self.max.max(value);
        if !self.values.add_one(length.bucket) {
            self.values.add_slowly(value);
        }
    }

    /// Adds all lengths of another distribution.
    pub fn merge(&mut self, other: &Distribution) {
        let (count, sum, max) =
            (self.count + other.count, self.sum.saturating_add(other.sum), self.max.max(other.max));
        other.values.exact().for_each(|value| self.add(value));
        other.values.buckets().for_each(|(bucket, by)| self.values.add(bucket, by));
        (self.count, self.sum, self.max) = (count, sum, max);
    }

    /// The mean; `None` if there are no lengths.
    pub fn mean(&self) -> Option<u64> {
        self.sum.checked_div(self.count)
    }

    /// The smallest value that at least `share` of all lengths do not exceed (nearest rank). `None`
    /// if there are no lengths.
    pub fn quantile(&self, share: f64) -> Option<u64> {
        if self.count == 0 {
            return None;
        }
        let rank = ((share * self.count as f64).ceil() as u64).clamp(1, self.count);
        if rank == self.count {
            return Some(self.max);
        }
        let mut sorted: Vec<u64> = self.values.exact().collect();
        sorted.sort_unstable();
        if let Some(value) = sorted.get(rank as usize - 1) {
            return Some(*value);
        }
        let mut below = 0;
        for (index, count) in self.values.buckets() {
            below += u64::from(count);
            if below >= rank {
                return Some(middle(index).min(self.max));
            }
        }
        Some(self.max)
    }

    /// `(from, to, count)` in powers of two, without empty ends.
    pub fn octaves(&self) -> Vec<(u64, u64, u64)> {
        let mut counts = [0u64; 65];
        let octave = |value: u64| (64 - value.leading_zeros()) as usize;
        self.values.exact().for_each(|value| counts[octave(value)] += 1);
        for (index, count) in self.values.buckets() {
            counts[octave(middle(index))] += u64::from(count);
        }
        let Some(first) = counts.iter().position(|&count| count > 0) else { return Vec::new() };
        let last = counts.iter().rposition(|&count| count > 0).unwrap_or(first);
        let from = |octave: usize| if octave == 0 { 0 } else { 1u64 << (octave - 1) };
        let to = |octave: usize| if octave == 64 { u64::MAX } else { 1u64 << octave };
        (first..=last).map(|octave| (from(octave), to(octave), counts[octave])).collect()
    }
}

/// As it is stored: values while they are kept one by one; else the count of each bucket, from the
/// first of all to the last one that has a length.
#[derive(Serialize, Deserialize)]
struct Stored {
    count: u64,
    sum: u64,
    max: u64,
    exact: Vec<u64>,
    buckets: Vec<u32>,
}

impl From<Distribution> for Stored {
    fn from(it: Distribution) -> Stored {
        let mut buckets = Vec::new();
        for (bucket, count) in it.values.buckets() {
            buckets.resize(bucket, 0);
            buckets.push(count);
        }
        let exact = it.values.exact().collect();
        Stored { count: it.count, sum: it.sum, max: it.max, exact, buckets }
    }
}

impl From<Stored> for Distribution {
    fn from(Stored { count, sum, max, exact, buckets }: Stored) -> Distribution {
        let mut values = Values::default();
        exact.into_iter().for_each(|value| values.add_slowly(value));
        // A damaged file may have more than there are.
        let buckets = buckets.into_iter().take(bucket(u64::MAX) + 1).enumerate();
        buckets.filter(|(_, by)| *by > 0).for_each(|(bucket, by)| values.add(bucket, by));
        Distribution { count, sum, max, values }
    }
}

/// A length that is added to several distributions: its bucket is found once.
#[derive(Clone, Copy, Debug)]
pub struct Length {
    value: u64,
    bucket: usize,
}

impl Length {
    #[inline]
    /// The length `value`.
    pub fn new(value: u64) -> Length {
        Length { value, bucket: bucket(value) }
    }
}

#[inline]
fn bucket(value: u64) -> usize {
    if value < SUB {
        return value as usize;
    }
    let shift = 63 - value.leading_zeros() - SUB_BITS;
    ((u64::from(shift) + 1) * SUB + ((value >> shift) - SUB)) as usize
}

/// The middle of a bucket.
fn middle(index: usize) -> u64 {
    let index = index as u64;
    if index < SUB {
        return index;
    }
    let shift = index / SUB - 1;
    ((SUB + index % SUB) << shift) + ((1u64 << shift) >> 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_give_exact_quantiles() {
        let mut lengths = Distribution::default();
        (1..=10).for_each(|n| lengths.add(n * 100));
        assert_eq!(lengths.quantile(0.5), Some(500));
        assert_eq!(lengths.quantile(0.9), Some(900));
        assert_eq!(lengths.quantile(1.0), Some(1000));
        assert_eq!(lengths.mean(), Some(550));
        assert_eq!(Distribution::default().quantile(0.5), None);
    }

    #[test]
    fn many_values_are_within_a_bucket_of_exact() {
        let mut lengths = Distribution::default();
        let mut all: Vec<u64> =
            (0..50_000u64).map(|n| (n * n * 2_654_435_761) % 3_000_000_007).collect();
        all.iter().for_each(|&value| lengths.add(value));
        all.sort_unstable();
        for share in [0.001, 0.1, 0.5, 0.9, 0.99, 0.999] {
            let exact = all[(share * all.len() as f64).ceil() as usize - 1] as f64;
            let found = lengths.quantile(share).expect("not empty") as f64;
            assert!((found - exact).abs() <= exact / 32.0 + 1.0, "{share}: {found} {exact}");
        }
        assert_eq!(lengths.octaves().iter().map(|octave| octave.2).sum::<u64>(), 50_000);
    }

    #[test]
    fn merging_is_adding_all() {
        let (mut left, mut right, mut both) = Default::default();
        let add = |into: &mut Distribution, n: u64| into.add(n * 7919 % 100_000);
        for n in 0..200 {
            add(if n % 3 == 0 { &mut left } else { &mut right }, n);
            add(&mut both, n);
        }
        left.merge(&right);
        assert_eq!((left.count, left.sum, left.max), (both.count, both.sum, both.max));
        let (found, want) = (left.quantile(0.5).expect("some"), both.quantile(0.5).expect("some"));
        assert!(found.abs_diff(want) <= want / 16);
    }

    #[test]
    fn what_is_counted_depends_on_no_order_and_survives_being_stored() {
        let values: Vec<u64> = (0..3000u64).map(|n| (n * n * 7919) % (1 << (n % 23 + 1))).collect();
        for count in [65, 100, 300, 3000] {
            let mut all = values[..count].to_vec();
            let orders = [0, 1, 2].map(|order| {
                match order {
                    0 => {}
                    1 => all.sort_unstable(),
                    _ => all.reverse(),
                }
                let mut lengths = Distribution::default();
                all.iter().for_each(|&value| lengths.add(value));
                lengths
            });
            assert!(orders.iter().all(|it| *it == orders[0]), "{count}");
            let plain = Stored::from(orders[0].clone()).buckets;
            let mut want = vec![0; plain.len()];
            all.iter().for_each(|&value| want[bucket(value)] += 1);
            assert_eq!(plain, want);
            let stored = serde_json::to_string(&orders[0]).expect("text");
            let again: Distribution = serde_json::from_str(&stored).expect("what was stored");
            assert_eq!(again, orders[0]);
        }
    }

    #[test]
    fn every_value_lies_in_its_bucket() {
        for value in (0..200).chain([1 << 20, (1 << 20) + 1, u64::MAX / 3, u64::MAX]) {
            let middle = middle(bucket(value));
            assert!(middle.abs_diff(value) <= value / 32 + 1, "{value} {middle}");
        }
    }
}
