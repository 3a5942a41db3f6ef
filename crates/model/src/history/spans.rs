//! Spans: the stretches of time in which a task or a CPU does one thing.
//!
//! [`CpuSpans`] and [`TaskSpans`] are the Observers that keep since when something holds. A
//! receiver says what it tells apart (a CPU's mode, the length of its run queue, whether a task
//! waits), and takes each span as it ends. Spans are passed on and never stored here; those that
//! are open when the History ends are handed out then.
//!
//! ```
//! use wastenot_model::*;
//! struct Idle(u64);
//! impl CpuReceiver for Idle {
//!     type Seen = bool;
//!     fn see(&self, is: &CpuState) -> bool {
//!         is.is_idle()
//!     }
//!     fn span(&mut self, _: CpuId, idle: bool, window: Window) {
//!         self.0 += if idle { window.span().0 } else { 0 };
//!     }
//! }
//! let mut sink = Builder::new(Head::new(Machine::flat(1)));
//! let name = sink.name("worker");
//! let (idle, task) = (TaskId::idle(CpuId(0)), sink.task(Task::new(7, name)));
//! sink.push(Entry::switch(Time(10), CpuId(0), task, idle, Left::Sleeping));
//! sink.push(Entry::switch(Time(40), CpuId(0), idle, task, Left::Runnable));
//! let mut spans = CpuSpans::new(Idle(0));
//! replay(&sink.finish(), Silent::Unknown, &mut spans);
//! assert_eq!(spans.to.0, 30);
//! ```

use std::ops::Index;

use crate::{
    CpuId, CpuMode, CpuState, Entry, Event, Observer, State, TaskId, TaskState, Time, Window,
};

/// What each of several things is, and since when.
#[derive(Clone, Debug)]
pub struct Since<T>(Vec<(T, Time)>);

impl<T: Copy + PartialEq> Since<T> {
    /// Things that are as these say since the time 0.
    pub fn new(each: impl Iterator<Item = T>) -> Since<T> {
        Since(each.map(|is| (is, Time(0))).collect())
    }
    /// The `n`th is `is` from `now` on. If it was something else: what, and when.
    #[inline]
    pub fn set(&mut self, n: usize, is: T, now: Time) -> Option<(T, Window)> {
        let known = self.0.get_mut(n).filter(|known| known.0 != is)?;
        let (was, from) = std::mem::replace(known, (is, now));
        Some((was, Window { from, to: now }))
    }
    /// What each is now, in order.
    pub fn values(&self) -> impl Iterator<Item = T> {
        self.0.iter().map(|(is, _)| *is)
    }
    /// What each is and was until `now`.
    pub fn open(&self, now: Time) -> impl Iterator<Item = (T, Window)> {
        self.0.iter().map(move |&(is, from)| (is, Window { from, to: now }))
    }
}

impl<T> Index<usize> for Since<T> {
    type Output = T;
    #[inline]
    fn index(&self, n: usize) -> &T {
        &self.0[n].0
    }
}

/// What a CPU does, as it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// Nothing is known.
    Unknown,
    /// It is down.
    Offline,
    /// It has nothing to run.
    Idle,
    /// It is about to start what was queued on it.
    Waking,
    /// It runs this task.
    Run(TaskId),
}

impl Activity {
    /// Its word in tables.
    pub fn name(self) -> &'static str {
        match self {
            Activity::Unknown => "unknown",
            Activity::Offline => "offline",
            Activity::Idle => "idle",
            Activity::Waking => "waking",
            Activity::Run(_) => "run",
        }
    }
}

impl CpuState {
    /// What it does.
    #[inline]
    pub fn activity(&self) -> Activity {
        match self.mode {
            CpuMode::Unknown => Activity::Unknown,
            CpuMode::Offline => Activity::Offline,
            CpuMode::Idle if self.waiting > 0 => Activity::Waking,
            CpuMode::Idle => Activity::Idle,
            CpuMode::Busy(task) => Activity::Run(task),
        }
    }
}

/// Takes spans of CPUs.
pub trait CpuReceiver {
    /// What it tells apart.
    type Seen: Copy + PartialEq;
    /// What it sees of a CPU.
    fn see(&self, is: &CpuState) -> Self::Seen;
    /// `cpu` was so in `window`, which may be empty.
    fn span(&mut self, cpu: CpuId, seen: Self::Seen, window: Window);
}

impl<R: CpuReceiver + ?Sized> CpuReceiver for &mut R {
    type Seen = R::Seen;
    #[inline(always)]
    fn see(&self, is: &CpuState) -> R::Seen {
        (**self).see(is)
    }
    #[inline(always)]
    fn span(&mut self, cpu: CpuId, seen: R::Seen, window: Window) {
        (**self).span(cpu, seen, window);
    }
}

/// Hands out the spans of all CPUs, from the start of the History on.
#[derive(Clone, Debug)]
pub struct CpuSpans<R> {
    /// Who takes them.
    pub to: R,
    /// Empty before the start is told.
    since: Vec<Time>,
}

impl<R: CpuReceiver> CpuSpans<R> {
    /// Spans for `to`.
    pub fn new(to: R) -> CpuSpans<R> {
        CpuSpans { to, since: Vec::new() }
    }
}

impl<R: CpuReceiver> Observer for CpuSpans<R> {
    fn begun(&mut self, state: &State) {
        self.since = vec![state.now(); state.cpu_count()];
    }

    #[inline]
    fn cpu(&mut self, state: &State, cpu: CpuId, was: &CpuState, now: &CpuState) {
        let seen = self.to.see(was);
        if seen == self.to.see(now) {
            return;
        }
        if let Some(since) = self.since.get_mut(cpu.index()) {
            let from = std::mem::replace(since, state.now());
            self.to.span(cpu, seen, Window { from, to: state.now() });
        }
    }

    fn end(&mut self, state: &State) {
        for (&from, (cpu, is)) in self.since.iter().zip(state.cpus()) {
            let seen = self.to.see(is);
            self.to.span(cpu, seen, Window { from, to: state.now() });
        }
    }
}

/// A stretch of time in which a task was so.
#[derive(Clone, Copy, Debug)]
pub struct TaskSpan<'s, T> {
    /// Which task.
    pub task: TaskId,
    /// What the receiver saw of it.
    pub seen: T,
    /// When; it may be empty.
    pub window: Window,
    /// The task when the span ended; unknown where a loss ended it.
    pub was: &'s TaskState,
    /// The task after the span; `None` where the History ended, or a loss made it unknown.
    pub next: Option<&'s TaskState>,
}

/// Takes spans of tasks.
pub trait TaskReceiver {
    /// What it tells apart. It must not depend on where a task ran that does not want to run: that
    /// changes without being told.
    type Seen: Copy + PartialEq;
    /// What it sees of a task.
    fn see(&self, is: &TaskState) -> Self::Seen;
    /// A task was so.
    fn span(&mut self, span: TaskSpan<'_, Self::Seen>);
}

impl<R: TaskReceiver + ?Sized> TaskReceiver for &mut R {
    type Seen = R::Seen;
    #[inline(always)]
    fn see(&self, is: &TaskState) -> R::Seen {
        (**self).see(is)
    }
    #[inline(always)]
    fn span(&mut self, span: TaskSpan<'_, R::Seen>) {
        (**self).span(span);
    }
}

/// Hands out the spans of all tasks, from the start of the History on.
#[derive(Clone, Debug)]
pub struct TaskSpans<R: TaskReceiver> {
    /// Who takes them.
    pub to: R,
    /// The start, once it is told.
    begun: Option<Time>,
    known: Vec<Known<R::Seen>>,
    losses: Vec<Time>,
}

/// What a receiver saw of a task last, since when, and how many losses there were before.
#[derive(Clone, Copy, Debug)]
struct Known<T> {
    seen: T,
    from: Time,
    losses: usize,
}

impl<R: TaskReceiver> TaskSpans<R> {
    /// Spans for `to`.
    pub fn new(to: R) -> TaskSpans<R> {
        TaskSpans { to, begun: None, known: Vec::new(), losses: Vec::new() }
    }

    /// A loss makes those who sleep unknown, and no change is told: `was`, of which the receiver
    /// sees `seen`, is not what was known then.
    #[inline]
    fn hand_out(
        &mut self,
        task: TaskId,
        known: Known<R::Seen>,
        (was, seen): (&TaskState, R::Seen),
        next: Option<&TaskState>,
        now: Time,
    ) {
        let mut window = Window { from: known.from, to: now };
        if let (true, Some(&lost)) = (known.seen != seen, self.losses.get(known.losses)) {
            window.to = lost;
            self.to.span(TaskSpan { task, seen: known.seen, window, was, next: None });
            window = Window { from: lost, to: now };
        }
        self.to.span(TaskSpan { task, seen, window, was, next });
    }
}

impl<R: TaskReceiver> Observer for TaskSpans<R> {
    fn begun(&mut self, state: &State) {
        self.begun = Some(state.now());
    }

    #[inline]
    fn task(&mut self, state: &State, task: TaskId, was: &TaskState, now: &TaskState) {
        let (seen, is) = (self.to.see(was), self.to.see(now));
        if seen == is {
            return;
        }
        let Some(index) = task.index() else { return };
        if index >= self.known.len() {
            // One that was not met before is unknown since the start.
            let from = self.begun.unwrap_or(state.now());
            let first = Known { seen: self.to.see(&TaskState::UNKNOWN), from, losses: 0 };
            self.known.resize(index + 1, first);
        }
        let new = Known { seen: is, from: state.now(), losses: self.losses.len() };
        let known = std::mem::replace(&mut self.known[index], new);
        if self.begun.is_some() {
            self.hand_out(task, known, (was, seen), Some(now), state.now());
        }
    }

    #[inline]
    fn event(&mut self, state: &State, entry: &Entry) {
        if let Event::Lost { .. } = entry.event {
            self.losses.push(state.now());
        }
    }

    fn end(&mut self, state: &State) {
        for index in 0..self.known.len() {
            let task = TaskId::nth(index);
            let is = state.task(task);
            let seen = self.to.see(&is);
            self.hand_out(task, self.known[index], (&is, seen), None, state.now());
        }
    }
}
