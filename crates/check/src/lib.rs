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

pub use movable::{Movable, Pinned};
pub use recorder::{Recorder, is_recorders};
pub use report::is_cut;
pub use scope::Scope;
pub use wastenot_model::Distribution;

/// What is asked.
#[derive(Clone, Debug)]
pub struct Options {
    /// Only this time counts. It changes what is counted, never State.
    pub window: Window,
    /// Only these CPUs count, as places to wait and to be idle.
    pub cpus: Option<CpuSet>,
    /// Only these tasks count as waiting.
    pub tasks: Option<Vec<TaskId>>,
    /// Only violations whose longest idle stretch reaches this are listed; totals stay.
    pub longer_than: Span,
    /// A CPU may take this long to start a task after it was queued there.
    pub wake_grace: Span,
    /// What a CPU without any event is taken for.
    pub silent: Silent,
    /// A waiting task's CPU says nothing (sched_ext, one shared queue): idle CPUs with waiting
    /// tasks count as idle, and every waiting task is a candidate.
    pub shared_queue: bool,
    /// How many violations and episodes are kept, worst first.
    pub limit: usize,
    /// Whether each loss gets a cause.
    pub causes: bool,
    /// The node of the tree of causes whose stretches are listed; needs `causes`.
    pub of_cause: Option<&'static str>,
    /// Whether all that pictures mark is kept: every stretch of a violation, every episode.
    pub marks: bool,
    /// Whether of these the stretches are kept in which tasks waited, and their causes: there are
    /// far fewer than those of the CPUs that were idle meanwhile.
    pub waits_in_vain: bool,
    /// What moves cost on such a machine, where that is known.
    pub costs: Option<Costs>,
    /// The period and the confirmation time of the sanity checker.
    pub sanity: sanity::Rules,
}

impl Options {
    /// The time of `history` that counts.
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

/// The answers of one replay.
#[derive(Debug)]
pub struct Check {
    /// What was taken for granted about who may move.
    pub movable: Movable,
    /// Waste and wake delay.
    pub waste: waste::Figures,
    /// Tasks that are probably pinned: they never moved although they waited often while another
    /// CPU was idle. None where the source tells affinities.
    pub stayed_put: Vec<TaskId>,
    /// Waste without them, if there are any.
    pub without_probably_pinned: Option<waste::Figures>,
    /// How many waits over 1 ms began with being switched out runnable, and the waste in
    /// nanoseconds without them, if there are any and the source does not tell throttling.
    pub without_possibly_throttled: Option<(usize, u64)>,
    /// Violations, worst first.
    pub violations: violations::Violations,
    /// What quotas held back; `None` where the source does not tell throttling.
    pub throttled: Option<throttled::Throttled>,
    /// Why time was lost, where [`Options::causes`] asks for it.
    pub causes: Option<causes::Causes>,
    /// Waits and latencies.
    pub waits: waits::Waits,
    /// Moves.
    pub migrations: migrations::Migrations,
    /// Run-queue lengths.
    pub depth: depth::Depth,
    /// Wakeups by where they landed.
    pub placements: placements::Placements,
    /// SchedViz's totals.
    pub schedviz: schedviz::Totals,
    /// systing's total.
    pub systing: systing::Total,
    /// The sanity checker's verdicts.
    pub sanity: sanity::Verdicts,
    /// Events that contradict each other.
    pub contradictions: waste::Contradictions,
    /// What the hypervisor took from each CPU, in ns; `None` where nothing tells it.
    pub stolen: Option<BTreeMap<CpuId, u64>>,
    /// What each CPU spent on interrupts and softirqs, longest first; `None` where nothing tells
    /// it.
    pub interrupts: Option<Vec<interrupts::Served>>,
    /// The same of idle states, without what was served meanwhile.
    pub idle_states: Option<Vec<interrupts::Served>>,
    /// What ended the recording, where its file tells that and it lies in the counted time.
    pub trigger: Option<trigger::Trigger>,
}

/// Rows from which on a second replay takes longer than to wake a thread for it.
const MANY: usize = 10_000;

/// Asks everything of a History.
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
    // By value and not by reference: they lie side by side, at places that the compiler knows.
    let mut all = (
        (waste::With::new(waste, beside), throttled::Watch::new(history, &scope)),
        (
            (
                violations::Watch::new(history, &scope, &movable, options),
                (
                    waits::Watch::new(history, &scope),
                    migrations::Watch::new(history, &scope, options),
                ),
            ),
            (
                (depth::Watch::new(&scope), placements::Watch::new(history, &scope, &movable)),
                (
                    (
                        schedviz::Watch::new(&scope),
                        (systing::Watch::new(&scope), sanity.over(history, &scope, &movable)),
                    ),
                    waste::Contradictions::within(scope.window, history),
                ),
            ),
        ),
    );
    // A second thread may replay the same for half of them, which takes about as long.
    if rayon::current_num_threads() > 1 && history.len() >= MANY {
        let (one, other) = &mut all;
        rayon::join(
            || drop(replay(history, options.silent, one)),
            || drop(replay(history, options.silent, other)),
        );
    } else {
        replay(history, options.silent, &mut all);
    }
    let ((waste, throttled), ((violations, (waits, migrations)), (others, rest))) = all;
    let ((depth, placements), waste) = (others, waste.waste());
    let ((schedviz, (systing, _)), contradictions) = rest;
    let violations = violations.finish();
    let held_back = &violations.possibly_throttled;
    let without_possibly_throttled =
        (!held_back.is_empty()).then(|| (held_back.len(), waste.without(held_back)));
    let migrations = migrations.finish();
    let stayed_put = stayed_put(history, &violations, &migrations);
    let bare = Options { causes: false, ..options.clone() };
    // Who stayed put is known only at the end, so this is a replay of its own.
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

/// A task that waited so often while another CPU was idle and never moved is probably pinned.
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
