//! Idle CPU time that affinities kept from waiting tasks.
//!
//! # Result
//! `affinity(t)` is how much larger the matching of [`crate::waste`] would be without affinities.
//! It is the smaller of two counts (idle CPUs, waiting tasks), minus the size of the maximum
//! matching. Three rules make it a lower bound. The first number leaves out unknown CPUs and tasks.
//! Each task that waits at an unknown place reduces the first number by one idle CPU. The second
//! number is the upper bound of waste. If the source has no affinities, the result is unknown.
//!
//! A task is *kept from idle CPUs* while `affinity(t)` is above zero and some largest matching has
//! no CPU for the task. Threads that serve one CPU or interrupt (see [`Movable::serves`]) do not
//! count.
//!
//! # Why it matters
//! Three busy loops that are pinned to one CPU waste nothing, even if all other CPUs are idle,
//! because no scheduler may move them. But the owner of the loops may change their affinity.

use wastenot_model::{CpuSet, History, MaskId, Span, TaskId, TaskState, Time, Window};

use crate::matching::{ANYWHERE, Class, Matching};
use crate::{Movable, Scope};

/// What affinities kept from whom.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kept {
    /// Integral of affinity(t).
    pub cpu_ns: u64,
    /// Tasks that were kept from idle CPUs, longest first.
    pub tasks: Vec<KeptTask>,
}

/// A task that its affinity kept from idle CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptTask {
    /// The task.
    pub task: TaskId,
    /// For how long, in all.
    pub kept_ns: u64,
    /// The wait in which that was longest.
    pub window: Window,
    /// How long it was in that one.
    pub longest_ns: u64,
    /// Where it may run, as of that wait.
    pub mask: MaskId,
}

/// The part of the observer that this takes.
#[derive(Debug)]
pub(super) struct Affinity<'a> {
    history: &'a History,
    movable: &'a Movable,
    /// Whether any affinity binds; otherwise there is nothing to do.
    binds: bool,
    /// Candidates that serve one CPU.
    serving: i64,
    /// affinity(t) now.
    pub(super) now: u32,
    /// Per class whether a largest matching leaves a task of it out, and for how long so far.
    left_out: Vec<bool>,
    left_out_ns: Vec<u64>,
    /// Per task, since when it is a candidate.
    marks: Vec<Option<Mark>>,
    kept: Vec<Option<KeptTask>>,
    cpu_ns: u64,
}

/// A task as it became a candidate.
#[derive(Clone, Copy, Debug)]
struct Mark {
    class: Class,
    since: Time,
    left_out_ns: u64,
    mask: MaskId,
}

impl<'a> Affinity<'a> {
    pub(super) fn new(history: &'a History, movable: &'a Movable, classes: usize) -> Affinity<'a> {
        let binds = movable.is_told() && classes > 1;
        let tasks = if binds { history.task_count() } else { 0 };
        Affinity {
            history,
            movable,
            binds,
            serving: 0,
            now: 0,
            left_out: vec![false; classes],
            left_out_ns: vec![0; classes],
            marks: vec![None; tasks],
            kept: vec![None; tasks],
            cpu_ns: 0,
        }
    }

    fn mask(&self, state: &TaskState) -> Option<&'a CpuSet> {
        state.mask.and_then(|mask| self.history.mask(mask))
    }

    /// Whether `task` serves one CPU, as far as that makes a difference.
    #[inline]
    pub(super) fn serves(&self, task: TaskId, state: &TaskState) -> bool {
        self.binds && self.movable.serves(task, self.mask(state))
    }

    /// A task that serves one CPU or not becomes a candidate (`step` 1), or is none any more (-1).
    #[inline]
    pub(super) fn count(&mut self, serves: bool, step: i64) {
        self.serving += step * i64::from(serves);
    }

    /// From now on the candidate `task` may be kept from idle CPUs.
    #[inline]
    pub(super) fn begin(&mut self, task: TaskId, state: &TaskState, class: Class, now: Time) {
        if self.binds && class != ANYWHERE {
            self.mark(task, state, class, now);
        }
    }

    fn mark(&mut self, task: TaskId, state: &TaskState, class: Class, now: Time) {
        let Some(mask) = state.mask else { return };
        let Some(index) = task.index().filter(|&index| self.marks[index].is_none()) else { return };
        if !self.serves(task, state) {
            let left_out_ns = self.left_out_ns[class];
            self.marks[index] = Some(Mark { class, since: now, left_out_ns, mask });
        }
    }

    /// `task` is no candidate any more.
    #[inline]
    pub(super) fn end(&mut self, task: TaskId, now: Time, scope: &Scope) {
        if self.binds {
            self.unmark(task, now, scope);
        }
    }

    fn unmark(&mut self, task: TaskId, now: Time, scope: &Scope) {
        let Some(index) = task.index() else { return };
        let Some(mark) = self.marks[index].take() else { return };
        let ns = self.left_out_ns[mark.class] - mark.left_out_ns;
        let Some((from, to)) = scope.window.clip(mark.since, now).filter(|_| ns > 0) else {
            return;
        };
        let this = KeptTask {
            task,
            kept_ns: ns,
            window: Window { from, to },
            longest_ns: ns,
            mask: mark.mask,
        };
        self.kept[index] = Some(match self.kept[index] {
            Some(before) => {
                let longest = if ns > before.longest_ns { this } else { before };
                KeptTask { kept_ns: before.kept_ns.saturating_add(ns), ..longest }
            }
            None => this,
        });
    }

    /// Brings affinity(t) up to what holds now. `low` has the sure candidates and idle CPUs, `high`
    /// those that may be; `most` is the upper bound of waste(t).
    pub(super) fn settle(&mut self, low: &Matching, high: &Matching, most: u32, unplaced: u32) {
        if !self.binds {
            return;
        }
        let (idle, candidates) = low.sides();
        let candidates = candidates.saturating_sub(self.serving.max(0) as u32);
        let unbound = idle.saturating_sub(unplaced).min(candidates);
        self.now = unbound.saturating_sub(most);
        if self.now > 0 {
            high.left_out(&mut self.left_out);
        }
    }

    /// So it was for `ns`.
    pub(super) fn integrate(&mut self, ns: u64) {
        self.cpu_ns = self.cpu_ns.saturating_add(u64::from(self.now).saturating_mul(ns));
        for (sum, _) in self.left_out_ns.iter_mut().zip(&self.left_out).filter(|it| *it.1) {
            *sum = sum.saturating_add(ns);
        }
    }

    /// What was found; `None` where affinities are not told.
    pub(super) fn finish(mut self, now: Time, scope: &Scope) -> Option<Kept> {
        for index in 0..self.marks.len() {
            self.end(TaskId::nth(index), now, scope);
        }
        let mut tasks: Vec<KeptTask> = self.kept.into_iter().flatten().collect();
        tasks.sort_by_key(|it| (std::cmp::Reverse(Span(it.kept_ns)), it.task));
        self.movable.is_told().then_some(Kept { cpu_ns: self.cpu_ns, tasks })
    }
}
