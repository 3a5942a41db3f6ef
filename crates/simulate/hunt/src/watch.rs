//! What a trial looks at beside the waste: how long tasks wait and what they get, and CPUs that a
//! scheduler overlooks.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use wastenot_model::{
    CpuId, History, MaskId, Observer, Phase, Span, State, TaskId, TaskState, Time,
};

/// How long tasks wait, how often they are moved in that time, and what they get while they want to
/// run.
#[derive(Default)]
pub(crate) struct Waits {
    /// The longest wait.
    pub longest: Span,
    /// The most moves of one task in one wait, while no task came or went.
    pub moves: u64,
    /// How often a task came or went, or what it may use changed.
    changes: u64,
    /// By task, where it wants to run.
    wanting: Vec<Option<Wanting>>,
    /// The least share by length, in steps of an eighth of a power of two.
    pub served: BTreeMap<u64, Served>,
}

/// A task that runs or waits all the time.
#[derive(Clone, Copy)]
struct Wanting {
    since: Time,
    /// How long it ran until it was seen last, and when that was.
    ran: Span,
    seen: Time,
    /// How often it was moved in this wait until the last of the changes that it saw, and which
    /// that was.
    moved: (u64, u64),
}

/// The CPU time that a task had while it ran or waited all the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Served {
    /// How long it did.
    pub of_ns: u64,
    /// For how long of that it ran.
    pub ns: u64,
}

impl Served {
    /// What part of its length it ran.
    pub fn share(self) -> f64 {
        self.ns as f64 / self.of_ns.max(1) as f64
    }
}

/// The shortest stretch that is kept: in shorter ones tasks take turns.
const SHORTEST: Span = Span::ms(16);

impl Waits {
    fn see(&mut self, task: TaskId, was: &TaskState, now: Time, wants: bool) {
        if was.phase == Phase::Waiting {
            self.longest = self.longest.max(now - was.since);
        }
        let Some(index) = task.index() else { return };
        if self.wanting.len() <= index {
            self.wanting.resize(index + 1, None);
        }
        let wanting = &mut self.wanting[index];
        if let Some(it) = wanting {
            if was.phase == Phase::Running {
                it.ran += now - it.seen;
            }
            it.seen = now;
            it.moved = (0, self.changes);
        }
        self.changes += u64::from(wanting.is_some() != wants);
        if wants {
            let moved = (0, self.changes);
            wanting.get_or_insert(Wanting { since: now, ran: Span::ZERO, seen: now, moved });
        } else if let Some(Wanting { since, ran, .. }) = wanting.take() {
            let seen = Served { of_ns: (now - since).0, ns: ran.0 };
            if seen.of_ns >= SHORTEST.0 {
                let least = self.served.entry(eighth(seen.of_ns)).or_insert(seen);
                if seen.share() < least.share() {
                    *least = seen;
                }
            }
        }
    }

    fn see_move(&mut self, task: TaskId, was: &TaskState, now: &TaskState) {
        let may = |it: &TaskState| (it.mask, it.throttled, it.migration_disabled);
        self.changes += u64::from(may(was) != may(now));
        let wanting = task.index().and_then(|it| self.wanting.get_mut(it));
        if let Some(Some(Wanting { moved: (until, seen), .. })) = wanting {
            if *seen != self.changes {
                (*until, *seen) = (was.moves.into(), self.changes);
            }
            self.moves = self.moves.max(u64::from(now.moves).saturating_sub(*until));
        }
    }
}

/// Which eighth of which power of two.
fn eighth(ns: u64) -> u64 {
    let power = ns.max(8).ilog2();
    8 * u64::from(power) + ((ns >> (power - 3)) & 7)
}

impl Observer for Waits {
    fn task(&mut self, state: &State, task: TaskId, was: &TaskState, now: &TaskState) {
        // A move does not end a wait.
        if (was.phase, now.phase) == (Phase::Waiting, Phase::Waiting) {
            self.see_move(task, was, now);
        } else {
            let wants = matches!(now.phase, Phase::Running | Phase::Waiting);
            self.see(task, was, state.now(), wants);
        }
    }

    fn end(&mut self, state: &State) {
        for task in (0..state.task_count()).map(TaskId::nth) {
            self.see(task, &state.task(task), state.now(), false);
        }
    }
}

/// CPUs that are idle with nothing queued on them, while all the time some task waits elsewhere
/// that they may run. The tasks may be others from one moment to the next: a scheduler that looks
/// at all queues within that time would have found one. The only task on an idle CPU is not one of
/// them: that CPU is about to run it.
pub(crate) struct Overlooked<'h> {
    history: &'h History,
    /// How many tasks wait, by which CPUs they may run on, `None` for all, and by where they are.
    waiting: BTreeMap<(Option<MaskId>, Option<CpuId>), u32>,
    /// On which CPUs those may run that wait now, but not where they alone are on an idle CPU.
    wanted: Vec<Option<MaskId>>,
    /// By CPU, since when it is overlooked.
    since: Vec<Option<Time>>,
    /// The longest stretch.
    pub longest: Span,
}

impl<'h> Overlooked<'h> {
    pub(crate) fn new(history: &'h History) -> Overlooked<'h> {
        let since = vec![None; history.head.machine.cpus.len()];
        Overlooked {
            history,
            waiting: BTreeMap::new(),
            wanted: Vec::new(),
            since,
            longest: Span::ZERO,
        }
    }

    fn see(&mut self, state: &State) {
        self.wanted.clear();
        for (mask, at) in self.waiting.keys() {
            let at = at.map(|it| state.cpu(it));
            let is_served = at.is_some_and(|it| it.is_waking() && it.waiting == 1);
            if !is_served && self.wanted.last() != Some(mask) {
                self.wanted.push(*mask);
            }
        }
    }

    fn is_wanted(&self, cpu: CpuId) -> bool {
        self.wanted.iter().any(|mask| {
            let cpus = mask.and_then(|mask| self.history.mask(mask));
            cpus.is_none_or(|cpus| cpus.contains(cpu))
        })
    }
}

impl Observer for Overlooked<'_> {
    fn task(&mut self, _: &State, _: TaskId, was: &TaskState, now: &TaskState) {
        let counts = |it: &TaskState| it.phase == Phase::Waiting && !it.migration_disabled;
        if counts(was)
            && let Some(count) = self.waiting.get_mut(&(was.mask, was.cpu))
        {
            *count -= 1;
            if *count == 0 {
                self.waiting.remove(&(was.mask, was.cpu));
            }
        }
        if counts(now) {
            *self.waiting.entry((now.mask, now.cpu)).or_default() += 1;
        }
    }

    fn held(&mut self, state: &State, from: Time, to: Time) {
        self.see(state);
        for (cpu, it) in state.cpus() {
            let is_overlooked = it.is_idle() && self.is_wanted(cpu);
            let since = &mut self.since[cpu.index()];
            match is_overlooked {
                true => self.longest = self.longest.max(to - *since.get_or_insert(from)),
                false => *since = None,
            }
        }
    }
}
