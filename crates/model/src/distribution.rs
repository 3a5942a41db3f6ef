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
    buckets: Buckets,
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
        if !self.buckets.add_one(length.bucket) {
            self.add_slowly(value);
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
        self.buckets.add(bucket(value), by);
    }

    /// Adds all lengths of another distribution.
    pub fn merge(&mut self, other: &Distribution) {
        let (count, sum, max) =
            (self.count + other.count, self.sum.saturating_add(other.sum), self.max.max(other.max));
        other.exact.iter().for_each(|&value| self.add(value));
        if !other.buckets.is_empty() {
            let exact = std::mem::take(&mut self.exact);
            exact.into_iter().for_each(|value| self.bump(value, 1));
            for (index, by) in other.buckets.iter().filter(|(_, by)| *by > 0) {
                self.buckets.add(index, by);
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
        for (index, count) in self.buckets.iter() {
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
        for (index, count) in self.buckets.iter() {
            counts[octave(middle(index))] += u64::from(count);
        }
        let Some(first) = counts.iter().position(|&count| count > 0) else { return Vec::new() };
        let last = counts.iter().rposition(|&count| count > 0).unwrap_or(first);
        let from = |octave: usize| if octave == 0 { 0 } else { 1u64 << (octave - 1) };
        let to = |octave: usize| if octave == 64 { u64::MAX } else { 1u64 << octave };
        (first..=last).map(|octave| (from(octave), to(octave), counts[octave])).collect()
    }
}

/// How many lengths are in each bucket, in as little memory as that takes: there is one for each
/// task. Buckets are there from the first octave that has a length to the last one, each in one
/// byte until one of them has more lengths than a byte can count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<u32>", into = "Vec<u32>")]
struct Buckets {
    /// The first bucket that is there.
    first: usize,
    counts: Counts,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Counts {
    Narrow(Vec<u8>),
    Wide(Vec<u32>),
}

impl Default for Counts {
    fn default() -> Counts {
        Counts::Narrow(Vec::new())
    }
}

impl Buckets {
    /// Adds one length where that takes no memory; says whether it did.
    #[inline]
    fn add_one(&mut self, bucket: usize) -> bool {
        let place = bucket.wrapping_sub(self.first);
        match &mut self.counts {
            Counts::Narrow(counts) => match counts.get_mut(place) {
                Some(count) if *count < u8::MAX => *count += 1,
                _ => return false,
            },
            Counts::Wide(counts) => match counts.get_mut(place) {
                Some(count) => *count = count.saturating_add(1),
                None => return false,
            },
        }
        true
    }

    fn add(&mut self, bucket: usize, by: u32) {
        self.reach(bucket);
        let place = bucket - self.first;
        if let Counts::Narrow(counts) = &mut self.counts {
            match u8::try_from(by).ok().and_then(|by| counts[place].checked_add(by)) {
                Some(sum) => counts[place] = sum,
                None => self.counts = Counts::Wide(counts.iter().copied().map(u32::from).collect()),
            }
        }
        if let Counts::Wide(counts) = &mut self.counts {
            counts[place] = counts[place].saturating_add(by);
        }
    }

    /// Makes room for a bucket, and for the others of its octave.
    fn reach(&mut self, bucket: usize) {
        fn grow<T: Copy + Default>(counts: &mut Vec<T>, before: usize, length: usize) {
            let mut grown = Vec::with_capacity(length);
            grown.resize(before, T::default());
            grown.append(counts);
            grown.resize(length, T::default());
            *counts = grown;
        }
        let octave = SUB as usize;
        let first = bucket / octave * octave;
        if self.is_empty() {
            self.first = first;
        }
        let first = first.min(self.first);
        let end = (bucket / octave * octave + octave).max(self.first + self.len());
        if (first, end) == (self.first, self.first + self.len()) {
            return;
        }
        let (before, length) = (self.first - first, end - first);
        match &mut self.counts {
            Counts::Narrow(counts) => grow(counts, before, length),
            Counts::Wide(counts) => grow(counts, before, length),
        }
        self.first = first;
    }

    fn len(&self) -> usize {
        match &self.counts {
            Counts::Narrow(counts) => counts.len(),
            Counts::Wide(counts) => counts.len(),
        }
    }

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Each bucket that is there, with how many lengths it has.
    fn iter(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        (0..self.len()).map(|place| {
            let count = match &self.counts {
                Counts::Narrow(counts) => counts[place].into(),
                Counts::Wide(counts) => counts[place],
            };
            (self.first + place, count)
        })
    }
}

/// As they are stored: from the first bucket of all to the last one that has a length.
impl From<Buckets> for Vec<u32> {
    fn from(buckets: Buckets) -> Vec<u32> {
        let mut all = vec![0; buckets.first];
        all.extend(buckets.iter().map(|(_, count)| count));
        let last = all.iter().rposition(|&count| count > 0);
        all.truncate(last.map_or(0, |last| last + 1));
        all
    }
}

impl From<Vec<u32>> for Buckets {
    fn from(all: Vec<u32>) -> Buckets {
        let mut buckets = Buckets::default();
        // A damaged file may have more than there are.
        let all = all.into_iter().take(bucket(u64::MAX) + 1).enumerate();
        all.filter(|(_, count)| *count > 0).for_each(|(bucket, by)| buckets.add(bucket, by));
        buckets
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
        for count in [65, 300, 3000] {
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
            let plain: Vec<u32> = orders[0].buckets.clone().into();
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
