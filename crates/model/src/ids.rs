//! CPUs and tasks as small integers, and sets of CPUs.

use std::fmt;

/// A logical CPU, numbered as the kernel numbers it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CpuId(pub u16);

impl CpuId {
    /// Largest number of CPUs that a History may hold (`CONFIG_NR_CPUS` goes up to 8192).
    pub const LIMIT: usize = 8192;
    /// As an index into an array over CPUs.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl fmt::Display for CpuId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A task, unique in its History: the kernel reuses tids, but these ids are not reused.
///
/// The idle task of CPU n is `TaskId(n)`; all others begin at [`CpuId::LIMIT`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(pub u32);

impl TaskId {
    /// The idle task of `cpu` (pid 0 exists once on every CPU).
    pub fn idle(cpu: CpuId) -> TaskId {
        TaskId(u32::from(cpu.0))
    }
    /// The `n`th task that is not an idle task.
    pub fn nth(n: usize) -> TaskId {
        TaskId((CpuId::LIMIT + n) as u32)
    }
    /// Whether this is some CPU's idle task.
    pub fn is_idle(self) -> bool {
        (self.0 as usize) < CpuId::LIMIT
    }
    /// Index among the tasks that are not idle tasks.
    pub fn index(self) -> Option<usize> {
        (self.0 as usize).checked_sub(CpuId::LIMIT)
    }
    /// The n of [`TaskId::nth`]: an index into an array over tasks. An idle task has none: if the
    /// task may be an idle task, use [`TaskId::index`].
    pub fn ordinal(self) -> usize {
        self.0 as usize - CpuId::LIMIT
    }
}

/// A set of CPUs. Grows as CPUs are added; equal sets compare equal.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CpuSet {
    words: Vec<u64>,
}

impl CpuSet {
    /// The empty set.
    pub fn new() -> CpuSet {
        CpuSet::default()
    }
    /// CPUs `0..n`.
    pub fn first(n: usize) -> CpuSet {
        (0..n.min(CpuId::LIMIT)).map(|cpu| CpuId(cpu as u16)).collect()
    }
    /// Adds `cpu`; CPUs at or above [`CpuId::LIMIT`] are ignored.
    pub fn insert(&mut self, cpu: CpuId) {
        if cpu.index() >= CpuId::LIMIT {
            return;
        }
        let word = cpu.index() / 64;
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (cpu.index() % 64);
    }
    /// Takes `cpu` out.
    pub fn remove(&mut self, cpu: CpuId) {
        if let Some(word) = self.words.get_mut(cpu.index() / 64) {
            *word &= !(1 << (cpu.index() % 64));
        }
        self.trim();
    }
    /// Equal sets have equal words.
    fn trim(&mut self) {
        while self.words.last() == Some(&0) {
            self.words.pop();
        }
    }
    /// Adds every CPU of `other`.
    pub fn insert_all(&mut self, other: &CpuSet) {
        if self.words.len() < other.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word |= other);
    }
    /// Takes all CPUs out.
    pub fn clear(&mut self) {
        self.words.clear();
    }
    /// Whether `cpu` is in the set.
    pub fn contains(&self, cpu: CpuId) -> bool {
        self.words.get(cpu.index() / 64).is_some_and(|word| word >> (cpu.index() % 64) & 1 == 1)
    }
    /// Number of CPUs in it.
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }
    /// Whether no CPU is in it.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }
    /// The CPUs in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = CpuId> + '_ {
        self.words.iter().enumerate().flat_map(|(index, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                (rest != 0).then(|| {
                    let bit = rest.trailing_zeros();
                    rest &= rest - 1;
                    CpuId((index * 64) as u16 + bit as u16)
                })
            })
        })
    }
    /// CPUs in both.
    pub fn and(&self, other: &CpuSet) -> CpuSet {
        let both = self.words.iter().zip(&other.words).map(|(word, other)| word & other);
        let mut both = CpuSet { words: both.collect() };
        both.trim();
        both
    }
    /// CPUs in either.
    pub fn or(&self, other: &CpuSet) -> CpuSet {
        let mut either = self.clone();
        either.insert_all(other);
        either
    }
    /// Whether every CPU of `self` is in `other`.
    pub fn is_subset(&self, other: &CpuSet) -> bool {
        self.iter().all(|cpu| other.contains(cpu))
    }
    /// The bit words, lowest CPUs first, without zero words at the end.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Reads bitmaps as the kernel (`%*pb`) and hwloc write them: words of 32 bits in hexadecimal,
    /// highest first, separated by commas. `None` for bitmaps that are too large, such as hwloc's
    /// infinite ones, which begin with `0xf...f`.
    pub fn from_hex(text: &str) -> Option<CpuSet> {
        let mut set = CpuSet::new();
        for (index, word) in text.rsplit(',').enumerate() {
            let digits = word.strip_prefix("0x").unwrap_or(word);
            let bits = if digits.is_empty() { 0 } else { u32::from_str_radix(digits, 16).ok()? };
            for bit in (0..32).filter(|bit| bits >> bit & 1 == 1) {
                let cpu = index * 32 + bit;
                if cpu >= CpuId::LIMIT {
                    return None;
                }
                set.insert(CpuId(cpu as u16));
            }
        }
        Some(set)
    }

    /// Reads the kernel's list form: `0-3,8,10-11`. An empty text is the empty set.
    pub fn parse(text: &str) -> Option<CpuSet> {
        let mut set = CpuSet::new();
        for part in text.trim().split(',').filter(|part| !part.trim().is_empty()) {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let first: u16 = first.trim().parse().ok()?;
            let last: u16 = last.trim().parse().ok()?;
            if last < first || usize::from(last) >= CpuId::LIMIT {
                return None;
            }
            (first..=last).for_each(|cpu| set.insert(CpuId(cpu)));
        }
        Some(set)
    }
}

impl FromIterator<CpuId> for CpuSet {
    fn from_iter<I: IntoIterator<Item = CpuId>>(cpus: I) -> CpuSet {
        let mut set = CpuSet::new();
        cpus.into_iter().for_each(|cpu| set.insert(cpu));
        set
    }
}

/// The kernel's list form: `0-3,8`.
impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut cpus = self.iter().peekable();
        let mut text = String::new();
        while let Some(first) = cpus.next() {
            let mut last = first;
            while cpus.peek().is_some_and(|next| next.0 == last.0 + 1) {
                last = cpus.next().expect("peeked");
            }
            let comma = if text.is_empty() { "" } else { "," };
            text += &match first == last {
                true => format!("{comma}{first}"),
                false => format!("{comma}{first}-{last}"),
            };
        }
        f.pad(&text)
    }
}

impl fmt::Debug for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{self}}}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_lists_read_back_as_written() {
        for text in ["", "0", "0-3", "0-3,8,10-11", "63-64,127"] {
            assert_eq!(CpuSet::parse(text).expect(text).to_string(), text);
        }
        for bad in ["3-1", "a", "0-", "9999"] {
            assert_eq!(CpuSet::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn removing_leaves_equal_sets_equal() {
        let mut set = CpuSet::parse("1,200").expect("list");
        set.remove(CpuId(200));
        assert_eq!(set, CpuSet::parse("1").expect("list"));
        assert_eq!(set.len(), 1);
    }
}
