//! How long quotas held tasks back.
//!
//! # What it finds
//! For each task, and for the cgroup that it was in, the time during which it wanted to run and a
//! quota held it back. Such a task waits for no CPU: the time is neither waste nor wake delay, and
//! no part of a wait.
//!
//! # What is unknown
//! A recorder sees that a quota is filled again only when the task runs, so in recordings the time
//! includes the last wait. Sources that do not tell throttling leave it unknown.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use wastenot_model::{
    Carries, Change, CpuId, Entry, Event, History, NameId, Observer, Phase, State, TaskId,
    TaskState, Time,
};

use crate::Scope;

/// Stretches during which quotas held tasks back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// How many.
    pub count: u64,
    /// Their sum.
    pub held_ns: u64,
    /// The longest.
    pub longest_ns: u64,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Throttled {
    /// Of all tasks.
    pub all: Held,
    /// Per task, with its last cgroup where that is told; longest first.
    pub by_task: Vec<(TaskId, Option<NameId>, Held)>,
    /// Per cgroup, by name.
    pub by_cgroup: Vec<(NameId, Held)>,
}

/// The observer.
#[derive(Debug)]
pub struct Watch<'a> {
    history: &'a History,
    scope: &'a Scope,
    /// Who is held back, since when, and from which CPU.
    now: BTreeMap<TaskId, (Time, Option<CpuId>)>,
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
        Watch {
            history,
            scope,
            now: BTreeMap::new(),
            groups: BTreeMap::new(),
            tasks: BTreeMap::new(),
            cgroups: BTreeMap::new(),
            all: Held::default(),
        }
    }

    /// What was found, once the replay has ended; `None` where throttling is not told.
    pub fn finish(self) -> Option<Throttled> {
        let group = |task: TaskId| self.groups.get(&task).copied();
        let tasks = self.tasks.iter().map(|(&task, &held)| (task, group(task), held));
        let mut by_task: Vec<_> = tasks.collect();
        by_task.sort_by_key(|(task, _, held)| (Reverse(held.held_ns), *task));
        let mut by_cgroup: Vec<_> = self.cgroups.into_iter().collect();
        by_cgroup.sort_by_key(|(name, _)| self.history.name(*name));
        let told = self.history.head.carries.has(Carries::THROTTLING);
        told.then_some(Throttled { all: self.all, by_task, by_cgroup })
    }

    /// Whether the CPU from which a task is held back counts.
    fn counts(&self, cpu: Option<CpuId>) -> bool {
        cpu.is_none_or(|cpu| self.scope.has_cpu(cpu))
    }

    fn ends(&mut self, task: TaskId, now: Time) {
        let Some((since, cpu)) = self.now.remove(&task) else { return };
        let counts = self.scope.has_task(task) && self.counts(cpu);
        let Some((from, to)) = self.scope.window.clip(since, now).filter(|_| counts) else {
            return;
        };
        let ns = to.0 - from.0;
        self.all.add(ns);
        self.tasks.entry(task).or_default().add(ns);
        if let Some(&group) = self.groups.get(&task) {
            self.cgroups.entry(group).or_default().add(ns);
        }
    }

    fn all_end(&mut self, now: Time) {
        while let Some((&task, _)) = self.now.first_key_value() {
            self.ends(task, now);
        }
    }
}

impl Observer for Watch<'_> {
    #[inline]
    fn task(&mut self, state: &State, task: TaskId, was: &TaskState, now: &TaskState) {
        let from = (was.phase == Phase::Held).then_some(was.cpu);
        let on = (now.phase == Phase::Held).then_some(now.cpu);
        // One that is moved between CPUs which count, or do not, is still held back.
        let counts = |on: Option<Option<CpuId>>| on.map(|cpu| self.counts(cpu));
        if counts(from) == counts(on) {
            return;
        }
        if from.is_some() {
            self.ends(task, state.now());
        }
        if let Some(cpu) = on {
            self.now.insert(task, (state.now(), cpu));
        }
    }

    #[inline]
    fn event(&mut self, _: &State, entry: &Entry) {
        if let Event::Changed { task, what: Change::Cgroup(group) } = entry.event {
            self.groups.insert(task, group);
        }
    }

    fn end(&mut self, state: &State) {
        self.all_end(state.now());
    }
}
