//! Accounts: the time of some tasks, explained by their critical path.
//!
//! # Result
//! The account of some tasks covers an interval of the window. The interval begins with the window,
//! or when the first of the tasks is created, and ends at the last moment when one of them ran. The
//! path starts at the end of the interval and goes back in time. It follows a task through its runs
//! and waits. If the task slept and another task woke it, the path follows the waker back to the
//! beginning of the sleep, and then follows the sleeper again. So the path passes through threads,
//! pipes and locks. The walk ends because each step goes back in time. Each nanosecond is in one
//! step of one [`Kind`], so the parts sum to the interval.
//!
//! # Unknown time
//! Time is [`Kind::Unknown`] if the source does not record who woke a task, or what the task did
//! (before its first event, after a loss). The path does not follow a waker that cannot have run at
//! that time.
//!
//! # Source
//! Giraldeau and Dagenais, "Wait analysis of distributed systems using kernel tracing", IEEE TPDS
//! 2016. This is their analysis within one machine. [`crate::causes`] explains why a task waited
//!       for a CPU.

mod apart;
mod every;
mod meanwhile;
mod report;
mod waits;
mod walk;
mod watch;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use wastenot_model::{CpuId, CpuSet, History, Loss, TaskId, Window, replay};

pub use self::apart::Apart;
pub use self::every::{Activation, Every};
pub use self::meanwhile::Meanwhile;
use self::waits::Reasons;
use self::watch::{Is, Sight, Watch};
use crate::waste::{Contradictions, Waste, assumptions};
use crate::{Movable, Options, Scope};

/// The question for an account.
#[derive(Clone, Debug)]
pub struct Question {
    /// The selected tasks.
    pub tasks: Vec<TaskId>,
    /// The window.
    pub window: Window,
    /// Account for each activation: from a wakeup to the next sleep.
    pub every: bool,
}

/// The kinds of time in an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A selected task ran.
    Run,
    /// Another task ran, and a selected task waited for it.
    RunOther,
    /// A selected task waited for a CPU.
    Wait,
    /// A task that a selected task waited for waited for a CPU.
    WaitOther,
    /// A task was woken and not queued yet, or its CPU was idle and about to start it.
    WakeDelay,
    /// A quota held a task back.
    Held,
    /// A task was blocked until an interrupt.
    Io,
    /// A task slept until an interrupt.
    TimerOrDevice,
    /// The source does not record it.
    Unknown,
}

impl Kind {
    /// All kinds, in the order of display.
    pub const ALL: [Kind; 9] = [
        Kind::Run,
        Kind::RunOther,
        Kind::Wait,
        Kind::WaitOther,
        Kind::WakeDelay,
        Kind::Held,
        Kind::Io,
        Kind::TimerOrDevice,
        Kind::Unknown,
    ];
    /// The name in tables and JSON.
    pub fn name(self) -> &'static str {
        const NAMES: [&str; 9] = [
            "run",
            "run-other",
            "wait",
            "wait-other",
            "wake-delay",
            "held",
            "io",
            "timer-or-device",
            "unknown",
        ];
        NAMES[self as usize]
    }
    /// Whether another schedule may reduce this time.
    fn is_wait(self) -> bool {
        matches!(self, Kind::Wait | Kind::WaitOther | Kind::WakeDelay | Kind::Held)
    }
}

/// The reason for a part of the time.
#[derive(Clone, Copy, Debug)]
pub struct Reason {
    /// The path of a cause, or a word.
    pub name: &'static str,
    /// The reason in words, as a clause that can follow "because".
    pub about: &'static str,
    /// Whether CPU time was wasted at that time and charged to this wait.
    pub is_waste: bool,
}

/// Names are unique.
impl PartialEq for Reason {
    fn eq(&self, other: &Reason) -> bool {
        self.name == other.name
    }
}

/// The reasons if no loss was charged.
mod reason {
    use super::Reason;

    const fn of(name: &'static str, about: &'static str) -> Reason {
        Reason { name, about, is_waste: false }
    }

    pub(super) const BUSY: Reason = of("busy", "all CPUs were busy");
    pub(super) const NONE_LEFT: Reason =
        of("none-left", "other tasks had waited longer for the idle CPUs that the task may use");
    pub(super) const AFFINITY: Reason =
        of("configuration/affinity", "its affinity excludes the idle CPUs");
    pub(super) const NOT_KNOWN: Reason =
        of("not-known", "a CPU with an unknown state may have been idle");
    pub(super) const WAKEUP: Reason = of("wakeup", "the kernel needs time to queue a woken task");
    pub(super) const STARTING: Reason = of("starting", "its CPU was about to start the task");
    pub(super) const NO_WAKER: Reason =
        of("no-waker", "the trace does not show what woke the task");
    pub(super) const NOT_RECORDED: Reason =
        of("not-recorded", "the trace does not show what the task did");
    pub(super) const CONTRADICTION: Reason =
        of("contradiction", "the recorded waker cannot have run at that time");
}

/// A stretch of the critical path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The window of the step.
    pub window: Window,
    /// The kind of time.
    pub kind: Kind,
    /// The task that ran, waited or slept.
    pub task: TaskId,
    /// The CPU where the task ran or waited.
    pub cpu: Option<CpuId>,
    /// The reason for the wait, or for unknown time.
    pub reason: Option<Reason>,
}

impl Step {
    /// Whether this step and an adjacent one differ only in time.
    fn continues(&self, other: &Step) -> bool {
        Step { window: other.window, ..*self } == *other
    }
    /// The task that ran, if it is not a selected task.
    fn other(&self) -> Option<TaskId> {
        (self.kind == Kind::RunOther).then_some(self.task)
    }
}

/// The sum of similar stretches of the path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// The kind of time.
    pub kind: Kind,
    /// The reason.
    pub reason: Option<Reason>,
    /// The task that ran, if it is not a selected task.
    pub other: Option<TaskId>,
    /// The sum of the stretches, in ns.
    pub ns: u64,
    /// The longest stretch.
    pub longest: Window,
}

impl Part {
    /// Whether a part of another path has the same kind and reason; the other task may differ.
    fn is_like(&self, other: &Part) -> bool {
        self.kind == other.kind && self.reason == other.reason
    }
}

/// The account of some tasks.
#[derive(Clone, Debug)]
pub struct Account {
    /// The selected tasks, in order.
    pub tasks: Vec<TaskId>,
    /// The interval; empty if none of the tasks ran in the window. With [`Question::every`], the
    /// interval of the slowest activation.
    pub window: Window,
    /// The critical path in order. It covers the interval.
    pub path: Vec<Step>,
    /// All activations, if [`Question::every`] is set.
    pub every: Option<Every>,
    /// For several tasks: the time that they ran while another of them waited, in the window of the
    /// question; `None` if events were lost.
    pub apart: Option<Apart>,
    /// Tasks that used a CPU while tasks of the path waited for it, longest first.
    pub meanwhile: Vec<Meanwhile>,
    /// The assumptions about waste.
    assumed: Vec<String>,
    losses: Vec<Loss>,
}

/// What the walk along the path knows.
#[derive(Debug)]
struct Ground {
    pub sight: Sight,
    pub reasons: Reasons,
    /// The tasks that were asked about.
    pub asked: BTreeSet<TaskId>,
}

impl Account {
    /// The account of `history` that was asked for. Of `options` counts how waste is told.
    pub fn of(history: &History, question: &Question, options: &Options) -> Account {
        let options = Options {
            window: question.window,
            cpus: None,
            tasks: None,
            causes: true,
            marks: true,
            ..options.clone()
        };
        let (movable, scope) = (Movable::survey(history), Scope::new(history, &options));
        let mut waste = Waste::new(history, &scope, &movable, &options);
        let mut watch = Watch::new(scope.window, history);
        let mut contradictions = Contradictions::within(scope.window, history);
        let mut all = (&mut waste, (&mut watch, &mut contradictions));
        replay(history, options.silent, &mut all);
        let asked: BTreeSet<TaskId> = question.tasks.iter().copied().collect();
        let tasks: Vec<TaskId> = asked.iter().copied().collect();
        let ground = Ground { sight: watch.finish(), reasons: Reasons::of(&waste.finish()), asked };
        let every = question.every.then(|| Every::of(&ground, &tasks, scope.window));
        // What was lost may have been a wait.
        let whole = history.lost_events() == (0, false);
        let apart = (tasks.len() > 1 && whole).then(|| Apart::of(&ground, &tasks, scope.window));
        let of_path = match &every {
            None => interval(&ground, &tasks, scope.window),
            Some(every) => every.slowest.map(|it| (it.task, it.window)),
        };
        let nothing = Window { from: scope.window.from, to: scope.window.from };
        let window = of_path.map_or(nothing, |(_, window)| window);
        let path = of_path.map_or(Vec::new(), |(last, window)| ground.walk(last, window));
        let meanwhile = Meanwhile::of(history, &ground, &path);
        let assumed = assumptions(history, &movable, &options);
        let losses = contradictions.losses(history);
        Account { tasks, window, path, every, apart, meanwhile, assumed, losses }
    }

    /// The path by what it was, longest first.
    pub fn parts(&self) -> Vec<Part> {
        Tally::of(&self.path)
    }

    /// Where the path was during `window`.
    pub fn places(&self, window: Window) -> CpuSet {
        let within = |step: &&Step| window.clip(step.window.from, step.window.to).is_some();
        self.path.iter().filter(within).filter_map(|step| step.cpu).collect()
    }

    /// How much of the path is of a kind.
    pub fn ns(&self, kind: Kind) -> u64 {
        sum(self.path.iter().filter(|step| step.kind == kind))
    }

    /// How much of the path is waste that was charged to its waits.
    pub fn wasted_ns(&self) -> u64 {
        sum(self.path.iter().filter(|step| step.is_waste()))
    }
}

impl Step {
    fn is_waste(&self) -> bool {
        self.reason.is_some_and(|reason| reason.is_waste)
    }
}

fn sum<'s>(steps: impl Iterator<Item = &'s Step>) -> u64 {
    steps.fold(0, |sum, step| sum + step.window.span().0)
}

/// Sums of steps that are alike.
#[derive(Debug, Default)]
struct Tally(BTreeMap<(Kind, &'static str, Option<TaskId>), Part>);

impl Tally {
    /// `steps` by what they are, longest first.
    fn of(steps: &[Step]) -> Vec<Part> {
        let mut tally = Tally::default();
        steps.iter().for_each(|step| tally.add(step));
        tally.finish()
    }

    fn add(&mut self, step: &Step) {
        let Step { window, kind, reason, .. } = *step;
        let key = (kind, reason.map_or("", |reason| reason.name), step.other());
        let new = Part { kind, reason, other: step.other(), ns: 0, longest: window };
        let part = self.0.entry(key).or_insert(new);
        part.ns = part.ns.saturating_add(window.span().0);
        if window.span() > part.longest.span() {
            part.longest = window;
        }
    }

    fn finish(self) -> Vec<Part> {
        let mut parts: Vec<Part> = self.0.into_values().collect();
        parts.sort_by_key(|part| std::cmp::Reverse(part.ns));
        parts
    }
}

/// The task that ran last in `window`, and the time of which there is an account.
fn interval(ground: &Ground, tasks: &[TaskId], window: Window) -> Option<(TaskId, Window)> {
    let last_run = |&task: &TaskId| {
        let life = ground.life(task)?;
        let runs = life.segments.iter().rev().filter(|it| matches!(it.is, Is::Running(_)));
        let end = runs.map(|run| run.window.to.min(window.to)).next()?;
        Some((end, std::cmp::Reverse(task)))
    };
    let (to, std::cmp::Reverse(last)) = tasks.iter().filter_map(last_run).max()?;
    let born = |&task: &TaskId| ground.life(task)?.born.map(|(born, _)| born);
    let first = tasks.iter().map(|task| born(task).unwrap_or(window.from)).min()?;
    let from = first.clamp(window.from, to);
    (from < to).then_some((last, Window { from, to }))
}
