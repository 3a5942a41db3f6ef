//! Checks of a trace: wasted CPU time, its causes, and the tasks that lost it.
//!
//! Each finding is an [`Observer`](wastenot_model::Observer) of State in a file of its own:
//!
//! | file | result |
//! |---|---|
//! | [`waste`] | CPU time that was idle while tasks that could use it waited |
//! | [`causes`] | the causes of lost time |
//! | [`violations`] | each wait during which a usable CPU was idle |
//! | [`marks`] | the marks of violations in pictures |
//! | [`throttled`] | time for which quotas held tasks back |
//! | [`interrupts`] | CPU time of interrupts, softirqs and idle states |
//! | [`waits`] | waits and wakeup latencies, for each task and CPU |
//! | [`migrations`] | migrations: distance, reason and effect |
//! | [`depth`] | lengths of run queues |
//! | [`placements`] | wakeups onto a busy CPU while an allowed CPU was idle |
//! | [`schedviz`], [`systing`], [`sanity`] | figures of other tools |
//! | [`stall`] | the content of a sched_ext dump |
//! | `sched_ext` | the presence of a sched_ext scheduler |
//! | [`trigger`] | the wait or episode that ended a flight recording |
//! | [`budget`] | a comparison of waste with a stated bound |
//! | [`compare`] | differences between runs |
//! | [`account`] | the critical path of some tasks |
//!
//! [`check`] runs all of them in one replay, and [`Check::report`] returns the results.

pub mod account;
pub mod budget;
pub mod causes;
pub mod compare;
pub mod depth;
mod idle;
pub mod interrupts;
pub mod marks;
mod matching;
pub mod migrations;
pub mod movable;
mod observers;
pub mod placements;
mod recorder;
mod report;
pub mod sanity;
mod sched_ext;
pub mod schedviz;
mod scope;
pub mod stall;
mod stolen;
pub mod systing;
pub mod throttled;
pub mod trigger;
pub mod violations;
pub mod waits;
pub mod waste;
mod worst;

use std::collections::BTreeMap;

use wastenot_model::machine::Costs;
use wastenot_model::{
    Beside, Carries, CpuId, CpuSet, History, Silent, Span, TaskId, Window, replay,
};

use crate::interrupts::Occupied;
use crate::observers::{Lost, Others};

pub use movable::{Movable, Pinned};
pub use recorder::{Recorder, is_recorders};
pub use report::is_cut;
pub use scope::Scope;
pub use wastenot_model::Distribution;

/// The options of a check.
#[derive(Clone, Debug)]
pub struct Options {
    /// Only this window counts. It limits the figures, never State.
    pub window: Window,
    /// Only waits and idle time on these CPUs count.
    pub cpus: Option<CpuSet>,
    /// Only waits of these tasks count.
    pub tasks: Option<Vec<TaskId>>,
    /// Only violations with an idle stretch of at least this length are listed; totals stay.
    pub longer_than: Span,
    /// The time that a CPU may take to start a task that was queued on it.
    pub wake_grace: Span,
    /// The assumed state of a CPU without any event.
    pub silent: Silent,
    /// The CPU of a waiting task means nothing (sched_ext, one shared queue). So idle CPUs with
    /// waiting tasks count as idle, and every waiting task is a candidate.
    pub shared_queue: bool,
    /// The number of violations and episodes to keep, the worst first.
    pub limit: usize,
    /// Find a cause for each loss.
    pub causes: bool,
    /// List the stretches of this node in the tree of causes; needs `causes`.
    pub of_cause: Option<&'static str>,
    /// Keep all marks of pictures: every stretch of a violation, every episode.
    pub marks: bool,
    /// Of these marks, keep only the stretches in which tasks waited, and their causes. These are
    /// far fewer than the stretches of idle CPUs.
    pub waits_in_vain: bool,
    /// The costs of migrations on such a machine, if they are known.
    pub costs: Option<Costs>,
    /// The period and the confirmation time of the sanity checker.
    pub sanity: sanity::Rules,
}

impl Options {
    /// The part of `history` that counts.
    pub fn counted(&self, history: &History) -> Window {
        let recorded = history.window();
        let from = self.window.from.max(recorded.from);
        Window { from, to: self.window.to.min(recorded.to).max(from) }
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            window: Window::ALL,
            cpus: None,
            tasks: None,
            longer_than: Span::ZERO,
            wake_grace: Span::ms(1),
            silent: Silent::Unknown,
            shared_queue: false,
            limit: 1000,
            causes: true,
            of_cause: None,
            marks: false,
            waits_in_vain: false,
            costs: None,
            sanity: sanity::Rules::default(),
        }
    }
}

/// The results of one replay.
#[derive(Debug)]
pub struct Check {
    /// The assumptions about movable tasks.
    pub movable: Movable,
    /// Waste and wake delay.
    pub waste: waste::Figures,
    /// Tasks that are probably pinned: they never moved although they often waited while another
    /// CPU was idle. Empty if the source records affinities.
    pub stayed_put: Vec<TaskId>,
    /// Waste without these tasks, if there are any.
    pub without_probably_pinned: Option<waste::Figures>,
    /// The number of waits above 1 ms that began when a runnable task was switched out, and the
    /// waste without them in nanoseconds. `None` without such waits, or if the source records
    /// throttling.
    pub without_possibly_throttled: Option<(usize, u64)>,
    /// Violations, worst first.
    pub violations: violations::Violations,
    /// The time that quotas held tasks back; `None` if the source does not record throttling.
    pub throttled: Option<throttled::Throttled>,
    /// The causes of lost time, if [`Options::causes`] is set.
    pub causes: Option<causes::Causes>,
    /// Waits and latencies.
    pub waits: waits::Waits,
    /// Migrations.
    pub migrations: migrations::Migrations,
    /// Run-queue lengths.
    pub depth: depth::Depth,
    /// Wakeups by the state of the selected CPU.
    pub placements: placements::Placements,
    /// SchedViz's totals.
    pub schedviz: schedviz::Totals,
    /// systing's total.
    pub systing: systing::Total,
    /// The sanity checker's verdicts.
    pub sanity: sanity::Verdicts,
    /// Events that contradict each other.
    pub contradictions: waste::Contradictions,
    /// The time that the hypervisor took from each CPU, in ns; `None` if it was not recorded.
    pub stolen: Option<BTreeMap<CpuId, u64>>,
    /// The time of each CPU for interrupts and softirqs, longest first; `None` if it was not
    /// recorded.
    pub interrupts: Option<Vec<interrupts::Served>>,
    /// The same for idle states, without the time for interrupts and softirqs.
    pub idle_states: Option<Vec<interrupts::Served>>,
    /// The event that ended the recording, if the file contains it and it is in the counted time.
    pub trigger: Option<trigger::Trigger>,
}

/// With this many rows, a second replay takes longer than the wakeup of a thread for it.
const MANY: usize = 10_000;

/// Runs all analyses on a History.
pub fn check(history: &History, options: &Options) -> Check {
    check_beside(history, options, &mut ())
}

/// The same, with another analysis in the same replay.
pub fn check_beside(
    history: &History,
    options: &Options,
    beside: &mut (impl Beside + Send),
) -> Check {
    let movable = Movable::survey(history);
    let scope = Scope::new(history, options);
    let mut sanity = sanity::Checker::new(options.sanity, scope.window.from);
    let waste = waste::Waste::new(history, &scope, &movable, options);
    // By value and not by reference, so that the compiler knows their places in memory.
    let mut all = (
        Lost {
            waste: waste::With::new(waste, beside),
            throttled: throttled::Watch::new(history, &scope),
        },
        Others {
            violations: violations::Watch::new(history, &scope, &movable, options),
            waits: waits::Watch::new(history, &scope),
            migrations: migrations::Watch::new(history, &scope, options),
            depth: depth::Watch::new(&scope),
            placements: placements::Watch::new(history, &scope, &movable),
            schedviz: schedviz::Watch::new(&scope),
            systing: systing::Watch::new(&scope),
            sanity: sanity.over(history, &scope, &movable),
            contradictions: waste::Contradictions::within(scope.window, history),
        },
    );
    // A second thread may replay the same rows for half of the observers in parallel.
    if rayon::current_num_threads() > 1 && history.len() >= MANY {
        let (lost, others) = &mut all;
        rayon::join(
            || drop(replay(history, options.silent, lost)),
            || drop(replay(history, options.silent, others)),
        );
    } else {
        replay(history, options.silent, &mut all);
    }
    let (Lost { waste, throttled }, others) = all;
    let Others { violations, waits, migrations, depth, .. } = others;
    let Others { placements, schedviz, systing, contradictions, .. } = others;
    let (waste, violations) = (waste.waste(), violations.finish());
    let held_back = &violations.possibly_throttled;
    let without_possibly_throttled =
        (!held_back.is_empty()).then(|| (held_back.len(), waste.without(held_back)));
    let migrations = migrations.finish();
    let stayed_put = stayed_put(history, &violations, &migrations);
    let bare = Options { causes: false, ..options.clone() };
    // These tasks are known only at the end, so this needs another replay.
    let without_probably_pinned = (!stayed_put.is_empty())
        .then(|| waste::measure_with(history, &bare, &movable.with_probably_pinned(&stayed_put)));
    let (waste, throttled) = (waste.finish(), throttled.finish());
    let held_ns = throttled.as_ref().map_or(0, |found| found.all.held_ns);
    let causes = waste.causes.clone();
    Check {
        causes: causes.map(|causes| causes.with(causes::LostTime::Quota, held_ns)),
        waste,
        stayed_put,
        without_probably_pinned,
        without_possibly_throttled,
        violations,
        throttled,
        waits: waits.finish(),
        migrations,
        depth: depth.finish(),
        placements: placements.finish(),
        schedviz: schedviz.finish(),
        systing: systing.finish(),
        sanity: sanity.take(),
        contradictions,
        stolen: stolen::by_cpu(history, &scope),
        interrupts: Occupied::by_interrupts(history).map(|it| it.counted(&scope)),
        idle_states: Occupied::by_idle_states(history).map(|it| it.counted(&scope)),
        trigger: trigger::Trigger::of(history)
            .filter(|it| scope.window.clip(it.window.from, it.window.to).is_some()),
        movable,
    }
}

/// A task is probably pinned if it waited this often while another CPU was idle, and never moved.
const OFTEN: u64 = 20;

fn stayed_put(
    history: &History,
    violations: &violations::Violations,
    migrations: &migrations::Migrations,
) -> Vec<TaskId> {
    if history.head.carries.has(Carries::AFFINITY) {
        return Vec::new();
    }
    let often = violations.by_task.iter().filter(|(_, sum)| sum.count >= OFTEN);
    often.map(|(task, _)| *task).filter(|task| !migrations.moved(*task)).collect()
}
