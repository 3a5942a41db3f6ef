//! What is known of tasks from before a History begins, where it is a part of a longer recording.
//!
//! Some questions look back: since when a task waits, who woke it, whether it ever moved. A part
//! that was cut out answers them as the whole does, since it holds what the whole knew.

use super::{Origin, Phase, State, TaskState};
use crate::history::event::Each;
use crate::{By, CpuId, Entry, Event, History, MaskId, Observer, TaskId, Time};

/// A task at the first instant of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Past {
    /// The task.
    pub task: TaskId,
    /// Where in its life it is. A running, waiting or sleeping task is in the lists of
    /// [`Start`](crate::Start) as well, and these decide.
    pub phase: Phase,
    /// When that phase began.
    pub since: Time,
    /// Where it runs, waits, or was last.
    pub cpu: Option<CpuId>,
    /// Where it was last when it was woken, created or switched out.
    pub prev: Option<CpuId>,
    /// How its wait began, or its last one.
    pub origin: Origin,
    /// How often it was moved during this wait.
    pub moves: u16,
    /// The last waking, if any.
    pub waking: Option<Time>,
    /// Who was current on the waking CPU, and in which context.
    pub waker: By,
    /// The CPU that did the waking.
    pub waker_cpu: CpuId,
    /// The CPUs it may run on, where known.
    pub mask: Option<MaskId>,
    /// Scheduling policy, where known.
    pub policy: Option<u8>,
    /// Nice value, where known.
    pub nice: Option<i8>,
    /// A quota holds it back whenever it wants to run.
    pub throttled: bool,
    /// Migration is disabled for it.
    pub migration_disabled: bool,
    /// Where it ran or waited last, or its parent ran when it was created.
    pub last: Option<CpuId>,
    /// It moved at some time of the whole recording, be it after this part.
    pub moved: bool,
    /// On which CPUs the whole recording saw it.
    pub seen: Seen,
}

impl Past {
    /// A task in this state; where it was is not told.
    pub fn of(task: TaskId, state: &TaskState) -> Past {
        Past {
            task,
            phase: state.phase,
            since: state.since,
            cpu: state.cpu,
            prev: state.prev,
            origin: state.origin,
            moves: state.moves,
            waking: state.waking,
            waker: state.waker,
            waker_cpu: state.waker_cpu,
            mask: state.mask,
            policy: state.policy,
            nice: state.nice,
            throttled: state.throttled,
            migration_disabled: state.migration_disabled,
            last: None,
            moved: false,
            seen: Seen::Nowhere,
        }
    }

    /// Writes everything but phase and place into the state of a task. A damaged file may name
    /// CPUs that the machine does not have.
    pub(super) fn recall(&self, known: &mut TaskState, cpus: usize) {
        (known.since, known.origin, known.moves) = (self.since, self.origin, self.moves);
        (known.waking, known.waker, known.waker_cpu) = (self.waking, self.waker, self.waker_cpu);
        known.prev = self.prev.filter(|cpu| cpu.index() < cpus);
        (known.mask, known.policy, known.nice) = (self.mask, self.policy, self.nice);
        (known.throttled, known.migration_disabled) = (self.throttled, self.migration_disabled);
    }
}

/// On which CPUs a task was seen: switched, queued, or moved to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// On none.
    Nowhere,
    /// On this one only.
    On(CpuId),
    /// On more than one.
    Several,
}

impl Seen {
    /// It was seen on `cpu`, too.
    #[inline]
    pub fn also(&mut self, cpu: CpuId) {
        *self = match *self {
            Seen::Nowhere => Seen::On(cpu),
            Seen::On(known) if known == cpu => return,
            _ => Seen::Several,
        };
    }

    /// Looks through the recording that `history` is, or is a part of, for the tasks that are
    /// asked for: those with `Some`, by index.
    pub fn look(history: &History, seen: &mut [Option<Seen>]) {
        for past in history.past() {
            if let Some(Some(seen)) = past.task.index().and_then(|index| seen.get_mut(index)) {
                *seen = past.seen;
            }
        }
        let mut look = Look(seen);
        history.rows.iter().for_each(|row| row.with(&mut look));
    }

    /// Calls `see` with each task that `entry` shows on a CPU, and that CPU.
    #[inline]
    pub fn in_entry(entry: &Entry, mut see: impl FnMut(TaskId, CpuId)) {
        match entry.event {
            Event::Switch { cpu, prev, next, .. } => {
                see(prev, cpu);
                see(next, cpu);
            }
            Event::Queued { task, on: Some(cpu), .. } | Event::Migrate { task, to: cpu, .. } => {
                see(task, cpu);
            }
            _ => {}
        }
    }
}

/// Looks where tasks are seen, of those with `Some`, by index.
struct Look<'s>(&'s mut [Option<Seen>]);

impl Look<'_> {
    #[inline(always)]
    fn see(&mut self, entry: &Entry) {
        Seen::in_entry(entry, |task, cpu| {
            if let Some(Some(seen)) = task.index().and_then(|index| self.0.get_mut(index)) {
                seen.also(cpu);
            }
        });
    }
}

impl Each for Look<'_> {
    #[inline(always)]
    fn entry(&mut self, entry: &Entry) {
        self.see(entry);
    }
    fn rare(&mut self, entry: &Entry) {
        self.see(entry);
    }
}

/// Where tasks ran or waited last, and who moved: came to run on, or to wait at, another CPU than
/// the last one. Sources without migrate events show it too.
#[derive(Clone, Debug)]
pub struct Moves<'h> {
    history: &'h History,
    begun: bool,
    last: Vec<Option<CpuId>>,
    moved: Vec<bool>,
}

impl<'h> Moves<'h> {
    /// Of the tasks of `history`, as an observer of its replay.
    pub fn new(history: &'h History) -> Moves<'h> {
        let tasks = history.task_count();
        Moves { history, begun: false, last: vec![None; tasks], moved: vec![false; tasks] }
    }
    /// Where `task` ran or waited last, or its parent ran when it was created.
    pub fn last(&self, task: TaskId) -> Option<CpuId> {
        task.index().and_then(|index| *self.last.get(index)?)
    }
    /// Whether `task` moved so far; of a part, whether it ever did in the whole.
    pub fn moved(&self, task: TaskId) -> bool {
        task.index().is_some_and(|index| self.moved.get(index) == Some(&true))
    }

    /// Follows a change of `task`; gives the CPU that it came from if that is a move.
    #[inline]
    pub fn follow(&mut self, task: TaskId, was: &TaskState, now: &TaskState) -> Option<CpuId> {
        let is_here = |at: &TaskState| matches!(at.phase, Phase::Running | Phase::Waiting);
        if !is_here(now) || (now.cpu == was.cpu && is_here(was)) {
            return None; // a sleeper moves when it comes back
        }
        let (index, cpu) = (task.index()?, now.cpu?);
        let from = self.last[index].replace(cpu).filter(|&last| last != cpu && self.begun)?;
        self.moved[index] = true;
        Some(from)
    }
}

impl Observer for Moves<'_> {
    /// Nobody moves before the start, but a part remembers who did.
    fn begun(&mut self, _: &State) {
        self.begun = true;
        for past in self.history.past() {
            if let Some(index) = past.task.index().filter(|&index| index < self.last.len()) {
                (self.last[index], self.moved[index]) = (past.last, past.moved);
            }
        }
    }

    #[inline]
    fn task(&mut self, _: &State, task: TaskId, was: &TaskState, now: &TaskState) {
        self.follow(task, was, now);
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

impl History {
    /// What is known of tasks from before; empty unless this is a part of a longer recording.
    pub fn past(&self) -> &[Past] {
        let start = self.head.start.as_ref();
        start.and_then(|start| start.past.as_deref()).unwrap_or_default()
    }
}
