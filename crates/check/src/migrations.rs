//! Who moved, how far, and what moved it.

use std::collections::BTreeMap;

use wastenot_model::{Distance, Entry, History, Moves, Observer, Phase, State, TaskId, TaskState};

use crate::Scope;

/// Why a task runs on another CPU than before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// A wakeup selected another CPU than the one it ran on before.
    Wakeup,
    /// It was created and placed.
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

/// What was counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Migrations {
    /// Moves by reason and distance.
    pub by_reason: BTreeMap<(Reason, Distance), u64>,
    /// Moves by task, most first.
    pub by_task: Vec<(TaskId, u64)>,
    /// Tasks that moved at any time of the recording, also where it does not count.
    ever: Vec<bool>,
}

impl Migrations {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.by_reason.values().sum()
    }
    /// Whether `task` moved at any time, counted or not.
    pub fn moved(&self, task: TaskId) -> bool {
        task.index().is_some_and(|index| self.ever.get(index) == Some(&true))
    }
    /// Those of one distance.
    pub fn by_distance(&self, distance: Distance) -> u64 {
        self.by_reason.iter().filter(|((_, d), _)| *d == distance).map(|(_, count)| count).sum()
    }
}

/// The observer.
#[derive(Debug)]
pub struct Watch<'a> {
    history: &'a History,
    scope: &'a Scope,
    followed: Moves<'a>,
    moves: Vec<u64>,
    by_reason: BTreeMap<(Reason, Distance), u64>,
}

impl<'a> Watch<'a> {
    /// Watches `history` within `scope`.
    pub fn new(history: &'a History, scope: &'a Scope) -> Watch<'a> {
        Watch {
            history,
            scope,
            followed: Moves::new(history),
            moves: vec![0; history.task_count()],
            by_reason: BTreeMap::new(),
        }
    }

    /// What was counted, once the replay has ended.
    pub fn finish(self) -> Migrations {
        let moved = self.moves.iter().enumerate().filter(|(_, moves)| **moves > 0);
        let mut by_task: Vec<_> = moved.map(|(n, moves)| (TaskId::nth(n), *moves)).collect();
        by_task.sort_by_key(|(task, moves)| (std::cmp::Reverse(*moves), *task));
        let ever = self.history.tasks().map(|(task, _)| self.followed.moved(task)).collect();
        Migrations { by_reason: self.by_reason, by_task, ever }
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
        self.moves[index] += 1;
    }

    #[inline]
    fn event(&mut self, state: &State, entry: &Entry) {
        self.followed.event(state, entry);
    }
}
