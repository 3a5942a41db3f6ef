//! Random numbers that are the same on every machine and in every later version.

use wastenot_model::workload::Random;

/// Draws of what tests vary.
#[derive(Clone, Debug)]
pub struct Rng(Random);

impl Rng {
    /// A separate stream for every seed.
    pub fn new(seed: u64) -> Rng {
        Rng(Random::new(seed))
    }
    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0.bits()
    }
    /// A number in `0..n`; 0 when `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        // The bias of the remainder is below 2^-40 for every n used here.
        if n == 0 { 0 } else { (self.bits() % n as u64) as usize }
    }
    /// True once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
    /// One of them.
    ///
    /// # Panics
    /// If there is nothing to pick from.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
    /// One of them, or `None` if there is none.
    pub fn choose<T>(&mut self, from: impl IntoIterator<Item = T>) -> Option<T> {
        let mut from: Vec<T> = from.into_iter().collect();
        let index = self.below(from.len());
        (index < from.len()).then(|| from.swap_remove(index))
    }
}
