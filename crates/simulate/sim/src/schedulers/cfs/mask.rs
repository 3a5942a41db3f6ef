//! Sets of CPUs as plain words, all of the machine's width, for loops that run at every wakeup.

use wastenot_model::{CpuId, CpuSet};

/// Words of bits of a set, lowest CPUs first.
pub(super) type Words = Box<[u64]>;

/// The empty set over `cpus` CPUs.
pub(super) fn none(cpus: usize) -> Words {
    vec![0; cpus.div_ceil(64).max(1)].into_boxed_slice()
}
/// `set`, over `cpus` CPUs.
pub(super) fn of(set: &CpuSet, cpus: usize) -> Words {
    let mut words = none(cpus);
    words.iter_mut().zip(set.words()).for_each(|(word, bits)| *word = *bits);
    words
}
/// The same as a [`CpuSet`].
pub(super) fn to_set(words: &[u64]) -> CpuSet {
    iter(words).map(|cpu| CpuId(cpu as u16)).collect()
}
#[inline]
pub(super) fn contains(words: &[u64], cpu: usize) -> bool {
    words.get(cpu / 64).is_some_and(|word| word >> (cpu % 64) & 1 == 1)
}
#[inline]
pub(super) fn set(words: &mut [u64], cpu: usize, on: bool) {
    let bit = 1 << (cpu % 64);
    match on {
        true => words[cpu / 64] |= bit,
        false => words[cpu / 64] &= !bit,
    }
}
/// Whether the two have a CPU in common.
#[inline]
pub(super) fn meet(a: &[u64], b: &[u64]) -> bool {
    a.iter().zip(b).any(|(a, b)| a & b != 0)
}
/// The lowest CPU from `from` on that is in both; for loops whose body changes the set.
#[inline]
pub(super) fn next(a: &[u64], b: &[u64], from: usize) -> Option<usize> {
    let words = a.len().min(b.len());
    let mut word = from / 64;
    let mut keep = u64::MAX << (from % 64);
    while word < words {
        let bits = a[word] & b[word] & keep;
        if bits != 0 {
            return Some(word * 64 + bits.trailing_zeros() as usize);
        }
        (word, keep) = (word + 1, u64::MAX);
    }
    None
}
/// As [`next`], wrapping around at CPU 0: a walk around all CPUs ends where it began.
pub(super) fn next_around(a: &[u64], b: &[u64], from: usize) -> Option<usize> {
    next(a, b, from).or_else(|| next(a, b, 0).filter(|&cpu| cpu < from))
}
/// The CPUs of a set.
pub(super) fn iter(words: &[u64]) -> impl Iterator<Item = usize> + '_ {
    let mut from = 0;
    std::iter::from_fn(move || {
        let cpu = next(words, words, from)?;
        from = cpu + 1;
        Some(cpu)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_hold_what_sets_hold() {
        let list = CpuSet::parse("0-3,63-64,130").expect("a list");
        let words = of(&list, 131);
        assert_eq!(to_set(&words), list);
        assert_eq!(next(&words, &words, 4), Some(63));
        assert_eq!(next_around(&words, &words, 131), Some(0));
        assert!(contains(&words, 130) && !contains(&words, 131) && !contains(&words, 999));
        assert!(!meet(&words, &none(131)));
    }
}
