//! Time slices, and how interactive tasks are distinguished from others: by the time they sleep.

use wastenot_model::policy::Context;
use wastenot_model::{CpuId, Span, TaskId, Time};

use super::GRANULARITY;
use super::array::{COUNT, FIRST};

/// The most sleep that is remembered; it equals ten levels of bonus.
const MAX_SLEEP: u64 = 1_000_000_000;
const LEVELS: u64 = 10;
/// How much of its parent's remembered sleep a child has, in percent.
const CHILD_PERCENT: u64 = 95;
/// Shortest and longest slice, from nice 19 to -20; 100 ms at nice 0.
const SLICE_MIN_MS: u64 = 5;
const SLICE_MAX_MS: u64 = 200;
/// How long a task is cache-hot after it ran.
const HOT: Span = Span(2_500_000);

/// Where a preempted task goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum After {
    /// First of its priority again: a better task preempted it.
    #[default]
    Front,
    /// Last of its priority: it is interactive and has had a turn.
    Back,
    /// Into the expired array.
    Expired,
}

/// What is kept for every task.
#[derive(Debug)]
pub(super) struct Tasks {
    tasks: Vec<Task>,
    /// Whether a task that blocked gets the full bonus.
    boost_blocked: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Task {
    prio: u8,
    nice: i8,
    /// What is left of its slice.
    left: Span,
    /// Sleep that is remembered, in nanoseconds.
    slept: u64,
    /// When it last began or stopped to run.
    since: Time,
    after: After,
    push: Option<CpuId>,
}

impl Task {
    /// 0..=10; 5 is neutral.
    fn level(&self) -> u64 {
        self.slept * LEVELS / MAX_SLEEP
    }
    fn effective(&self) -> u8 {
        let fixed = 120 + i64::from(self.nice);
        let prio = fixed - (self.level() as i64 - LEVELS as i64 / 2);
        prio.clamp(i64::from(FIRST), i64::from(FIRST + COUNT - 1)) as u8
    }
    /// Whether its bonus is large enough for its nice value.
    fn is_interactive(&self) -> bool {
        let (prio, nice) = (i64::from(self.prio), i64::from(self.nice));
        prio <= 120 + nice - (nice * LEVELS as i64 / 40 + 2)
    }
    fn slice(&self) -> Span {
        let steps = (19 - i64::from(self.nice)) as u64;
        Span::ms(SLICE_MIN_MS + (SLICE_MAX_MS - SLICE_MIN_MS) * steps / 39)
    }
}

impl Tasks {
    pub(super) fn new(boost_blocked: bool) -> Tasks {
        Tasks { tasks: Vec::new(), boost_blocked }
    }

    fn of(&mut self, task: TaskId) -> &mut Task {
        &mut self.tasks[task.ordinal()]
    }
    pub(super) fn prio(&self, task: TaskId) -> u8 {
        self.tasks[task.ordinal()].prio
    }
    /// Whether the task is cache-hot.
    pub(super) fn is_hot(&self, task: TaskId, now: Time) -> bool {
        now - self.tasks[task.ordinal()].since < HOT
    }

    /// A child shares its parent's slice with it; a first task is neutral.
    pub(super) fn born(&mut self, child: TaskId, parent: Option<TaskId>, cx: &Context) {
        self.tasks.resize(cx.tasks.len(), Task::default());
        let nice = cx.task(child).nice;
        let mut new = Task { nice, slept: MAX_SLEEP / 2, since: cx.now, ..Task::default() };
        new.left = new.slice();
        if let Some(parent) = parent {
            let parent = self.of(parent);
            new.slept = parent.slept * CHILD_PERCENT / 100;
            new.left = Span(parent.left.0.div_ceil(2));
            parent.left = Span(parent.left.0 / 2);
        }
        new.prio = new.effective();
        *self.of(child) = new;
    }

    /// The task slept until now. A long sleep makes it just interactive, so that a task that is
    /// idle for long gets no more than that; a short sleep counts more when the task has less
    /// remembered sleep.
    pub(super) fn woken(&mut self, task: TaskId, cx: &Context) {
        let boost_blocked = self.boost_blocked;
        let state = self.of(task);
        let slept = (cx.now - state.since).0.min(MAX_SLEEP);
        let just_interactive = MAX_SLEEP - Span::ms(100).0;
        (state.after, state.push) = (After::Front, None);
        state.slept = if boost_blocked {
            MAX_SLEEP
        } else if slept > just_interactive {
            state.slept.max(just_interactive)
        } else {
            let weight = (LEVELS - state.level()).max(1);
            (state.slept + slept * weight).min(MAX_SLEEP)
        };
        state.nice = cx.task(task).nice;
        state.prio = state.effective();
    }

    pub(super) fn begins(&mut self, task: TaskId, now: Time) {
        self.of(task).since = now;
    }

    /// The task ran until now: remembered sleep decays, more slowly when there is more of it.
    pub(super) fn charge(&mut self, task: TaskId, now: Time) {
        let state = self.of(task);
        let ran = (now - state.since).0.min(MAX_SLEEP);
        state.slept = state.slept.saturating_sub(ran / state.level().max(1));
        state.since = now;
    }

    /// A tick of the running task: where it has to go, if it has to.
    pub(super) fn tick(
        &mut self,
        task: TaskId,
        cx: &Context,
        tick: Span,
        starves: bool,
    ) -> Option<After> {
        self.charge(task, cx.now);
        let state = self.of(task);
        state.left = Span(state.left.0.saturating_sub(tick.0));
        let after = if state.left == Span::ZERO {
            state.nice = cx.task(task).nice;
            state.prio = state.effective();
            state.left = state.slice();
            match state.is_interactive() && !starves {
                true => After::Back,
                false => After::Expired,
            }
        } else {
            let used = state.slice().0.saturating_sub(state.left.0);
            let turn = used > 0 && used.is_multiple_of(GRANULARITY.0) && state.left >= GRANULARITY;
            if !(state.is_interactive() && turn) {
                return None;
            }
            After::Back
        };
        state.after = after;
        Some(after)
    }

    /// When it is next preempted it goes to `to`.
    pub(super) fn push(&mut self, task: TaskId, to: CpuId) {
        self.of(task).push = Some(to);
    }

    /// The task is preempted: where it goes.
    pub(super) fn leaves(&mut self, task: TaskId) -> (After, Option<CpuId>) {
        let state = self.of(task);
        (std::mem::take(&mut state.after), state.push.take())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nice(nice: i8) -> Task {
        Task { nice, ..Task::default() }
    }

    #[test]
    fn slices_are_5_to_200_ms_and_100_at_nice_0() {
        assert_eq!([19, 0, -20].map(|n| nice(n).slice()), [5, 100, 200].map(Span::ms));
    }

    #[test]
    fn sleep_is_worth_five_priorities_either_way() {
        let prio = |slept| Task { slept, ..nice(0) }.effective();
        assert_eq!([0, MAX_SLEEP / 2, MAX_SLEEP].map(prio), [125, 120, 115]);
        assert_eq!(Task { slept: MAX_SLEEP, ..nice(-20) }.effective(), 100);
        assert_eq!(nice(19).effective(), 139);
    }

    #[test]
    fn nice_tasks_need_more_bonus_to_be_interactive() {
        let needs = |n: i8| {
            let with = |bonus: i16| Task { prio: (120 + i16::from(n) - bonus) as u8, ..nice(n) };
            (0..=9).find(|&bonus| with(bonus).is_interactive())
        };
        assert_eq!((needs(0), needs(10), needs(19)), (Some(2), Some(4), Some(6)));
    }
}
