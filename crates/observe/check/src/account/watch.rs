//! Collects the input of an account: activity and wakers of each task, and times with an idle CPU.

use std::collections::BTreeMap;

use wastenot_model::{
    Context, CpuId, CpuMode, CpuSet, CpuState, Entry, Event, History, Left, MaskId, Observer,
    Origin, Phase, State, TaskId, TaskReceiver, TaskSpan, TaskSpans, TaskState, Time, Window,
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
        mask: Option<MaskId>,
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
    /// A bit for each of the first affinities of the History: such a CPU is one of its.
    pub open: u64,
}

impl Look {
    /// Whether no idle CPU is in the affinity `mask`.
    pub(super) fn is_closed_to(self, mask: Option<MaskId>) -> bool {
        mask.is_some_and(|mask| mask.0 < u64::BITS && self.open >> mask.0 & 1 == 0)
    }
}

/// The observer.
#[derive(Debug)]
pub(super) struct Watch {
    spans: TaskSpans<Lives>,
    cpus: Vec<(Seen, Time)>,
    /// How many CPUs are idle, and of how many it is not known.
    counts: [usize; 2],
    /// The first affinities of the History, and how many CPUs of each are idle.
    masks: Vec<(CpuSet, usize)>,
    looks: Vec<(Time, Look)>,
    places: BTreeMap<CpuId, Vec<(Window, Place)>>,
}

/// What there is to know of a CPU where tasks wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// It runs its idle task and is about to start this one, which has waited there longest.
    Waking(TaskId),
    /// A task that seems to wait there may run already.
    Unsure,
}

/// What was seen of a CPU last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    Idle,
    Busy,
    Silent,
    Of(Place),
}

impl Seen {
    /// Whether it is idle, and whether it is not known.
    fn counts(self) -> [bool; 2] {
        [self == Seen::Idle, matches!(self, Seen::Of(Place::Unsure) | Seen::Silent)]
    }
}

/// What was seen of a History.
#[derive(Debug)]
pub(super) struct Sight {
    pub lives: Vec<Life>,
    /// Since when which look holds, in order.
    pub looks: Vec<(Time, Look)>,
    /// By CPU, what there is to know of it, in order.
    pub places: BTreeMap<CpuId, Vec<(Window, Place)>>,
}

impl Watch {
    pub(super) fn new(window: Window, history: &History) -> Watch {
        let tasks = history.task_count();
        let masks = history.masks().iter().take(u64::BITS as usize);
        let lives = vec![Life::default(); tasks];
        let lives = Lives { window, lives, lasts: vec![Last::default(); tasks] };
        let spans = TaskSpans::new(lives);
        Watch {
            spans,
            cpus: Vec::new(),
            counts: [0, 0],
            masks: masks.map(|mask| (mask.clone(), 0)).collect(),
            looks: vec![(Time(0), Look { idle: false, unknown: false, open: 0 })],
            places: BTreeMap::new(),
        }
    }

    /// What was seen, once the replay has ended.
    pub(super) fn finish(self) -> Sight {
        Sight { lives: self.spans.to.lives, looks: self.looks, places: self.places }
    }

    fn see(&mut self, cpu: CpuId, seen: Seen, now: Time) {
        if cpu.index() >= self.cpus.len() {
            self.cpus.resize(cpu.index() + 1, (Seen::Busy, now));
        }
        let known = &mut self.cpus[cpu.index()];
        if known.0 == seen {
            return;
        }
        let (was, from) = std::mem::replace(known, (seen, now));
        if let Seen::Of(place) = was
            && from < now
        {
            self.places.entry(cpu).or_default().push((Window { from, to: now }, place));
        }
        self.counts.iter_mut().zip(was.counts()).for_each(|(count, it)| *count -= usize::from(it));
        self.counts.iter_mut().zip(seen.counts()).for_each(|(count, it)| *count += usize::from(it));
        let [idle, unknown] = self.counts.map(|count| count > 0);
        for (mask, count) in self.masks.iter_mut().filter(|(mask, _)| mask.contains(cpu)) {
            *count = *count + usize::from(seen == Seen::Idle) - usize::from(was == Seen::Idle);
            debug_assert!(*count <= mask.len());
        }
        let open = self.masks.iter().rev();
        let open = open.fold(0, |open, (_, count)| open << 1 | u64::from(*count > 0));
        let look = Look { idle, unknown, open };
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
        let seen = match is.mode {
            CpuMode::Unknown if is.silent => Seen::Silent,
            CpuMode::Unknown => Seen::Of(Place::Unsure),
            CpuMode::Idle => match state.first_waiting(cpu) {
                Some(head) => Seen::Of(Place::Waking(head)),
                None => Seen::Idle,
            },
            CpuMode::Busy(_) | CpuMode::Offline => Seen::Busy,
        };
        self.see(cpu, seen, state.now());
    }

    #[inline]
    fn event(&mut self, state: &State, entry: &Entry) {
        self.spans.event(state, entry);
        let lives = &mut self.spans.to;
        match entry.event {
            Event::Switch { prev, next, left, .. } => {
                if let Some(last) = lives.last(prev) {
                    last.left = Some(left);
                }
                if let Some(last) = lives.last(next) {
                    last.woken_awake = false;
                }
            }
            Event::Waking { task, .. } if state.task(task).phase == Phase::Running => {
                if let Some(last) = lives.last(task) {
                    last.woken_awake = true;
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, state: &State) {
        self.spans.end(state);
        for (cpu, _) in state.cpus() {
            self.see(cpu, Seen::Silent, state.now());
        }
    }
}

/// What tasks did within the window.
#[derive(Debug)]
struct Lives {
    window: Window,
    lives: Vec<Life>,
    lasts: Vec<Last>,
}

/// What was seen last of a task, and State does not keep.
#[derive(Clone, Copy, Debug, Default)]
struct Last {
    /// How it left its CPU.
    left: Option<Left>,
    /// It was being woken while it still ran: it was about to sleep.
    woken_awake: bool,
}

impl Lives {
    fn last(&mut self, task: TaskId) -> Option<&mut Last> {
        self.lasts.get_mut(task.index()?)
    }

    /// What it means that `span.task` sleeps, or is new.
    fn sleep(&mut self, span: &TaskSpan<'_, (Phase, Option<CpuId>)>) -> Is {
        let Window { from, to } = span.window;
        let Last { left, woken_awake } = self.last(span.task).copied().unwrap_or_default();
        let left = left.unwrap_or(Left::Unknown);
        let Some(next) = span.next else {
            return Is::Sleeping { left, waking: to, waker: Waker::Unknown };
        };
        let (waker, at) = woken(next, to);
        let waking = match span.seen.0 {
            Phase::New => to, // until it is queued its parent creates it
            _ if next.waking.is_none() && woken_awake => from,
            _ => at.clamp(from, to),
        };
        Is::Sleeping { left, waking, waker }
    }
}

impl TaskReceiver for Lives {
    type Seen = (Phase, Option<CpuId>);

    #[inline]
    fn see(&self, is: &TaskState) -> Self::Seen {
        let is_placed = matches!(is.phase, Phase::Running | Phase::Waiting);
        (is.phase, is.cpu.filter(|_| is_placed))
    }

    fn span(&mut self, span: TaskSpan<'_, Self::Seen>) {
        let is = match span.seen {
            (Phase::Running, Some(cpu)) => Some(Is::Running(cpu)),
            (Phase::Waiting, cpu) => {
                let (sure, mask) = (span.was.origin.is_sure(), span.was.mask);
                Some(Is::Waiting { cpu, sure, mask })
            }
            (Phase::Held, _) => Some(Is::Held),
            (Phase::Sleeping | Phase::New, _) => Some(self.sleep(&span)),
            (Phase::Unknown | Phase::Dead | Phase::Running, _) => None,
        };
        let life = span.task.index().and_then(|index| self.lives.get_mut(index));
        let Some(life) = life else { return };
        let Some(is) = is else {
            match span.seen.0 {
                Phase::Dead => life.died = Some(span.window.from),
                _ => life.born = life.born.or_else(|| birth(span.next?)),
            }
            return;
        };
        // That a task was woken counts also where it is not known since when it slept.
        let is_woken = matches!(is, Is::Sleeping { .. }) && self.window.holds(span.window.to);
        if is_woken || self.window.clip(span.window.from, span.window.to).is_some() {
            life.segments.push(Segment { window: span.window, is });
        }
    }
}

/// Whether a task of which nothing was known begins here.
fn birth(next: &TaskState) -> Option<(Time, Waker)> {
    let is_queued = matches!(next.phase, Phase::Waiting | Phase::Held);
    let is_new = next.phase == Phase::New || is_queued && next.origin == Origin::Fork;
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
