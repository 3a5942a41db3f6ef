//! How waits begin.

use wastenot_model::{
    Context, CpuId, CpuMode, Distance, How, Span, State, TaskId, TaskState, Time,
};

use super::Watch;
use crate::causes::evidence::{Onset, begins_now};
use crate::placements::Landing;

/// Load decays to its half in so many periods of 1024 us (`LOAD_AVG_PERIOD`, kernel/sched/pelt.h).
const PELT_HALF_LIFE: Span = Span(32 * 1024 * 1000);

impl Watch<'_> {
    /// `prev` waits since `next` runs in its place: the queue is as long as it is for the reason
    /// for which `next` waited.
    pub(super) fn take_over(&mut self, prev: TaskId, next: TaskId) {
        if let (Some(prev), Some(next)) = (prev.index(), next.index()) {
            self.onsets[prev] = self.onsets[next];
        }
    }

    /// The task that woke others onto its own `cpu` left it: from now on they wait for another
    /// reason.
    pub(super) fn waker_left(&mut self, state: &State, cpu: CpuId) {
        let tasks: Vec<TaskId> = state.waiting(cpu).collect();
        tasks.into_iter().for_each(|task| self.not_behind_waker(task, state.now()));
    }

    /// `task` does not wait behind its waker any more.
    pub(super) fn not_behind_waker(&mut self, task: TaskId, now: Time) {
        let Some(index) = task.index() else { return };
        if self.onsets[index] == Onset::BehindWaker {
            if self.charges.is_charged(task) {
                self.begin_anew(task, now);
            }
            self.onsets[index] = Onset::SomeIdle;
        }
    }

    /// `next` was started before others that had been put on the idle `cpu`: it made the queue too
    /// long, not they.
    pub(super) fn overtaken(&mut self, state: &State, cpu: CpuId, next: TaskId) {
        for task in state.waiting(cpu) {
            if let (Some(index), Some(next)) = (task.index(), next.index())
                && self.onsets[index] == Onset::OnIdle
            {
                self.onsets[index] = self.onsets[next];
            }
        }
    }

    #[inline(never)]
    pub(super) fn queued(&mut self, state: &State, task: TaskId, on: Option<CpuId>, how: How) {
        let Some(index) = task.index() else { return };
        let known = state.task(task);
        if !begins_now(&known, state.now()) {
            return;
        }
        self.onsets[index] = match on {
            Some(cpu) => self.onset(state, task, &known, cpu, how),
            None => Onset::Unknown,
        };
        if let (Some(cpu), Onset::BehindWaker) = (on, self.onsets[index]) {
            self.behind_waker[cpu.index()] = true;
        }
    }

    fn onset(&self, state: &State, task: TaskId, known: &TaskState, cpu: CpuId, how: How) -> Onset {
        let idle = || self.idle.iter();
        let landing = Landing::of(self.history, self.movable, state, task, cpu, idle);
        let previous = match landing {
            Landing::Unknown => return Onset::Unknown,
            Landing::OnIdle => return Onset::OnIdle,
            Landing::NoneIdle => return Onset::AllBusy,
            Landing::SomeIdle { previous } => previous,
        };
        let waker = known.waker.task.filter(|_| known.waker.context == Context::Task);
        let behind_waker = waker.is_some_and(|waker| state.cpu(cpu).mode == CpuMode::Busy(waker));
        let mask = known.mask.and_then(|mask| self.history.mask(mask));
        let mut allowed = idle().filter(|cpu| mask.is_none_or(|mask| mask.contains(*cpu)));
        let machine = &self.history.head.machine;
        let known_cache = machine.cpu(cpu).is_some_and(|cpu| cpu.llc.is_some());
        let elsewhere = |other| match machine.distance(cpu, other) {
            Distance::Other => true,
            Distance::Node => known_cache,
            _ => false,
        };
        match how {
            How::NoSelection => Onset::NoSelection,
            How::New => Onset::Fork,
            How::Wakeup if previous && self.has_recent_load(state, task, known.prev) => {
                Onset::RecentLoad
            }
            How::Wakeup if previous => Onset::PreviousIdle,
            How::Wakeup if behind_waker => Onset::BehindWaker,
            How::Wakeup if allowed.all(elsewhere) => Onset::OtherCache,
            How::Wakeup => Onset::SomeIdle,
        }
    }

    /// Whether another task than `task` has just run on the idle `cpu`.
    fn has_recent_load(&self, state: &State, task: TaskId, cpu: Option<CpuId>) -> bool {
        cpu.is_some_and(|cpu| {
            let last = self.last[cpu.index()];
            let recent = state.now().since(state.cpu(cpu).since) < PELT_HALF_LIFE;
            recent && !last.is_idle() && last != task
        })
    }
}
