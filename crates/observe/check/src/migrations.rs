//! Migrations of tasks: distance, reason and effect.
//!
//! The first placement of a new task is not a migration. The kernel does not count it either
//! (`wake_up_new_task` in `kernel/sched/core.c`). It has a row of its own.
//!
//! # Effect of a migration
//! The time from queueing on the new CPU to running there decides:
//!
//! - The old CPU ran one other task during all of this time. On the old CPU, the task would have
//!   run later, or instead of the other task: [`Effect::Helped`].
//! - The old CPU was idle with no waiting task, at that moment or before the task ran. The task
//!   would have run no later on the old CPU: [`Effect::NotHelped`].
//!
//! In all other cases, the effect is unknown: [`Effect::Undecided`]. If the old CPU took another
//! task in the meantime, it might have taken this task instead. The effect is also unknown in these
//! cases: the old CPU is unknown or ran a task of a lower class; a quota held the task back; the
//! task moved on, fell asleep or was not seen to wait; the counted time ended first; queues are
//! shared; or the scheduler is neither Linux's fair class nor a model of it.

use std::collections::BTreeMap;

use wastenot_model::{
    CpuId, CpuMode, CpuState, Distance, Entry, History, Moves, Observer, Phase, SchedClass, State,
    TaskId, TaskState,
};

use crate::causes::Rules;
use crate::{Options, Scope};

/// The reason why a task changes its CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// A wakeup selected a CPU other than the previous CPU of the task.
    Wakeup,
    /// The task was created and placed. This is not a migration.
    Fork,
    /// The task was moved while it waited: by load balancing, or by a push or pull.
    Balance,
}

impl Reason {
    /// The word in tables and JSON.
    pub fn name(self) -> &'static str {
        ["wakeup", "fork", "balance"][self as usize]
    }
}

/// The effect of a migration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// The task ran before the old CPU had finished the task that ran there.
    Helped,
    /// The old CPU was free for the task before the task ran.
    NotHelped,
    /// The task could not stay: it may no longer use the old CPU, or this CPU is offline.
    Forced,
    /// The source does not show the effect.
    Undecided,
}

impl Effect {
    /// All effects, in order.
    pub const ALL: [Effect; 4] =
        [Effect::Helped, Effect::NotHelped, Effect::Forced, Effect::Undecided];

    /// The word in JSON.
    pub fn name(self) -> &'static str {
        ["helped", "not_helped", "forced", "undecided"][self as usize]
    }
}

/// Migrations with one reason and distance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The number of migrations.
    pub moves: u64,
    /// The number of migrations by effect, in the order of [`Effect`].
    pub effects: [u64; Effect::ALL.len()],
}

/// The migrations of one task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// The number of migrations to another CPU.
    pub count: u64,
    /// The number of migrations to another node.
    pub remote: u64,
}

/// The migrations of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Migrations {
    /// Migrations by reason and distance, including first placements.
    pub by_reason: BTreeMap<(Reason, Distance), Counts>,
    /// Migrations by [`TaskId::index`].
    pub by_task: Vec<Moved>,
    /// Tasks that moved at any time in the trace, even outside the counted time.
    ever: Vec<bool>,
}

impl Migrations {
    /// All migrations.
    pub fn total(&self) -> u64 {
        self.by_reason.keys().map(|(reason, far)| self.migrations(*reason, *far)).sum()
    }
    /// The number of migrations with this effect.
    pub fn with_effect(&self, effect: Effect) -> u64 {
        self.by_reason.values().map(|counts| counts.effects[effect as usize]).sum()
    }
    /// Whether `task` moved at any time, even outside the counted time.
    pub fn moved(&self, task: TaskId) -> bool {
        task.index().is_some_and(|index| self.ever.get(index) == Some(&true))
    }
    /// The number of migrations over one distance.
    pub fn by_distance(&self, distance: Distance) -> u64 {
        let all = self.by_reason.keys().filter(|(_, far)| *far == distance);
        all.map(|(reason, far)| self.migrations(*reason, *far)).sum()
    }
    fn migrations(&self, reason: Reason, distance: Distance) -> u64 {
        let counts = self.by_reason.get(&(reason, distance)).filter(|_| reason != Reason::Fork);
        counts.map_or(0, |counts| counts.moves)
    }
}

/// A migration whose effect is still open: the task waits on its new CPU.
#[derive(Clone, Copy, Debug)]
struct Open {
    what: (Reason, Distance),
    left: CpuId,
    to: CpuId,
    /// The index of the task among those that left this CPU.
    place: usize,
}

/// The observer.
#[derive(Debug)]
pub struct Watch<'a> {
    history: &'a History,
    scope: &'a Scope,
    followed: Moves<'a>,
    moves: Vec<Moved>,
    by_reason: BTreeMap<(Reason, Distance), Counts>,
    /// Whether a waiting task is taken by the CPU where it waits, or by none before it moves.
    own_queues: bool,
    /// By task.
    open: Vec<Option<Open>>,
    /// Tasks whose migration is open, by the CPU that they left.
    left: Vec<Vec<TaskId>>,
}

impl<'a> Watch<'a> {
    /// Watches `history` within `scope`, which `options` gave.
    pub fn new(history: &'a History, scope: &'a Scope, options: &Options) -> Watch<'a> {
        Watch {
            history,
            scope,
            followed: Moves::new(history),
            moves: vec![Moved::default(); history.task_count()],
            by_reason: BTreeMap::new(),
            own_queues: !options.shared_queue && Rules::of(history) == Rules::Fair,
            open: vec![None; history.task_count()],
            left: vec![Vec::new(); history.cpu_count()],
        }
    }

    /// What is known of the effect of the move of a task, which is `now`, as it begins: none where
    /// that is still open.
    fn effect(&self, state: &State, task: TaskId, left: CpuId, now: &TaskState) -> Option<Effect> {
        let there = state.cpu(left);
        let mask = now.mask.and_then(|mask| self.history.mask(mask));
        if mask.is_some_and(|mask| !mask.contains(left)) || there.mode == CpuMode::Offline {
            return Some(Effect::Forced);
        }
        if now.phase != Phase::Waiting || !self.own_queues {
            return Some(Effect::Undecided);
        }
        match there.mode {
            CpuMode::Idle if there.waiting == 0 => Some(Effect::NotHelped),
            CpuMode::Busy(other) if other != task && !outranks(now, &state.task(other)) => None,
            _ => Some(Effect::Undecided),
        }
    }

    /// The effect of the open migration of `task` is known.
    fn close(&mut self, state: &State, task: TaskId, effect: Effect) {
        let index = task.index().expect("idle tasks do not move");
        let Some(open) = self.open[index].take() else { return };
        let left = &mut self.left[open.left.index()];
        if left.get(open.place) == Some(&task) {
            left.swap_remove(open.place);
            if let Some(moved) = left.get(open.place).and_then(|it| it.index())
                && let Some(moved) = &mut self.open[moved]
            {
                moved.place = open.place;
            }
        }
        let in_time = state.now() < self.scope.window.to;
        let effect = if in_time { effect } else { Effect::Undecided };
        self.by_reason.entry(open.what).or_default().effects[effect as usize] += 1;
    }

    /// The migrations, after the end of the replay.
    pub fn finish(mut self) -> Migrations {
        for open in self.open.iter().flatten() {
            let effects = &mut self.by_reason.entry(open.what).or_default().effects;
            effects[Effect::Undecided as usize] += 1;
        }
        let ever = self.history.tasks().map(|(task, _)| self.followed.moved(task)).collect();
        Migrations { by_reason: self.by_reason, by_task: self.moves, ever }
    }
}

/// Whether `task` would have taken the CPU of `other` at once: by their policies it is of a higher
/// class.
fn outranks(task: &TaskState, other: &TaskState) -> bool {
    let class = |of: &TaskState| of.policy.map_or(SchedClass::Fair, SchedClass::of);
    class(task) > class(other)
}

impl Observer for Watch<'_> {
    fn begun(&mut self, state: &State) {
        self.followed.begun(state);
    }

    #[inline]
    fn task(&mut self, state: &State, task: TaskId, was: &TaskState, now: &TaskState) {
        if let Some(Some(open)) = task.index().and_then(|index| self.open.get(index)) {
            match now.phase {
                Phase::Waiting if now.cpu == Some(open.to) => {}
                Phase::Running if now.cpu == Some(open.to) => {
                    self.close(state, task, Effect::Helped);
                }
                _ => self.close(state, task, Effect::Undecided),
            }
        }
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
        let what = (reason, distance);
        self.by_reason.entry(what).or_default().moves += 1;
        if reason != Reason::Fork {
            match self.effect(state, task, last, now) {
                Some(effect) => {
                    self.by_reason.entry(what).or_default().effects[effect as usize] += 1;
                }
                None => {
                    let left = &mut self.left[last.index()];
                    let place = left.len();
                    self.open[index] = Some(Open { what, left: last, to: cpu, place });
                    left.push(task);
                }
            }
            let moved = &mut self.moves[index];
            moved.count += 1;
            moved.remote += u64::from(distance == Distance::Other);
        }
    }

    #[inline]
    fn cpu(&mut self, state: &State, cpu: CpuId, was: &CpuState, now: &CpuState) {
        if self.left[cpu.index()].is_empty() || was.mode == now.mode {
            return;
        }
        let effect = match now.mode {
            CpuMode::Idle if now.waiting == 0 => Effect::NotHelped,
            _ => Effect::Undecided,
        };
        for task in std::mem::take(&mut self.left[cpu.index()]) {
            self.close(state, task, effect);
        }
    }

    #[inline(always)]
    fn event(&mut self, state: &State, entry: &Entry) {
        self.followed.event(state, entry);
    }
}
