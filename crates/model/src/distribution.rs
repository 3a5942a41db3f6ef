//! The distribution of lengths, in bounded memory.

use serde::{Deserialize, Serialize};

/// Lengths: exact up to [`Distribution::EXACT`] of them, then in buckets whose width is at most
/// 1/32 of their value (log-linear, like HDR histograms). Count, sum and maximum stay exact.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Distribution {
    /// How many.
    pub count: u64,
    /// Their sum.
    pub sum: u64,
    /// The largest.
    pub max: u64,
    exact: Vec<u64>,
    buckets: Vec<u32>,
}

const SUB_BITS: u32 = 5;
const SUB: u64 = 1 << SUB_BITS;

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
        match self.buckets.get_mut(length.bucket) {
            Some(bucket) => *bucket = bucket.saturating_add(1),
            None => self.add_slowly(value),
        }
    }

    /// The slow path: values are kept one by one, or buckets have to grow.
    #[cold]
    fn add_slowly(&mut self, value: u64) {
        if self.buckets.is_empty() && self.exact.len() < Distribution::EXACT {
            return self.exact.push(value);
        }
        let exact = std::mem::take(&mut self.exact);
        exact.into_iter().for_each(|value| self.bump(value, 1));
        self.bump(value, 1);
    }

    fn bump(&mut self, value: u64, by: u32) {
        let index = bucket(value);
        if self.buckets.len() <= index {
            self.buckets.resize(index + 1, 0);
        }
        self.buckets[index] = self.buckets[index].saturating_add(by);
    }

    /// Adds all lengths of another distribution.
    pub fn merge(&mut self, other: &Distribution) {
        let (count, sum, max) =
            (self.count + other.count, self.sum.saturating_add(other.sum), self.max.max(other.max));
        other.exact.iter().for_each(|&value| self.add(value));
        if !other.buckets.is_empty() {
            let exact = std::mem::take(&mut self.exact);
            exact.into_iter().for_each(|value| self.bump(value, 1));
            for (index, &by) in other.buckets.iter().enumerate().filter(|(_, by)| **by > 0) {
                self.bump(middle(index), by);
            }
        }
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
        if self.buckets.is_empty() {
            let mut sorted = self.exact.clone();
            sorted.sort_unstable();
            return sorted.get(rank as usize - 1).copied();
        }
        let mut below = 0;
        for (index, &count) in self.buckets.iter().enumerate() {
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
        self.exact.iter().for_each(|&value| counts[octave(value)] += 1);
        for (index, &count) in self.buckets.iter().enumerate() {
            counts[octave(middle(index))] += u64::from(count);
        }
        let Some(first) = counts.iter().position(|&count| count > 0) else { return Vec::new() };
        let last = counts.iter().rposition(|&count| count > 0).unwrap_or(first);
        let from = |octave: usize| if octave == 0 { 0 } else { 1u64 << (octave - 1) };
        let to = |octave: usize| if octave == 64 { u64::MAX } else { 1u64 << octave };
        (first..=last).map(|octave| (from(octave), to(octave), counts[octave])).collect()
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
    fn every_value_lies_in_its_bucket() {
        for value in (0..200).chain([1 << 20, (1 << 20) + 1, u64::MAX / 3, u64::MAX]) {
            let middle = middle(bucket(value));
            assert!(middle.abs_diff(value) <= value / 32 + 1, "{value} {middle}");
        }
    }
}
