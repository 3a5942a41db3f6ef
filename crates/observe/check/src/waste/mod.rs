//! Waste: CPU time that was idle while tasks that could have used it waited.
//!
//! # Definition
//! At an instant, a CPU is *idle* if it runs its idle task and no task waits on it. It is *waking*
//! if it runs its idle task and a task waits on it: then the task that has waited on it longest is
//! about to start. Every other waiting, movable task is a candidate. A task that a quota holds back
//! does not wait. `waste(t)` is the size of the largest matching between idle CPUs and candidates,
//! with an edge if the task may run on the CPU. The integral of `waste(t)` is CPU time.
//!
//! # Unknown CPUs and tasks
//! - An unknown CPU is neither idle nor busy. A task that waits on an unknown CPU may already run
//!   there, so it is not a candidate. The exception is a silent CPU: none of its events were lost,
//!   so no task can have started there.
//! - A task that waits at an unknown place (`unplaced`) may be about to start on any idle CPU, so
//!   it reduces the matching by one.
//! - If the source records only wakings, a woken task may not be queued yet, so it is not a
//!   candidate.
//!
//! `cpu_ns` is therefore a lower bound. `cpu_ns_max` counts unknown CPUs as idle, also a CPU on
//! which only such woken tasks seem to wait. It counts these tasks as candidates.
//!
//! While rows of a CPU are missing ([`wastenot_model::Missing`]), State accepts only waits that the
//! next row of the task confirms. `cpu_ns_max` then counts every CPU that is not known to be busy,
//! because tasks without any row may wait.
//!
//! # Source
//! SchedViz's "idle while overloaded" and the first invariant of "The Linux Scheduler: a Decade of
//! Wasted Cores" (Lozi et al., EuroSys 2016), made exact and affinity-aware.

mod affinity;
mod classes;
mod contradictions;
mod cores;
mod kind;
mod wanted;
mod watch;

use wastenot_model::{Carries, CpuId, CpuSet, History, Silent, Span, TaskId, Window, replay};

pub use self::affinity::{Kept, KeptTask};
pub use self::contradictions::Contradictions;
pub(crate) use self::wanted::With;
pub use self::watch::Waste;
use crate::causes::Causes;
use crate::{Distribution, Movable, Options, Scope};

/// The measured figures.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// The counted time.
    pub span_ns: u64,
    /// Number of CPUs that count.
    pub cpus: usize,
    /// Integral of waste(t): a lower bound where something is unknown.
    pub cpu_ns: u64,
    /// The same if unknown CPUs are idle and unplaced tasks wait on busy CPUs: an upper bound.
    pub cpu_ns_max: u64,
    /// The value of `cpu_ns` if silent CPUs are idle; equal to `cpu_ns` if no CPU is silent and
    /// unknown.
    pub cpu_ns_silent_idle: u64,
    /// The part of `cpu_ns` that whole idle cores could have used, with one task per core; `None`
    /// if cores are unknown.
    pub(crate) whole_core_ns: Option<u64>,
    /// `cpu_ns` in units of the largest CPU's capacity, at least; `None` if all CPUs are equal.
    pub(crate) capacity_ns: Option<u64>,
    /// CPU time during which counted CPUs were idle, waking or busy.
    pub known_ns: u64,
    /// CPU time during which counted CPUs were not offline.
    pub online_ns: u64,
    /// Idle CPU time, including waking CPUs.
    pub idle_ns: u64,
    /// CPU time during which a task ran.
    pub busy_ns: u64,
    /// The part of `busy_ns` in which `SCHED_IDLE` tasks ran.
    pub(crate) idle_policy_ns: u64,
    /// Integral of the number of tasks waiting at a known place.
    pub wait_ns: u64,
    /// Integral of the number of tasks waiting at an unknown place.
    pub unplaced_ns: u64,
    /// Elapsed time during which waste(t) was above zero.
    pub(crate) wasteful_ns: u64,
    /// Maximal stretches with waste(t) above zero.
    pub episodes: u64,
    /// The longest of these stretches.
    pub longest_ns: u64,
    /// The lengths of all these stretches.
    pub lengths: Distribution,
    /// The worst of these stretches, by wasted CPU time.
    pub worst: Vec<Episode>,
    /// The windows of these stretches in order, if [`Options::marks`] is set.
    pub marks: Vec<Window>,
    /// The wake delay.
    pub wake_delay: WakeDelay,
    /// CPUs that were silent and unknown.
    pub silent: CpuSet,
    /// Idle time that affinities kept from waiting tasks; `None` if the source has no affinities.
    pub kept: Option<Kept>,
    /// The causes of lost time without quotas, if [`Options::causes`] is set.
    pub causes: Option<Causes>,
}

/// Time during which CPUs ran their idle task although a task was queued on them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WakeDelay {
    /// Integral of the number of waking CPUs.
    pub cpu_ns: u64,
    /// The number of stretches.
    pub count: u64,
    /// The longest stretch.
    pub longest_ns: u64,
    /// The lengths of all stretches.
    pub lengths: Distribution,
    /// The stretches longer than the grace time, the worst first. Reasons are a lost wakeup, a late
    /// interrupt or vCPU, deep or forced idle.
    pub not_started: Vec<NotStarted>,
    /// The number of stretches longer than the grace time.
    pub not_started_count: u64,
    /// The part in stretches above 1 ms for tasks that were switched out while runnable. A quota
    /// may have held these tasks back. `None` if the source records throttling.
    pub possibly_throttled_ns: Option<u64>,
}

/// A maximal stretch with waste above zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Episode {
    /// The window of the episode.
    pub window: Window,
    /// The CPU time wasted in the episode.
    pub cpu_ns: u64,
    /// The largest waste(t) in the episode.
    pub cpus_max: u32,
}

/// A CPU that did not start a task that waited on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotStarted {
    /// The CPU.
    pub cpu: CpuId,
    /// The task that had waited on it longest.
    pub task: TaskId,
    /// The window of the stretch.
    pub window: Window,
    /// A quota may have held the task back: the task was switched out while runnable, and the
    /// source does not record throttling.
    pub possibly_throttled: bool,
}

/// A task may be throttled if it waits longer than this after it was switched out while runnable.
pub(crate) const THROTTLED_ABOVE: Span = Span::ms(1);

impl Figures {
    /// Waste as a share of the known CPU time.
    pub fn share(&self) -> f64 {
        ratio(self.cpu_ns, self.known_ns)
    }
    /// The known share of the online CPU time.
    pub(crate) fn known_share(&self) -> f64 {
        if self.online_ns == 0 { 1.0 } else { ratio(self.known_ns, self.online_ns) }
    }
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Measures waste alone.
pub fn measure(history: &History, options: &Options) -> Figures {
    measure_with(history, options, &Movable::survey(history))
}

/// Measures waste alone, with these assumptions about movable tasks.
pub(crate) fn measure_with(history: &History, options: &Options, movable: &Movable) -> Figures {
    let scope = Scope::new(history, options);
    let mut waste = Waste::new(history, &scope, movable, options);
    replay(history, options.silent, &mut waste);
    waste.finish()
}

/// The assumptions behind the figures of this History, one sentence each.
pub(crate) fn assumptions(history: &History, movable: &Movable, options: &Options) -> Vec<String> {
    let carries = history.head.carries;
    let mut lines = Vec::new();
    if !carries.has(Carries::AFFINITY) {
        lines.push(format!(
            "The trace does not contain affinities. A kernel thread counts as pinned if it has \
             the number of a CPU in its name and ran only on this CPU. This applies to {} of {} \
             tasks. All other tasks count as free to run on any CPU.",
            movable.pinned_count(),
            history.task_count()
        ));
    }
    if !carries.has(Carries::THROTTLING) {
        lines.push(
            "The trace does not record throttling, so a task that a quota holds back looks like \
             a waiting task."
                .to_owned(),
        );
    }
    if !carries.has(Carries::PLACEMENT) {
        lines.push(
            "The trace does not record where woken tasks are queued (no sched_wakeup, or no \
             sched_migrate_task). A woken task may be about to start on any idle CPU."
                .to_owned(),
        );
    } else if !carries.has(Carries::WAKEUPS) {
        lines.push(
            "The trace contains sched_waking but no sched_wakeup. Waits therefore include the \
             wakeup itself: about 1 us, but much longer on emulated CPUs. Waste of a woken task \
             counts only in the upper bound."
                .to_owned(),
        );
    }
    if carries.lacks_moves() {
        lines.push(
            "The trace contains no migration events (sched_migrate_task). A wait counts only if \
             the task started on the CPU where it was queued."
                .to_owned(),
        );
    }
    if carries.lacks_new() {
        lines.push(
            "The trace contains no wakeups of new tasks (sched_wakeup_new). If a CPU starts a task \
             that has no earlier events, the last millisecond before the start counts as wake \
             delay."
                .to_owned(),
        );
    }
    if options.shared_queue {
        lines.push(
            "Queues are shared, so the CPU of a waiting task is only nominal: any CPU may start \
             the task."
                .to_owned(),
        );
    }
    if options.silent == Silent::Idle {
        lines.push("CPUs without any context switch count as idle.".to_owned());
    }
    lines
}
