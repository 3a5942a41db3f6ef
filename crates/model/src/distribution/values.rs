//! Lengths in as little memory as they take: there is a distribution for each task.

use super::{Distribution, SUB, bucket};

/// Lengths one by one, and if they are many their buckets.
#[derive(Clone, Debug)]
pub(super) enum Values {
    /// Each is below 2^32.
    Short(Vec<u32>),
    /// Each.
    Long(Vec<u64>),
    /// The bucket of each, in any order.
    Few(Vec<u16>),
    /// How many there are in each bucket from `first` on: of all from the first octave that has one
    /// to the last.
    Narrow { first: u16, counts: Vec<u8> },
    /// The same, where one has more than a byte can count.
    Wide { first: u16, counts: Vec<u32> },
}

/// Buckets of an octave.
const OCTAVE: usize = SUB as usize;

impl Default for Values {
    fn default() -> Values {
        Values::Short(Vec::new())
    }
}

impl Values {
    /// Adds one length by its bucket where that takes no memory; says whether it did.
    #[inline]
    pub(super) fn add_one(&mut self, bucket: usize) -> bool {
        match self {
            Values::Narrow { first, counts } => {
                match counts.get_mut(bucket.wrapping_sub((*first).into())) {
                    Some(count) if *count < u8::MAX => *count += 1,
                    _ => return false,
                }
            }
            Values::Wide { first, counts } => {
                match counts.get_mut(bucket.wrapping_sub((*first).into())) {
                    Some(count) => *count = count.saturating_add(1),
                    None => return false,
                }
            }
            _ => return false,
        }
        true
    }

    /// Adds one where that may take memory.
    #[cold]
    pub(super) fn add_slowly(&mut self, value: u64) {
        match self {
            Values::Short(values) if values.len() < Distribution::EXACT => {
                match u32::try_from(value) {
                    Ok(value) => push(values, value),
                    Err(_) => {
                        let mut long: Vec<u64> = values.iter().map(|it| (*it).into()).collect();
                        push(&mut long, value);
                        *self = Values::Long(long);
                    }
                }
            }
            Values::Long(values) if values.len() < Distribution::EXACT => push(values, value),
            _ => self.add(bucket(value), 1),
        }
    }

    /// Adds `by` lengths of a bucket: from now on none is kept by its value.
    pub(super) fn add(&mut self, bucket: usize, by: u32) {
        let exact: Vec<u64> = self.exact().collect();
        if !exact.is_empty() || matches!(self, Values::Short(_) | Values::Long(_)) {
            *self =
                Values::Few(exact.into_iter().map(|value| super::bucket(value) as u16).collect());
        }
        if let Values::Few(few) = self {
            let is_full = few.len() == few.capacity();
            if by == 1 && !(is_full && is_dense(few, bucket)) {
                return push(few, bucket as u16);
            }
            let few = std::mem::take(few);
            *self = Values::Narrow { first: 0, counts: Vec::new() };
            few.into_iter().for_each(|bucket| self.count(bucket.into(), 1));
        }
        self.count(bucket, by);
    }

    /// Adds to the counts of buckets.
    fn count(&mut self, bucket: usize, by: u32) {
        match self {
            Values::Narrow { first, counts } => reach(first, counts, bucket),
            Values::Wide { first, counts } => reach(first, counts, bucket),
            _ => {}
        }
        if let Values::Narrow { first, counts } = self {
            let place = bucket - usize::from(*first);
            match u8::try_from(by).ok().and_then(|by| counts[place].checked_add(by)) {
                Some(sum) => counts[place] = sum,
                None => {
                    let counts = counts.iter().copied().map(u32::from).collect();
                    *self = Values::Wide { first: *first, counts };
                }
            }
        }
        if let Values::Wide { first, counts } = self {
            let count = &mut counts[bucket - usize::from(*first)];
            *count = count.saturating_add(by);
        }
    }

    /// Those that are kept by their values, in the order in which they came.
    pub(super) fn exact(&self) -> impl Iterator<Item = u64> + '_ {
        let (short, long) = match self {
            Values::Short(short) => (&short[..], &[][..]),
            Values::Long(long) => (&[][..], &long[..]),
            _ => (&[][..], &[][..]),
        };
        short.iter().map(|value| u64::from(*value)).chain(long.iter().copied())
    }

    /// Each bucket that has lengths, if none is kept by its value, and how many, in order.
    pub(super) fn buckets(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        let mut few = if let Values::Few(few) = self { few.clone() } else { Vec::new() };
        few.sort_unstable();
        let few: Vec<(usize, u32)> = few
            .chunk_by(|a, b| a == b)
            .map(|alike| (usize::from(alike[0]), alike.len() as u32))
            .collect();
        let (first, narrow, wide) = match self {
            Values::Narrow { first, counts } => (*first, &counts[..], &[][..]),
            Values::Wide { first, counts } => (*first, &[][..], &counts[..]),
            _ => (0, &[][..], &[][..]),
        };
        let counts = narrow.iter().map(|count| u32::from(*count)).chain(wide.iter().copied());
        let dense = (usize::from(first)..).zip(counts).filter(|(_, count)| *count > 0);
        few.into_iter().chain(dense)
    }
}

/// By what they tell.
impl PartialEq for Values {
    fn eq(&self, other: &Values) -> bool {
        self.exact().eq(other.exact()) && self.buckets().eq(other.buckets())
    }
}

impl Eq for Values {}

/// Pushes, and makes room for a few: twice as much as there is would mostly stay empty.
fn push<T>(values: &mut Vec<T>, value: T) {
    if values.len() == values.capacity() {
        values.reserve_exact(values.len() / 4 + 4);
    }
    values.push(value);
}

/// Whether counts of all buckets up to these would take less than the list of them.
fn is_dense(few: &[u16], next: usize) -> bool {
    let octaves = few.iter().map(|it| usize::from(*it) / OCTAVE).chain([next / OCTAVE]);
    let (least, most) = octaves.fold((usize::MAX, 0), |(a, b), it| (a.min(it), b.max(it)));
    (most + 1 - least) * OCTAVE <= 2 * (few.len() + 1)
}

/// Makes room for a bucket, and for the others of its octave.
fn reach<T: Copy + Default>(first: &mut u16, counts: &mut Vec<T>, bucket: usize) {
    let octave = bucket / OCTAVE * OCTAVE;
    let begin = if counts.is_empty() { octave } else { usize::from(*first) };
    let (from, to) = (octave.min(begin), (octave + OCTAVE).max(begin + counts.len()));
    if to - from == counts.len() {
        return;
    }
    let mut grown = Vec::with_capacity(to - from);
    grown.resize(begin - from, T::default());
    grown.append(counts);
    grown.resize(to - from, T::default());
    (*counts, *first) = (grown, from as u16);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distribution_is_small() {
        assert!(size_of::<Distribution>() <= 56);
        let mut lengths = Distribution::default();
        (0..100).for_each(|n| lengths.add(1000 << (n % 20)));
        assert!(matches!(&lengths.values, Values::Few(few) if few.capacity() <= 125));
        (0..1000).for_each(|n| lengths.add(1000 << (n % 20)));
        assert!(matches!(&lengths.values, Values::Narrow { .. }));
        (0..10_000).for_each(|_| lengths.add(7));
        assert!(matches!(&lengths.values, Values::Wide { .. }));
    }

    #[test]
    fn long_lengths_are_exact_too() {
        let values = [5, 1 << 32, u64::MAX, 0, 3];
        let mut lengths = Distribution::default();
        values.iter().for_each(|value| lengths.add(*value));
        assert!(lengths.values.exact().eq(values));
        assert_eq!((lengths.quantile(0.6), lengths.quantile(1.0)), (Some(5), Some(u64::MAX)));
    }
}
