//! Damage done to a piece before it is wrapped.

use super::mutate;
use crate::Rng;

/// Whether and how an encoder damages its pieces: sections before they are compressed, records
/// before they are counted. Equal values do equal damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tamper(Option<u64>);

impl Tamper {
    /// No damage.
    pub const NOT: Tamper = Tamper(None);

    /// The seed selects the damage.
    pub fn new(seed: u64) -> Tamper {
        Tamper(Some(seed))
    }

    /// Damages one piece in four; `place` distinguishes equal pieces of a file.
    pub fn piece(self, place: usize, bytes: &mut Vec<u8>) {
        let Some(seed) = self.0 else { return };
        let mut rng = Rng::new(seed ^ (place as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        if !rng.one_in(4) {
            return;
        }
        for _ in 0..1 + rng.below(3) {
            mutate(&mut rng, bytes, &[]);
        }
    }
}
