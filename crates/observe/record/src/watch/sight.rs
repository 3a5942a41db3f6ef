//! The parameters of the timer in the kernel, and its figures.

use wastenot_model::{Span, Time};

/// When to look and what to report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rhythm {
    /// The interval between two looks.
    pub(crate) look: Span,
    /// The interval between two reports.
    pub(crate) period: Span,
    /// A CPU counts if it was idle at this many consecutive looks.
    pub(crate) idle_looks: u32,
    /// And it counts only while tasks waited at this many consecutive looks.
    pub(crate) wait_looks: u32,
    /// A report needs this many consecutive looks that found something.
    pub(crate) tell_looks: u32,
    /// Look at no CPU: measures the cost of the rest of a look.
    pub(crate) blind: bool,
}

/// Consecutive looks that found an idle CPU beside waiting tasks, as in `bpf/sight.h`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// The first of them.
    pub since: Time,
    /// The last of them so far.
    pub until: Time,
    /// How many.
    pub looks: u64,
    /// The smaller of idle CPUs and waiting tasks, integrated over time. Some of the tasks may be
    /// pinned or throttled: only State can decide.
    pub cpu_ns: u64,
}

/// The figures so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// When the last look was; the origin of the clock if there was none.
    pub now: Time,
    /// How many looks.
    pub looks: u64,
    /// The time spent in looks.
    pub(crate) looking_ns: u64,
    /// Looks that found an idle CPU beside waiting tasks.
    pub(crate) suspect_looks: u64,
    /// As [`Run::cpu_ns`], over all looks.
    pub(crate) suspect_cpu_ns: u64,
    /// Idle CPUs at the last look; if no task waited, offline ones too.
    pub idle: u64,
    /// Waiting tasks at the last look.
    pub waiting: u64,
    /// The consecutive looks that go on; all zero if the last ones found nothing.
    pub run: Run,
    /// The consecutive looks before those.
    pub last: Run,
}
