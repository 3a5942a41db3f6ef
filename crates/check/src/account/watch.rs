//! What an account is made of: what each task did when, who woke it, and whether a CPU was idle.

use std::collections::BTreeMap;

use wastenot_model::{
    Context, CpuId, CpuMode, CpuState, Entry, Event, Left, Observer, Phase, State, TaskId,
    TaskReceiver, TaskSpan, TaskSpans, TaskState, Time, Window,
};

/// Who ended a sleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waker {
    Task(TaskId),
    /// An interrupt, or the idle task.
    Interrupt,
    Unknown,
}

/// What a task does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Is {
    Running(CpuId),
    /// `sure` unless it may not be queued yet.
    Waiting {
        cpu: Option<CpuId>,
        sure: bool,
    },
    Held,
    /// It sleeps until `waking`, and is on no run queue until the end of the segment.
    Sleeping {
        left: Left,
        waking: Time,
        waker: Waker,
    },
}

/// A stretch of time in which a task did one thing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    pub window: Window,
    pub is: Is,
}

/// What a task did: its segments in order. Between them nothing is known of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Life {
    pub segments: Vec<Segment>,
    /// When it was created, and by which task, where that is recorded.
    pub born: Option<(Time, Waker)>,
    /// When it ended for good.
    pub died: Option<Time>,
}

impl Life {
    /// How many segments begin before `time`: the last of them may hold it.
    pub(super) fn before(&self, time: Time) -> usize {
        self.segments.partition_point(|segment| segment.window.from < time)
    }
}

/// Whether CPUs were idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look {
    /// One was idle, and nothing was queued there.
    pub idle: bool,
    /// What one did is not known.
    pub unknown: bool,
}

/// The observer.
#[derive(Debug)]
pub(super) struct Watch {
    spans: TaskSpans<Lives>,
    cpus: Vec<Seen>,
    /// How many CPUs are idle, and of how many it is not known.
    counts: [usize; 2],
    looks: Vec<(Time, Look)>,
    unsure: BTreeMap<CpuId, Vec<Window>>,
}

/// What was seen of a CPU last, and since when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    Idle,
    Busy,
    /// A task that seems to wait there may run already.
    Unsure(Time),
    Silent,
}

impl Seen {
    /// Whether it is idle, and whether it is not known.
    fn counts(self) -> [bool; 2] {
        [self == Seen::Idle, matches!(self, Seen::Unsure(_) | Seen::Silent)]
    }
}

/// What was seen of a History.
#[derive(Debug)]
pub(super) struct Sight {
    pub lives: Vec<Life>,
    /// Since when which look holds, in order.
    pub looks: Vec<(Time, Look)>,
    /// When a task that seems to wait on a CPU may run there already.
    pub unsure: BTreeMap<CpuId, Vec<Window>>,
}

impl Watch {
    pub(super) fn new(window: Window, tasks: usize) -> Watch {
        let lives = vec![Life::default(); tasks];
        let lives = Lives { window, lives, left: vec![Left::Unknown; tasks] };
        let spans = TaskSpans::new(lives);
        Watch {
            spans,
            cpus: Vec::new(),
            counts: [0, 0],
            looks: Vec::new(),
            unsure: BTreeMap::new(),
        }
    }

    /// What was seen, once the replay has ended.
    pub(super) fn finish(self) -> Sight {
        Sight { lives: self.spans.to.lives, looks: self.looks, unsure: self.unsure }
    }

    fn see(&mut self, cpu: CpuId, seen: Seen, now: Time) {
        if cpu.index() >= self.cpus.len() {
            self.cpus.resize(cpu.index() + 1, Seen::Busy);
        }
        let was = std::mem::replace(&mut self.cpus[cpu.index()], seen);
        self.counts.iter_mut().zip(was.counts()).for_each(|(count, it)| *count -= usize::from(it));
        self.counts.iter_mut().zip(seen.counts()).for_each(|(count, it)| *count += usize::from(it));
        if let Seen::Unsure(from) = was {
            self.unsure.entry(cpu).or_default().push(Window { from, to: now });
        }
        let [idle, unknown] = self.counts.map(|count| count > 0);
        let look = Look { idle, unknown };
        match self.looks.last_mut() {
            Some((_, last)) if *last == look => {}
            Some((time, last)) if *time == now => *last = look,
            _ => self.looks.push((now, look)),
        }
    }
}

impl Observer for Watch {
    fn begun(&mut self, state: &State) {
        self.spans.begun(state);
    }

    #[inline]
    fn task(&mut self, state: &State, task: TaskId, was: &TaskState, now: &TaskState) {
        self.spans.task(state, task, was, now);
    }

    #[inline]
    fn cpu(&mut self, state: &State, cpu: CpuId, _: &CpuState, is: &CpuState) {
        let now = state.now();
        let seen = match is.mode {
            CpuMode::Unknown if is.silent => Seen::Silent,
            CpuMode::Unknown => Seen::Unsure(now),
            CpuMode::Idle if is.is_idle() => Seen::Idle,
            _ => Seen::Busy,
        };
        let was = self.cpus.get(cpu.index()).copied();
        let still = matches!((was, seen), (Some(Seen::Unsure(_)), Seen::Unsure(_)));
        if !still && was != Some(seen) {
            self.see(cpu, seen, now);
        }
    }

    #[inline]
    fn event(&mut self, state: &State, entry: &Entry) {
        self.spans.event(state, entry);
        if let Event::Switch { prev, left, .. } = entry.event
            && let Some(of) = prev.index().and_then(|index| self.spans.to.left.get_mut(index))
        {
            *of = left;
        }
    }

    fn end(&mut self, state: &State) {
        self.spans.end(state);
        for cpu in 0..self.cpus.len() {
            if let Seen::Unsure(_) = self.cpus[cpu] {
                self.see(CpuId(cpu as u16), Seen::Silent, state.now());
            }
        }
    }
}

/// What tasks did within the window.
#[derive(Debug)]
struct Lives {
    window: Window,
    lives: Vec<Life>,
    /// How each left its CPU last.
    left: Vec<Left>,
}

impl TaskReceiver for Lives {
    type Seen = (Phase, Option<CpuId>);

    #[inline]
    fn see(&self, is: &TaskState) -> Self::Seen {
        let is_placed = matches!(is.phase, Phase::Running | Phase::Waiting);
        (is.phase, is.cpu.filter(|_| is_placed))
    }

    fn span(&mut self, span: TaskSpan<'_, Self::Seen>) {
        let Some(life) = span.task.index().and_then(|index| self.lives.get_mut(index)) else {
            return;
        };
        let is = match span.seen {
            (Phase::Running, Some(cpu)) => Is::Running(cpu),
            (Phase::Waiting, cpu) => Is::Waiting { cpu, sure: span.was.origin.is_sure() },
            (Phase::Held, _) => Is::Held,
            (Phase::Sleeping | Phase::New, _) => {
                let to = span.window.to;
                let (waker, waking) =
                    span.next.map_or((Waker::Unknown, to), |next| woken(next, to));
                // Until a new task is queued, its parent creates it.
                let is_new = span.seen.0 == Phase::New;
                let waking = if is_new { to } else { waking.clamp(span.window.from, to) };
                Is::Sleeping { left: self.left[span.task.index().unwrap_or(0)], waking, waker }
            }
            (Phase::Dead, _) => {
                life.died = Some(span.window.from);
                return;
            }
            (Phase::Unknown | Phase::Running, _) => {
                life.born = life.born.or_else(|| birth(span.next?));
                return;
            }
        };
        if self.window.clip(span.window.from, span.window.to).is_some() {
            life.segments.push(Segment { window: span.window, is });
        }
    }
}

/// Whether a task of which nothing was known begins here.
fn birth(next: &TaskState) -> Option<(Time, Waker)> {
    let is_queued = matches!(next.phase, Phase::Waiting | Phase::Held);
    let is_new =
        next.phase == Phase::New || is_queued && next.origin == wastenot_model::Origin::Fork;
    is_new.then(|| (next.since, woken(next, next.since).0))
}

/// Who woke a task that is `next` from `to` on, and when.
fn woken(next: &TaskState, to: Time) -> (Waker, Time) {
    let queued = matches!(next.phase, Phase::Waiting | Phase::Held);
    let Some(at) = next.waking.or(queued.then_some(to)) else { return (Waker::Unknown, to) };
    let waker = match (next.waker.context, next.waker.task) {
        (Context::Task, Some(task)) if !task.is_idle() => Waker::Task(task),
        // Without a waking this may be the interrupt by which another CPU was asked to queue it.
        (Context::Unknown, _) | (Context::Task, None) => Waker::Unknown,
        _ if next.waking.is_none() => Waker::Unknown,
        _ => Waker::Interrupt,
    };
    (waker, at)
}
