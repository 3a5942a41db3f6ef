//! Which tasks moved, how far, and what moved them.
//!
//! The first placement of a new task is no migration (the kernel does not count it either:
//! `wake_up_new_task` in `kernel/sched/core.c`); it has a row of its own.

use std::collections::BTreeMap;

use wastenot_model::{Distance, Entry, History, Moves, Observer, Phase, State, TaskId, TaskState};

use crate::Scope;

/// Why a task runs on another CPU than before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// A wakeup selected another CPU than the one it ran on before.
    Wakeup,
    /// It was created and placed: no migration.
    Fork,
    /// It was moved while it waited: load balancing, or a push or pull.
    Balance,
}

impl Reason {
    /// Its word in tables and JSON.
    pub fn name(self) -> &'static str {
        ["wakeup", "fork", "balance"][self as usize]
    }
}

/// How often one task moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// To another CPU.
    pub count: u64,
    /// Of those, to another node.
    pub remote: u64,
}

/// What was counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Migrations {
    /// Moves by reason and distance; the first placements, too.
    pub by_reason: BTreeMap<(Reason, Distance), u64>,
    /// Migrations by [`TaskId::index`].
    pub by_task: Vec<Moved>,
    /// Tasks that moved at any time of the recording, also where it does not count.
    ever: Vec<bool>,
}

impl Migrations {
    /// All migrations.
    pub fn total(&self) -> u64 {
        self.count(|_| true)
    }
    /// Whether `task` moved at any time, counted or not.
    pub fn moved(&self, task: TaskId) -> bool {
        task.index().is_some_and(|index| self.ever.get(index) == Some(&true))
    }
    /// Those of one distance.
    pub fn by_distance(&self, distance: Distance) -> u64 {
        self.count(|it| it == distance)
    }
    fn count(&self, counts: impl Fn(Distance) -> bool) -> u64 {
        let migration = |reason| reason != Reason::Fork;
        let all = self.by_reason.iter();
        all.filter(|((reason, far), _)| migration(*reason) && counts(*far)).map(|it| it.1).sum()
    }
}

/// The observer.
#[derive(Debug)]
pub struct Watch<'a> {
    history: &'a History,
    scope: &'a Scope,
    followed: Moves<'a>,
    moves: Vec<Moved>,
    by_reason: BTreeMap<(Reason, Distance), u64>,
}

impl<'a> Watch<'a> {
    /// Watches `history` within `scope`.
    pub fn new(history: &'a History, scope: &'a Scope) -> Watch<'a> {
        Watch {
            history,
            scope,
            followed: Moves::new(history),
            moves: vec![Moved::default(); history.task_count()],
            by_reason: BTreeMap::new(),
        }
    }

    /// What was counted, once the replay has ended.
    pub fn finish(self) -> Migrations {
        let ever = self.history.tasks().map(|(task, _)| self.followed.moved(task)).collect();
        Migrations { by_reason: self.by_reason, by_task: self.moves, ever }
    }
}

impl Observer for Watch<'_> {
    fn begun(&mut self, state: &State) {
        self.followed.begun(state);
    }

    #[inline]
    fn task(&mut self, state: &State, task: TaskId, was: &TaskState, now: &TaskState) {
        let Some(last) = self.followed.follow(task, was, now) else { return };
        let (Some(index), Some(cpu)) = (task.index(), now.cpu) else { return };
        let counts = self.scope.has_task(task)
            && self.scope.window.holds(state.now())
            && (self.scope.has_cpu(cpu) || self.scope.has_cpu(last));
        if !counts {
            return;
        }
        let reason = match (was.phase, now.phase) {
            (Phase::New, _) => Reason::Fork,
            (Phase::Waiting, _) if was.cpu.is_some() => Reason::Balance,
            _ => Reason::Wakeup,
        };
        let distance = self.history.head.machine.distance(last, cpu);
        *self.by_reason.entry((reason, distance)).or_default() += 1;
        if reason != Reason::Fork {
            let moved = &mut self.moves[index];
            moved.count += 1;
            moved.remote += u64::from(distance == Distance::Other);
        }
    }

    #[inline]
    fn event(&mut self, state: &State, entry: &Entry) {
        self.followed.event(state, entry);
    }
}
