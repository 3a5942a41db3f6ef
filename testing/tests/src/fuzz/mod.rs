//! Makes the cases of the fuzz tests: files that are nearly valid.
//!
//! Readers reject random bytes at once. So a case begins as a file of the encoders, or as a real
//! recording. It is damaged either as a whole, or piece by piece while it is written ([`Tamper`]):
//! then lengths and checksums around a damaged piece are right, compressed data decompresses, and a
//! reader finds the damage only deep inside.

mod own;

pub use crate::encode::{Tamper, mutate};
pub use own::tampered_wn;

use crate::Rng;
use crate::encode::{Family, tampered};

/// A damaged file of this family, from a seed. `real` are recordings of the same family.
pub fn case(family: Family, seed: u64, real: &[Vec<u8>]) -> Vec<u8> {
    let mut rng = Rng::new(seed);
    let steps = rng.pick(&[3, 20, 60]);
    let mut bytes = match rng.below(8) {
        0 if !real.is_empty() => real[rng.below(real.len())].clone(),
        1..=4 => tampered(family, rng.bits(), steps, Tamper::new(rng.bits())),
        _ => tampered(family, rng.bits(), steps, Tamper::NOT),
    };
    let other = match rng.one_in(4) {
        true => tampered(Family::ALL[rng.below(4)], rng.bits(), 10, Tamper::NOT),
        false => Vec::new(),
    };
    damage(&mut rng, &mut bytes, &other);
    bytes
}

/// A damaged one of `seeds`.
pub fn case_of(seeds: &[Vec<u8>], seed: u64) -> Vec<u8> {
    let mut rng = Rng::new(seed);
    let mut bytes = seeds[rng.below(seeds.len())].clone();
    let other = seeds[rng.below(seeds.len())].clone();
    damage(&mut rng, &mut bytes, &other);
    bytes
}

fn damage(rng: &mut Rng, bytes: &mut Vec<u8>, other: &[u8]) {
    for _ in 0..rng.pick(&[0, 1, 1, 2, 4, 16]) {
        mutate(rng, bytes, other);
    }
}
