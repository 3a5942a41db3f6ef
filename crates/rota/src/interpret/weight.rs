//! Weights of tasks as in sched_ext: 100 for nice 0, a quarter more for each step below.
//!
//! `p->scx.weight` is the kernel's `sched_prio_to_weight` times 100 / 1024, rounded to the nearest
//! and clamped to 1..=10 000 (`sched_weight_to_cgroup`, include/linux/sched/ext.h).

/// The kernel's weights from nice -20 to 19.
const OF_NICE: [i64; 40] = [
    88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, 9548, 7620, 6100, 4904,
    3906, 3121, 2501, 1991, 1586, 1277, 1024, 820, 655, 526, 423, 335, 272, 215, 172, 137, 110, 87,
    70, 56, 45, 36, 29, 23, 18, 15,
];

/// The weight of a nice value; a value outside the range counts as the nearest in it.
pub(super) fn of_nice(nice: i8) -> i64 {
    let kernel = OF_NICE[(i16::from(nice).clamp(-20, 19) + 20) as usize];
    ((kernel * 100 + 512) / 1024).clamp(1, 10_000)
}

/// A nice value with this weight, the one nearest to 0; `None` if no nice value has it.
pub fn nice_of(weight: i64) -> Option<i8> {
    (-20..=19).filter(|&nice| of_nice(nice) == weight).min_by_key(|nice| nice.abs())
}

#[cfg(test)]
mod tests {
    use super::{nice_of, of_nice};

    #[test]
    fn the_weight_of_nice_0_is_100() {
        assert_eq!([-20, -1, 0, 1, 10, 19, 100].map(of_nice), [8668, 125, 100, 80, 11, 1, 1]);
    }

    #[test]
    fn a_weight_that_some_nice_value_has_comes_back() {
        for nice in -20..=19 {
            let weight = of_nice(nice);
            assert_eq!(nice_of(weight).map(of_nice), Some(weight));
        }
        assert_eq!([nice_of(100), nice_of(0), nice_of(7_777)], [Some(0), None, None]);
    }
}
