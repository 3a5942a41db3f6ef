//! The seam that everything which looks at a History looks through.

use crate::{Contradiction, CpuId, CpuSet, CpuState, Entry, State, TaskId, TaskState, Time};

/// Looks at a [`State`] while it is driven through a History.
///
/// Calls for one event come in this order: `held` (if time moved), `contradiction`, `task` for each
/// task whose state changed, `cpu` for each CPU where something changed, `event`. In all of them
/// `state` is what holds *after* the event, except in `held`, where it held throughout the
/// interval, which may span events that change nothing of all this. Before the first event the same
/// calls tell the state at the start, before which all was unknown, and `begun` that it is told.
///
/// Two events change a task twice: a switch from a task to itself, and a switch that shows that
/// another task ran. Of the first change `task` is told before State is final. Not told is a nice
/// value that changes alone, and what changes of tasks that do not want to run: where a sleeper is
/// moved to, and that a loss makes it unknown.
pub trait Observer {
    /// The start is told; what comes now happened.
    fn begun(&mut self, state: &State) {
        let _ = state;
    }
    /// Nothing changed in `[from, to)`.
    fn held(&mut self, state: &State, from: Time, to: Time) {
        let _ = (state, from, to);
    }
    /// `task` was `was` and is `now`: its phase, CPU or right to run changed.
    fn task(&mut self, state: &State, task: TaskId, was: &TaskState, now: &TaskState) {
        let _ = (state, task, was, now);
    }
    /// `cpu` was `was` and is `now`: what it runs, or who waits on it, changed.
    fn cpu(&mut self, state: &State, cpu: CpuId, was: &CpuState, now: &CpuState) {
        let _ = (state, cpu, was, now);
    }
    /// The event was applied.
    fn event(&mut self, state: &State, entry: &Entry) {
        let _ = (state, entry);
    }
    /// The event contradicts what was known; State took the event's side.
    fn contradiction(&mut self, state: &State, entry: &Entry, what: Contradiction) {
        let _ = (state, entry, what);
    }
    /// The History ended; `state.now()` is its end.
    fn end(&mut self, state: &State) {
        let _ = state;
    }
}

/// The CPUs that tasks want which wait elsewhere: each of them that is idle is one that such a task
/// could use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// None: no such task waits, or no CPU that it may use is idle.
    Nothing,
    /// Every CPU.
    Everything,
    /// These.
    Only(CpuSet),
}

/// An observer that goes along with a check, and hears from it which CPUs are wasted.
pub trait Beside: Observer {
    /// Whether it listens to that: if not, the check need not find it out.
    const LISTENS: bool = true;
    /// From `now` on tasks want these CPUs; before, `Nothing`. It is called before `held` of the
    /// time that begins then.
    fn wanted(&mut self, now: Time, wanted: &Wanted) {
        let _ = (now, wanted);
    }
}

/// Looks at nothing.
impl Beside for () {
    const LISTENS: bool = false;
}

/// The left one listens, if it does; the right one only observes.
impl<A: Beside, B: Observer> Beside for (A, B) {
    const LISTENS: bool = A::LISTENS;
    #[inline(always)]
    fn wanted(&mut self, now: Time, wanted: &Wanted) {
        self.0.wanted(now, wanted);
    }
}

impl<O: Observer + ?Sized> Observer for &mut O {
    #[inline(always)]
    fn begun(&mut self, state: &State) {
        (**self).begun(state);
    }
    #[inline(always)]
    fn held(&mut self, state: &State, from: Time, to: Time) {
        (**self).held(state, from, to);
    }
    #[inline(always)]
    fn task(&mut self, state: &State, task: TaskId, was: &TaskState, now: &TaskState) {
        (**self).task(state, task, was, now);
    }
    #[inline(always)]
    fn cpu(&mut self, state: &State, cpu: CpuId, was: &CpuState, now: &CpuState) {
        (**self).cpu(state, cpu, was, now);
    }
    #[inline(always)]
    fn event(&mut self, state: &State, entry: &Entry) {
        (**self).event(state, entry);
    }
    #[inline(always)]
    fn contradiction(&mut self, state: &State, entry: &Entry, what: Contradiction) {
        (**self).contradiction(state, entry, what);
    }
    #[inline(always)]
    fn end(&mut self, state: &State) {
        (**self).end(state);
    }
}

/// Two observers of one replay, left first. Nest pairs for more: the whole nest is compiled into
/// one call, so that an observer that does not look costs nothing.
impl<A: Observer, B: Observer> Observer for (A, B) {
    #[inline(always)]
    fn begun(&mut self, state: &State) {
        self.0.begun(state);
        self.1.begun(state);
    }
    #[inline(always)]
    fn held(&mut self, state: &State, from: Time, to: Time) {
        self.0.held(state, from, to);
        self.1.held(state, from, to);
    }
    #[inline(always)]
    fn task(&mut self, state: &State, task: TaskId, was: &TaskState, now: &TaskState) {
        self.0.task(state, task, was, now);
        self.1.task(state, task, was, now);
    }
    #[inline(always)]
    fn cpu(&mut self, state: &State, cpu: CpuId, was: &CpuState, now: &CpuState) {
        self.0.cpu(state, cpu, was, now);
        self.1.cpu(state, cpu, was, now);
    }
    #[inline(always)]
    fn event(&mut self, state: &State, entry: &Entry) {
        self.0.event(state, entry);
        self.1.event(state, entry);
    }
    #[inline(always)]
    fn contradiction(&mut self, state: &State, entry: &Entry, what: Contradiction) {
        self.0.contradiction(state, entry, what);
        self.1.contradiction(state, entry, what);
    }
    #[inline(always)]
    fn end(&mut self, state: &State) {
        self.0.end(state);
        self.1.end(state);
    }
}
