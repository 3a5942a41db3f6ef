//! Who moved, how far, and what moved it.

use std::collections::BTreeMap;

use wastenot_model::{
    CpuId, Distance, Entry, Event, History, Observer, Phase, State, TaskId, TaskState,
};

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

/// The observer. A move counts when the task comes to run on, or waits at, another CPU than the
/// last one: sources without migrate events show it too.
#[derive(Debug)]
pub struct Watch<'a> {
    history: &'a History,
    scope: &'a Scope,
    begun: bool,
    last: Vec<Option<CpuId>>,
    moves: Vec<u64>,
    found: Migrations,
}

impl<'a> Watch<'a> {
    /// Watches `history` within `scope`.
    pub fn new(history: &'a History, scope: &'a Scope) -> Watch<'a> {
        Watch {
            history,
            scope,
            begun: false,
            last: vec![None; history.task_count()],
            moves: vec![0; history.task_count()],
            found: Migrations { ever: vec![false; history.task_count()], ..Migrations::default() },
        }
    }

    /// What was counted, once the replay has ended.
    pub fn finish(mut self) -> Migrations {
        let moved = self.moves.iter().enumerate().filter(|(_, moves)| **moves > 0);
        self.found.by_task = moved.map(|(n, moves)| (TaskId::nth(n), *moves)).collect();
        self.found.by_task.sort_by_key(|(task, moves)| (std::cmp::Reverse(*moves), *task));
        self.found
    }
}

impl Observer for Watch<'_> {
    /// Nobody moves before the start, but a part remembers who did.
    fn begun(&mut self, _: &State) {
        self.begun = true;
        for past in self.history.past() {
            if let Some(index) = past.task.index().filter(|&index| index < self.last.len()) {
                (self.last[index], self.found.ever[index]) = (past.last, past.moved);
            }
        }
    }

    #[inline]
    fn task(&mut self, state: &State, task: TaskId, was: &TaskState, now: &TaskState) {
        let is_here = |at: &TaskState| matches!(at.phase, Phase::Running | Phase::Waiting);
        if !is_here(now) || (now.cpu == was.cpu && is_here(was)) {
            return; // a sleeper moves when it comes back
        }
        let (Some(index), Some(cpu)) = (task.index(), now.cpu) else { return };
        let last = self.last[index].replace(cpu);
        let Some(last) = last.filter(|&last| last != cpu && self.begun) else { return };
        self.found.ever[index] = true;
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
        *self.found.by_reason.entry((reason, distance)).or_default() += 1;
        self.moves[index] += 1;
    }

    #[inline]
    fn event(&mut self, _: &State, entry: &Entry) {
        // A new task is placed relative to its parent.
        if let Event::Fork { child, .. } = entry.event
            && let Some(last) = child.index().and_then(|index| self.last.get_mut(index))
        {
            *last = Some(entry.cpu);
        }
    }
}
