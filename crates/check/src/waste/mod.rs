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
    /// The same with unknown CPUs idle and unplaced tasks waiting on busy CPUs.
    pub cpu_ns_max: u64,
    /// The same as `cpu_ns` with silent CPUs idle; equal to it when no CPU is silent and unknown.
    pub cpu_ns_silent_idle: u64,
    /// The part of `cpu_ns` that whole idle cores could have taken, one task a core; `None` when
    /// cores are not known.
    pub whole_core_ns: Option<u64>,
    /// `cpu_ns` in units of the largest CPU's capacity, at least; `None` when all are alike.
    pub capacity_ns: Option<u64>,
    /// CPU time of counted CPUs that were idle, waking or busy.
    pub known_ns: u64,
    /// CPU time of counted CPUs that were not offline.
    pub online_ns: u64,
    /// CPU time that was idle, waking included.
    pub idle_ns: u64,
    /// CPU time in which a task ran.
    pub busy_ns: u64,
    /// The part of `busy_ns` in which `SCHED_IDLE` tasks ran.
    pub idle_policy_ns: u64,
    /// Integral of the number of waiting tasks of which the place is known.
    pub wait_ns: u64,
    /// Integral of the number of tasks waiting at an unknown place.
    pub unplaced_ns: u64,
    /// Time in which waste(t) was above zero.
    pub wasteful_ns: u64,
    /// Maximal stretches with waste(t) above zero.
    pub episodes: u64,
    /// The longest of them.
    pub longest_ns: u64,
    /// Lengths of all of them.
    pub lengths: Distribution,
    /// The worst of them, by CPU time wasted.
    pub worst: Vec<Episode>,
    /// When they were, where [`Options::marks`] asks for it; in order.
    pub marks: Vec<Window>,
    /// Waking CPUs, integrated.
    pub wake_delay: WakeDelay,
    /// CPUs that were silent and unknown.
    pub silent: CpuSet,
    /// What affinities kept from tasks that waited; `None` where the source does not tell them.
    pub kept: Option<Kept>,
    /// Why it was lost, where [`Options::causes`] asks for it; quotas are not in it.
    pub causes: Option<Causes>,
}

/// CPUs that ran their idle task although a task was queued on them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WakeDelay {
    /// Integral of the number of waking CPUs.
    pub cpu_ns: u64,
    /// How many stretches there were.
    pub count: u64,
    /// The longest.
    pub longest_ns: u64,
    /// Lengths of all.
    pub lengths: Distribution,
    /// Those that lasted longer than the grace, worst first: a lost wakeup, a late interrupt or
    /// vCPU, deep or forced idle.
    pub not_started: Vec<NotStarted>,
    /// How many lasted longer than the grace.
    pub not_started_count: u64,
    /// The part in stretches above 1 ms for tasks that were switched out runnable, so that a quota
    /// may have held them back; `None` where the source tells throttling.
    pub possibly_throttled_ns: Option<u64>,
}

/// A maximal stretch with waste above zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Episode {
    /// From and to.
    pub window: Window,
    /// CPU time wasted in it.
    pub cpu_ns: u64,
    /// The largest waste(t) in it.
    pub cpus_max: u32,
}

/// A CPU that did not start the task that waited on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotStarted {
    /// The CPU.
    pub cpu: CpuId,
    /// The task that had waited on it longest.
    pub task: TaskId,
    /// From and to.
    pub window: Window,
    /// A quota may have held the task back: it was switched out runnable, and the source does not
    /// tell throttling.
    pub possibly_throttled: bool,
}

/// A task that waits longer than this after it was switched out runnable may be throttled.
pub(crate) const THROTTLED_ABOVE: Span = Span::ms(1);

impl Figures {
    /// Waste as a part of known CPU time.
    pub fn share(&self) -> f64 {
        ratio(self.cpu_ns, self.known_ns)
    }
    /// The part of online CPU time of which it is known what the CPU did.
    pub fn known_share(&self) -> f64 {
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

/// Measures waste alone, under these assumptions of who may move.
pub fn measure_with(history: &History, options: &Options, movable: &Movable) -> Figures {
    let scope = Scope::new(history, options);
    let mut waste = Waste::new(history, &scope, movable, options);
    replay(history, options.silent, &mut waste);
    waste.finish()
}

/// What has to be said of figures about this History, one sentence each.
pub(crate) fn assumptions(history: &History, movable: &Movable, options: &Options) -> Vec<String> {
    let carries = history.head.carries;
    let mut lines = Vec::new();
    if !carries.has(Carries::AFFINITY) {
        lines.push(format!(
            "The trace does not contain affinities. A kernel thread counts as pinned if it has \
             the number of a CPU in its name and ran only there ({} of {} tasks). All other \
             tasks count as free to run on any CPU.",
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
            "The trace contains sched_waking but no sched_wakeup. Waits therefore begin too early \
             by the duration of a wakeup: about 1 us, but much more on emulated CPUs. Waste of a \
             woken task counts only in the upper bound."
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
             without earlier events, the last millisecond before the start counts as wake delay."
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
        lines.push("CPUs without any switch count as idle.".to_owned());
    }
    lines
}
