//! Shares of time by weight (`__calc_delta`).

use wastenot_model::nice::NICE_0;

/// The minimum weight of a group entity (`MIN_SHARES`).
pub(super) const MIN_SHARES: u64 = 2;

/// `delta` in the virtual time of an entity of `weight`: real time for nice 0, slower for heavier.
#[inline]
pub(super) fn scaled(delta: u64, weight: u64) -> u64 {
    if weight == NICE_0 { delta } else { share(delta, NICE_0, weight) }
}

/// `delta * part / whole`, for a `whole` of at least 1.
#[inline]
pub(super) fn share(delta: u64, part: u64, whole: u64) -> u64 {
    match delta.checked_mul(part) {
        Some(product) => product / whole.max(1),
        None => (u128::from(delta) * u128::from(part) / u128::from(whole.max(1))) as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_scaled_by_weight() {
        assert_eq!(scaled(1_000_000, 2048), 500_000);
        assert_eq!(share(u64::MAX, 1024, 2048), u64::MAX / 2);
    }
}
