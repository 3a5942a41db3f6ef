//! Weights of nice values, and shares of time by weight (`sched_prio_to_weight`, `__calc_delta`).

/// The weight of nice 0, and the default of a group.
pub(super) const NICE_0: u64 = 1024;
/// The minimum weight of a group entity (`MIN_SHARES`).
pub(super) const MIN_SHARES: u64 = 2;

/// From nice -20 to 19; each step is about a quarter.
const OF_NICE: [u32; 40] = [
    88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, 9548, 7620, 6100, 4904,
    3906, 3121, 2501, 1991, 1586, 1277, 1024, 820, 655, 526, 423, 335, 272, 215, 172, 137, 110, 87,
    70, 56, 45, 36, 29, 23, 18, 15,
];

/// The weight of a nice value; outside the range, that of the nearest in it.
pub(super) fn of_nice(nice: i8) -> u64 {
    u64::from(OF_NICE[(i16::from(nice).clamp(-20, 19) + 20) as usize])
}

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
    fn a_step_of_nice_is_a_quarter_of_weight() {
        assert_eq!((of_nice(-20), of_nice(0), of_nice(5), of_nice(19)), (88761, 1024, 335, 15));
        for nice in -20..19 {
            let step = of_nice(nice) as f64 / of_nice(nice + 1) as f64;
            assert!((1.17..1.29).contains(&step), "{nice}: {step}");
        }
    }

    #[test]
    fn time_is_scaled_by_weight() {
        assert_eq!(scaled(1_000_000, 2048), 500_000);
        assert_eq!(share(u64::MAX, 1024, 2048), u64::MAX / 2);
    }
}
