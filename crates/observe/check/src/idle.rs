//! The recent times when each CPU was idle, as far back as an analysis may still need them.

use wastenot_model::{CpuId, Time, Window};

/// Idle stretches of all CPUs.
#[derive(Debug)]
pub(crate) struct IdleTimes {
    /// The latest stretch of each CPU, open while it lasts. Side by side, since of a large machine
    /// each must be looked at for every question.
    latest: Vec<Stretch>,
    /// The ones before it, in order.
    earlier: Vec<Vec<Stretch>>,
    count: u32,
    /// Time with any idle CPU, without what has passed since `any_since` if one is idle now.
    any_ns: u64,
    any_since: Time,
}

#[derive(Clone, Copy, Debug)]
struct Stretch {
    from: Time,
    /// `Time::MAX` while it lasts.
    to: Time,
}

const NEVER: Stretch = Stretch { from: Time(0), to: Time(0) };

/// Stretches of a CPU that are kept although no analysis can ask about them any more.
const KEPT: usize = 32;

impl IdleTimes {
    pub(crate) fn new(cpus: usize) -> IdleTimes {
        IdleTimes {
            latest: vec![NEVER; cpus],
            earlier: vec![Vec::new(); cpus],
            count: 0,
            any_ns: 0,
            any_since: Time(0),
        }
    }

    /// For how long any CPU was idle up to `now`. Over a wait in which it did not grow, none was.
    #[inline]
    pub(crate) fn any_ns(&self, now: Time) -> u64 {
        let open = if self.count > 0 { now.since(self.any_since).0 } else { 0 };
        self.any_ns + open
    }

    /// `cpu` is idle from now on, or is not. Unless an analysis `asks` about the time before now,
    /// that time is dropped.
    pub(crate) fn set(&mut self, cpu: CpuId, idle: bool, now: Time, asks: bool) {
        let latest = &mut self.latest[cpu.index()];
        if idle == (latest.to == Time::MAX) {
            return;
        }
        if idle {
            let before = std::mem::replace(latest, Stretch { from: now, to: Time::MAX });
            let earlier = &mut self.earlier[cpu.index()];
            if !asks && earlier.len() >= KEPT {
                earlier.clear();
            }
            if before.from < before.to {
                earlier.push(before);
            }
            if self.count == 0 {
                self.any_since = now;
            }
            self.count += 1;
        } else {
            latest.to = now.min(Time(Time::MAX.0 - 1)); // the largest means that it is idle
            self.any_ns = self.any_ns(now);
            self.any_since = now;
            self.count -= 1;
        }
    }

    /// Calls `each` with every stretch of `window` in which a CPU was idle, by CPU and in order.
    #[inline]
    pub(crate) fn during(&self, window: Window, mut each: impl FnMut(CpuId, Window)) {
        for (cpu, &latest) in self.latest.iter().enumerate() {
            if latest.to <= window.from {
                continue;
            }
            let mut tell = |stretch: Stretch| {
                if let Some((from, to)) = window.clip(stretch.from, stretch.to) {
                    each(CpuId(cpu as u16), Window { from, to });
                }
            };
            if latest.from > window.from {
                let earlier = &self.earlier[cpu];
                let first = earlier.partition_point(|stretch| stretch.to <= window.from);
                earlier[first..].iter().for_each(|stretch| tell(*stretch));
            }
            tell(latest);
        }
    }
}
