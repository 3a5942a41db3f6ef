//! The clock of recordings.

use rustix::time::{ClockId, Timespec, clock_gettime};
use wastenot_model::{Loss, LossKind, Span, Time};

/// CLOCK_MONOTONIC, which `bpf_ktime_get_ns` reads.
pub fn now() -> Time {
    Time(nanoseconds(clock_gettime(ClockId::Monotonic)))
}

/// How long the machine was suspended before the recording began: the clock stops during
/// suspension.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Suspended(Span);

impl Suspended {
    /// From boot until now.
    pub(crate) fn so_far() -> Suspended {
        let boot = nanoseconds(clock_gettime(ClockId::Boottime));
        Suspended(Span(boot.saturating_sub(now().0)))
    }

    /// The loss to report if the machine was suspended since.
    pub(crate) fn loss(self) -> Option<Loss> {
        let slept = Span(Suspended::so_far().0.0.saturating_sub(self.0.0));
        let note =
            format!("the machine was suspended for {slept}; the trace clock did not advance");
        (slept > Span::ms(1)).then(|| Loss::new(LossKind::Unread, note))
    }
}

/// CPU time that this process has used.
pub(crate) fn own_cpu() -> Span {
    Span(nanoseconds(clock_gettime(ClockId::ProcessCPUTime)))
}

/// Milliseconds since 1970 by this machine's wall clock.
pub(crate) fn unix_ms() -> u64 {
    nanoseconds(clock_gettime(ClockId::Realtime)) / 1_000_000
}

pub(crate) fn timespec(span: Span) -> Timespec {
    Timespec { tv_sec: (span.0 / 1_000_000_000) as i64, tv_nsec: (span.0 % 1_000_000_000) as i64 }
}

fn nanoseconds(time: Timespec) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
