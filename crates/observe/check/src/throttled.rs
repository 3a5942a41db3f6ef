//! The time for which quotas held tasks back.
//!
//! # Result
//! For each task and for its cgroup at that time, the result is the time during which the task was
//! runnable and a quota held it back. Such a task does not wait for a CPU. So the time is not
//! waste, not wake delay, and not part of a wait.
//!
//! # Unknown time
//! A recorder sees the refill of a quota only when the task runs, so in recorded traces the time
//! includes the last wait. The time is unknown for sources that do not record throttling.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use wastenot_model::{
    Carries, Change, Entry, Event, History, NameId, Observer, Phase, State, TaskId, TaskReceiver,
    TaskSpan, TaskSpans, TaskState,
};

use crate::Scope;

/// Stretches during which quotas held tasks back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// The number of stretches.
    pub count: u64,
    /// The sum of the stretches.
    pub held_ns: u64,
    /// The longest stretch.
    pub longest_ns: u64,
}

/// The throttled time of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Throttled {
    /// The sum over all tasks.
    pub all: Held,
    /// By task, with its last known cgroup, the longest first.
    pub by_task: Vec<(TaskId, Option<NameId>, Held)>,
    /// By cgroup, sorted by name.
    pub by_cgroup: Vec<(NameId, Held)>,
}

/// The observer.
#[derive(Debug)]
pub struct Watch<'a> {
    history: &'a History,
    /// Whether the source records throttling.
    told: bool,
    holds: TaskSpans<Holds<'a>>,
}

/// The tasks that were held back.
#[derive(Debug)]
struct Holds<'a> {
    scope: &'a Scope,
    groups: BTreeMap<TaskId, NameId>,
    tasks: BTreeMap<TaskId, Held>,
    cgroups: BTreeMap<NameId, Held>,
    all: Held,
}

impl Held {
    fn add(&mut self, ns: u64) {
        self.count += 1;
        self.held_ns = self.held_ns.saturating_add(ns);
        self.longest_ns = self.longest_ns.max(ns);
    }
}

impl<'a> Watch<'a> {
    /// Watches `history` within `scope`.
    pub fn new(history: &'a History, scope: &'a Scope) -> Watch<'a> {
        let holds = Holds {
            scope,
            groups: BTreeMap::new(),
            tasks: BTreeMap::new(),
            cgroups: BTreeMap::new(),
            all: Held::default(),
        };
        let told = history.head.carries.has(Carries::THROTTLING);
        Watch { history, told, holds: TaskSpans::new(holds) }
    }

    /// The throttled time, after the end of the replay; `None` if the source does not record it.
    pub fn finish(self) -> Option<Throttled> {
        let Holds { groups, tasks, cgroups, all, .. } = self.holds.to;
        let group = |task: TaskId| groups.get(&task).copied();
        let tasks = tasks.iter().map(|(&task, &held)| (task, group(task), held));
        let mut by_task: Vec<_> = tasks.collect();
        by_task.sort_by_key(|(task, _, held)| (Reverse(held.held_ns), *task));
        let mut by_cgroup: Vec<_> = cgroups.into_iter().collect();
        by_cgroup.sort_by_key(|(name, _)| self.history.name(*name));
        self.told.then_some(Throttled { all, by_task, by_cgroup })
    }
}

impl TaskReceiver for Holds<'_> {
    /// Whether a quota holds it back, from a CPU that counts. One that is moved between CPUs that
    /// count is still held back.
    type Seen = bool;

    #[inline]
    fn see(&self, is: &TaskState) -> bool {
        is.phase == Phase::Held && is.cpu.is_none_or(|cpu| self.scope.has_cpu(cpu))
    }

    fn span(&mut self, span: TaskSpan<'_, bool>) {
        let counts = span.seen && self.scope.has_task(span.task);
        let Some((from, to)) =
            self.scope.window.clip(span.window.from, span.window.to).filter(|_| counts)
        else {
            return;
        };
        let ns = to.0 - from.0;
        self.all.add(ns);
        self.tasks.entry(span.task).or_default().add(ns);
        if let Some(&group) = self.groups.get(&span.task) {
            self.cgroups.entry(group).or_default().add(ns);
        }
    }
}

impl Observer for Watch<'_> {
    fn begun(&mut self, state: &State) {
        self.holds.begun(state);
    }

    #[inline]
    fn task(&mut self, state: &State, task: TaskId, was: &TaskState, now: &TaskState) {
        if self.told {
            self.holds.task(state, task, was, now);
        }
    }

    #[inline(always)]
    fn event(&mut self, state: &State, entry: &Entry) {
        self.holds.event(state, entry);
        if let Event::Changed { task, what: Change::Cgroup(group) } = entry.event {
            self.holds.to.groups.insert(task, group);
        }
    }

    fn end(&mut self, state: &State) {
        self.holds.end(state);
    }
}
