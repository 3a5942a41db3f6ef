//! The clock of recordings.

use rustix::time::{ClockId, Timespec, clock_gettime};
use wastenot_model::{Span, Time};

/// CLOCK_MONOTONIC, which `bpf_ktime_get_ns` reads.
pub(crate) fn now() -> Time {
    Time(nanoseconds(clock_gettime(ClockId::Monotonic)))
}

/// How long this machine has been suspended since it was booted: the clock stood still then.
pub(crate) fn suspended() -> Span {
    let boot = nanoseconds(clock_gettime(ClockId::Boottime));
    Span(boot.saturating_sub(now().0))
}

fn nanoseconds(time: Timespec) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
