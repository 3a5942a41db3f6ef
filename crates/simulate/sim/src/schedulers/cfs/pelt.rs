//! Per-entity load tracking: the recent load of an entity (kernel/sched/pelt.c, v4.3 and later).
//!
//! Time is cut into periods of 1024 µs (of 1024 ns each, as the kernel counts), and a contribution
//! n periods ago counts y^n, where y^32 = 0.5. An entity that is always runnable has a sum of 47
//! 742.

/// The maximum sum, that of an entity that is always runnable (`LOAD_AVG_MAX`).
pub(super) const MAX: u64 = 47_742;
/// Length of a period, in units of 1024 ns.
const PERIOD: u64 = 1024;
/// Periods after which a sum has halved.
const HALF: u64 = 32;

/// y^n in 32 bits of fraction.
const DECAY: [u64; HALF as usize] = [
    0xffff_ffff,
    0xfa83_b2da,
    0xf525_7d14,
    0xefe4_b99a,
    0xeac0_c6e6,
    0xe5b9_06e6,
    0xe0cc_deeb,
    0xdbfb_b796,
    0xd744_fcc9,
    0xd2a8_1d91,
    0xce24_8c14,
    0xc9b9_bd85,
    0xc567_2a10,
    0xc12c_4cc9,
    0xbd08_a39e,
    0xb8fb_af46,
    0xb504_f333,
    0xb123_f581,
    0xad58_3ee9,
    0xa9a1_5ab4,
    0xa5fe_d6a9,
    0xa270_4302,
    0x9ef5_325f,
    0x9b8d_39b9,
    0x9837_f050,
    0x94f4_efa8,
    0x91c3_d373,
    0x8ea4_398a,
    0x8b95_c1e3,
    0x8898_0e80,
    0x85aa_c367,
    0x82cd_8698,
];

/// Decaying sums of one entity or queue, and the averages computed from them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Average {
    /// The time up to which they are accounted, in ns; a multiple of 1024.
    pub(super) last: u64,
    /// How much of the present period is over, in units of 1024 ns.
    part: u64,
    /// Weight, or runnable state, over time.
    pub(super) load_sum: u64,
    /// Number of runnable tasks, over time.
    runnable_sum: u64,
    /// Running time.
    util_sum: u64,
    /// Average load.
    pub(super) load: u64,
    /// Average number of runnable tasks, times 1024.
    pub(super) runnable: u64,
    /// Average share of time spent running, of 1024.
    pub(super) util: u64,
}

impl Average {
    /// The average of a new entity at `now`, assumed to be always runnable: nothing better is
    /// known.
    pub(super) fn full(now: u64, weight: u64) -> Average {
        let last = now & !(PERIOD - 1);
        Average { last, load_sum: MAX, load: weight, ..Average::default() }
    }

    /// The maximum possible sum at this moment.
    fn divider(&self) -> u64 {
        MAX - PERIOD + self.part
    }

    /// Accounts for the time up to `now`, in which `load`, `runnable` and `running` held. Returns
    /// whether a period has ended, so that the averages are due.
    #[inline]
    pub(super) fn advance(&mut self, now: u64, load: u64, runnable: u64, running: bool) -> bool {
        let delta = now.saturating_sub(self.last) / 1024;
        if delta == 0 {
            return false;
        }
        self.last += delta * 1024;
        let whole = self.part + delta;
        let periods = whole / PERIOD;
        let mut contribution = delta;
        if periods > 0 {
            self.decay(periods);
            // The rest of the period that had begun, the whole ones, and the one that begins.
            let first = decayed(PERIOD - self.part, periods);
            let between = MAX - decayed(MAX, periods) - PERIOD;
            contribution = first + between + whole % PERIOD;
        }
        self.part = whole % PERIOD;
        self.load_sum += load * contribution;
        self.runnable_sum += runnable * contribution;
        self.util_sum += if running { contribution } else { 0 };
        periods > 0
    }

    /// The averages of an entity of `weight`, whose `load_sum` counts its runnable state.
    #[inline]
    pub(super) fn settle_entity(&mut self, weight: u64) {
        let divider = self.divider();
        self.load = weight * self.load_sum / divider;
        self.util = 1024 * self.util_sum / divider;
    }
    /// The averages of a queue, whose `load_sum` counts weights.
    #[inline]
    pub(super) fn settle_queue(&mut self) {
        let divider = self.divider();
        self.load = self.load_sum / divider;
        self.runnable = 1024 * self.runnable_sum / divider;
        self.util = 1024 * self.util_sum / divider;
    }

    /// Adds the load history of an entity of `weight` to a queue.
    pub(super) fn attach(&mut self, entity: &Average, weight: u64) {
        self.load += entity.load;
        self.load_sum += weight * entity.load_sum;
        self.util += entity.util;
        self.util_sum += entity.util_sum;
    }
    /// Removes the load history of an entity of `weight` from a queue. Rounding never goes below
    /// zero.
    pub(super) fn detach(&mut self, entity: &Average, weight: u64) {
        self.load = self.load.saturating_sub(entity.load);
        self.load_sum = self.load_sum.saturating_sub(weight * entity.load_sum);
        self.util = self.util.saturating_sub(entity.util);
        self.util_sum = self.util_sum.saturating_sub(entity.util_sum);
    }
    /// Adds the running time of a task to a queue above its own, or removes it.
    pub(super) fn move_util(&mut self, entity: &Average, came: bool) {
        let (util, sum) = (entity.util, entity.util_sum);
        if came {
            (self.util, self.util_sum) = (self.util + util, self.util_sum + sum);
        } else {
            self.util = self.util.saturating_sub(util);
            self.util_sum = self.util_sum.saturating_sub(sum);
        }
    }
    /// Sets the runnable sum of a group entity anew, as tasks with a load history come and go.
    pub(super) fn set_presence(&mut self, sum: u64, weight: u64) {
        self.load_sum = sum.min(self.divider());
        self.load = weight * self.load_sum / self.divider();
    }

    fn decay(&mut self, periods: u64) {
        self.load_sum = decayed(self.load_sum, periods);
        self.runnable_sum = decayed(self.runnable_sum, periods);
        self.util_sum = decayed(self.util_sum, periods);
    }
}

/// `value * y^periods`.
#[inline]
pub(super) fn decayed(value: u64, periods: u64) -> u64 {
    let halvings = periods / HALF;
    if halvings > 63 {
        return 0;
    }
    let rest = DECAY[(periods % HALF) as usize];
    let value = value >> halvings;
    if periods.is_multiple_of(HALF) {
        return value;
    }
    match value.checked_mul(rest) {
        Some(product) => product >> 32,
        None => ((u128::from(value) * u128::from(rest)) >> 32) as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_048_576;

    #[test]
    fn who_is_always_runnable_sums_to_the_maximum() {
        let mut average = Average::default();
        for period in 1..=2000 {
            average.advance(period * MS, 1, 1, true);
        }
        average.advance(2001 * MS - 1024, 1, 1, true);
        assert!(average.load_sum.abs_diff(MAX) < 50, "{}", average.load_sum);
        average.settle_entity(1024);
        assert!(average.load.abs_diff(1024) <= 1, "{}", average.load);
        assert_eq!(average.load, average.util);
    }

    #[test]
    fn load_halves_in_32_periods() {
        let mut average = Average::full(0, 1024);
        average.advance(32 * MS, 0, 0, false);
        assert_eq!(average.load_sum, MAX / 2);
        assert_eq!(decayed(1024, 64), 256);
        assert_eq!(decayed(1024, 64 * 32), 0);
    }

    #[test]
    fn one_long_step_is_as_good_as_many_short_ones() {
        let (mut long, mut short) = (Average::default(), Average::default());
        long.advance(50 * MS + 300_000, 1024, 1, true);
        for step in 1..=503 {
            short.advance(step * 100_000, 1024, 1, true);
        }
        short.advance(50 * MS + 300_000, 1024, 1, true);
        long.settle_queue();
        short.settle_queue();
        assert!(long.load.abs_diff(short.load) <= 2, "{} {}", long.load, short.load);
    }
}
