//! Weights of nice values, in the kernel's unit and in that of sched_ext.

/// The weight of nice 0, and the default of a group (`NICE_0_LOAD`).
pub const NICE_0: u64 = 1024;

/// `sched_prio_to_weight` (kernel/sched/core.c), from nice -20 to 19; each step is about a quarter.
const WEIGHTS: [u32; 40] = [
    88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, 9548, 7620, 6100, 4904,
    3906, 3121, 2501, 1991, 1586, 1277, 1024, 820, 655, 526, 423, 335, 272, 215, 172, 137, 110, 87,
    70, 56, 45, 36, 29, 23, 18, 15,
];

/// The kernel's weight of a nice value: 1024 for nice 0. A value outside the range counts as the
/// nearest in it.
pub fn weight(nice: i8) -> u64 {
    u64::from(WEIGHTS[(i16::from(nice).clamp(-20, 19) + 20) as usize])
}

/// The weight in sched_ext, `p->scx.weight`: 100 for nice 0. It is [`weight`] times 100 / 1024,
/// rounded to the nearest and clamped to 1..=10 000 (`sched_weight_to_cgroup`,
/// include/linux/sched/ext.h).
pub fn scx_weight(nice: i8) -> i64 {
    ((weight(nice) * 100 + NICE_0 / 2) / NICE_0).clamp(1, 10_000) as i64
}

/// A nice value with this [`scx_weight`], the one nearest to 0; `None` if no nice value has it.
pub fn with_scx_weight(weight: i64) -> Option<i8> {
    (-20..=19).filter(|&nice| scx_weight(nice) == weight).min_by_key(|nice| nice.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_of_nice_is_a_quarter_of_weight() {
        assert_eq!([-20, 0, 5, 19, 100].map(weight), [88761, 1024, 335, 15, 15]);
        for nice in -20..19 {
            let step = weight(nice) as f64 / weight(nice + 1) as f64;
            assert!((1.17..1.29).contains(&step), "{nice}: {step}");
        }
    }

    #[test]
    fn the_scx_weight_of_nice_0_is_100() {
        assert_eq!([-20, -1, 0, 1, 10, 19, 100].map(scx_weight), [8668, 125, 100, 80, 11, 1, 1]);
    }

    #[test]
    fn an_scx_weight_that_some_nice_value_has_comes_back() {
        for nice in -20..=19 {
            let weight = scx_weight(nice);
            assert_eq!(with_scx_weight(weight).map(scx_weight), Some(weight));
        }
        assert_eq!([100, 0, 7_777].map(with_scx_weight), [Some(0), None, None]);
    }
}
