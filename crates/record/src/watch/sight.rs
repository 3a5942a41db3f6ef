//! What the timer in the kernel is asked for and what it tells.

use wastenot_model::{Span, Time};

/// When to look and of what to tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rhythm {
    /// Between two looks.
    pub(crate) look: Span,
    /// Between two tellings of news.
    pub(crate) period: Span,
    /// A CPU counts that was idle at so many looks in a row.
    pub(crate) idle_looks: u32,
    /// And it counts only while tasks waited at so many looks in a row.
    pub(crate) wait_looks: u32,
    /// News is what so many looks in a row have found.
    pub(crate) tell_looks: u32,
    /// Look at no CPU: what the rest of a look costs.
    pub(crate) blind: bool,
}

/// Looks in a row that found an idle CPU beside waiting tasks, as `bpf/sight.h` has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// The first of them.
    pub since: Time,
    /// The last of them so far.
    pub until: Time,
    /// How many.
    pub looks: u64,
    /// The smaller of idle CPUs and waiting tasks, integrated over time. Some of them may be
    /// pinned or throttled: only State can tell.
    pub cpu_ns: u64,
}

/// What was seen so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// When the last look was; the origin of the clock if there was none.
    pub now: Time,
    /// Looks.
    pub looks: u64,
    /// Spent in looks.
    pub looking_ns: u64,
    /// Looks that found an idle CPU beside waiting tasks.
    pub suspect_looks: u64,
    /// As [`Run::cpu_ns`], of all looks.
    pub suspect_cpu_ns: u64,
    /// Idle CPUs at the last look; where nothing waited, offline ones too.
    pub idle: u64,
    /// Waiting tasks at the last look.
    pub waiting: u64,
    /// The looks in a row that go on; all zero when the last ones found nothing.
    pub run: Run,
    /// The looks in a row before those.
    pub last: Run,
}
