//! Follows a replay and records what each task did. It is an Observer, since only State knows the
//! meaning of events.

use std::collections::HashMap;

use wastenot_model::workload::{AffinityId, Hotplug, Natures, PipeId, Step, TemplateId, Variate};
use wastenot_model::{
    By, Carries, Change, Context, Entry, Event, History, Observer, Origin, Phase, SchedClass, Span,
    State, TaskId, TaskState, Time,
};

use super::is_simulated;
use super::life::{Birth, Life, Stopped, Why};

/// The parent of all kernel threads except the idle tasks.
const KTHREADD: i32 = 2;

/// Whether no task can have caused the end of the sleep of `known`: the waking came in a hard
/// interrupt. A softirq carries what another task sends. Without a waking, the interrupt is the IPI
/// by which another CPU had the task queued, for an unknown reason.
fn alone(known: &TaskState) -> bool {
    known.waking.is_some() && known.waker.context == Context::Hardirq
}

/// Records the lives of tasks.
#[derive(Debug)]
pub(super) struct Watch<'h> {
    history: &'h History,
    /// Whether quotas hold tasks back.
    quotas: bool,
    /// The life of each task, by index.
    pub(super) lives: Vec<Life>,
    /// Threads that only carry out the scheduler's decisions.
    own: Vec<bool>,
    /// What no event records.
    pub(super) natures: Natures,
    /// How many entries of [`Natures::synchrony`] are in the past.
    synced: usize,
    /// Tasks by tid, if synchrony is known.
    tids: HashMap<i32, usize>,
    /// CPUs that went offline or came back.
    pub(super) hotplug: Vec<Hotplug>,
    /// What had to be assumed.
    pub(super) tally: Tally,
}

/// Counts of what had to be assumed.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    /// Sleeps that an interrupt ended, and their total length.
    pub(super) timed: (u64, Span),
    /// Sleeps with an unknown waker, or with a waker that had not been seen running.
    pub(super) unknown_wakers: u64,
    /// Wakings by the current task, where the source does not distinguish interrupts from tasks.
    pub(super) unclear: u64,
    /// Waits for threads of the scheduler, which are not work.
    pub(super) own: u64,
    /// How often events were lost.
    pub(super) losses: u64,
    /// Unknown parts of tasks' lives, and their total length.
    pub(super) unknown: (u64, Span),
    /// Tasks that were seen running before any event recorded their creation.
    pub(super) unannounced: u64,
    /// Changes of cgroup; only the first cgroup of a task is kept.
    pub(super) regrouped: u64,
    /// How often a quota throttled a task, and the total time.
    pub(super) held: (u64, Span),
    /// Some tasks run in a real-time or deadline class.
    pub(super) realtime: bool,
}

impl<'h> Watch<'h> {
    pub(super) fn new(history: &'h History, quotas: bool) -> Watch<'h> {
        // Linux's stoppers push running tasks away.
        let stopper = |name: &str| name.starts_with("migration/");
        let mut own: Vec<bool> =
            history.tasks().map(|(_, task)| stopper(history.name(task.name))).collect();
        // A simulated History begins with only its scheduler's own threads asleep.
        if is_simulated(history)
            && let Some(start) = &history.head.start
            && start.past.is_none()
        {
            for index in start.sleeping.iter().filter_map(|(task, _)| task.index()) {
                own[index] = true;
            }
        }
        let natures = Natures::told(history);
        let tids = history.tasks().map(|(id, task)| (task.tid, id.ordinal()));
        Watch {
            tids: tids.filter(|_| !natures.synchrony.is_empty()).collect(),
            natures,
            synced: 0,
            quotas,
            history,
            lives: vec![Life::default(); history.task_count()],
            own,
            hotplug: Vec::new(),
            tally: Tally::default(),
        }
    }

    /// The index of a task that is part of the work.
    fn index(&self, task: TaskId) -> Option<usize> {
        task.index().filter(|&index| self.own.get(index) == Some(&false))
    }

    fn is_own(&self, task: TaskId) -> bool {
        task.index().is_some_and(|index| self.own.get(index) == Some(&true))
    }

    /// `task` now runs or waits.
    fn came(&mut self, state: &State, index: usize, known: &TaskState) {
        let now = state.now();
        let life = &mut self.lives[index];
        life.cpu = life.cpu.or(known.cpu);
        if !life.began {
            (life.affinity, life.nice) = (known.mask.or(life.affinity), known.nice.or(life.nice));
        }
        match (life.birth, life.stopped.take()) {
            (None, _) => self.comes_in(state, index, known),
            (Some(_), Some(stopped)) if waits(known) => {
                self.awakes(state, index, known, stopped);
            }
            (Some(_), Some(stopped)) => self.appears(now, index, stopped),
            (Some(_), None) => {}
        }
        let life = &mut self.lives[index];
        life.token = None;
        life.born |= known.origin == Origin::Fork && waits(known);
    }

    /// It is seen to act for the first time.
    fn comes_in(&mut self, state: &State, index: usize, known: &TaskState) {
        let (now, begin) = (state.now(), self.history.window().from);
        // A new task is placed as seen from the CPU of its creator.
        let from = match (waits(known), known.origin, known.cpu) {
            (true, Origin::Fork, _) | (.., None) => known.waker_cpu,
            (.., Some(cpu)) => cpu,
        };
        let outside = alone(known);
        let at = match (waits(known), known.origin) {
            _ if now == begin => begin,
            // If forks are recorded, a new task without a fork comes from outside.
            (true, Origin::Fork) if self.history.head.carries.has(Carries::FORKS) => now,
            (true, _) if self.acts(state, known.waker, index).is_some() => return,
            (true, _) => known.waking.map_or(now, |at| at.clamp(begin, now)),
            // Its wakeup came before the first event.
            _ if self.tally.losses == 0 => begin,
            _ => now,
        };
        if at < now && !waits(known) {
            self.tally.unannounced += 1;
        }
        let woken = waits(known) && known.origin != Origin::Fork;
        let wakings = self.history.head.carries.has(Carries::WAKINGS);
        let life = &mut self.lives[index];
        life.untold.birth = woken && wakings && known.waking.is_none() && !life.waking;
        life.birth = Some(Birth::Launched { at, from });
        life.asleep += if outside { at - begin } else { Span::ZERO };
    }

    /// It was woken: by a task, which then put a token, or by a timer or another cause that takes
    /// time.
    fn awakes(&mut self, state: &State, index: usize, known: &TaskState, stopped: Stopped) {
        let now = state.now();
        if known.waker.task.is_some_and(|waker| self.is_own(waker)) {
            self.tally.own += 1;
            return;
        }
        let woken = known.waking.filter(|&at| at >= stopped.at);
        let wakings = self.history.head.carries.has(Carries::WAKINGS);
        let life = &mut self.lives[index];
        let lacks = wakings && woken.is_none() && !life.waking;
        life.wakeups += 1;
        life.lacking += u64::from(lacks);
        let token = life.token.or_else(|| self.acts(state, known.waker, index));
        let step = match token {
            Some(pipe) => Step::Get(pipe),
            None => {
                let span = woken.unwrap_or(now) - stopped.at;
                let waker = known.waker;
                match waker.in_interrupt() || waker.task.is_some_and(TaskId::is_idle) {
                    true if !lacks => {
                        self.tally.timed.0 += 1;
                        self.tally.timed.1 += span;
                        if alone(known) {
                            self.lives[index].asleep += span;
                        }
                    }
                    _ => {
                        self.tally.unknown_wakers += 1;
                        return self.lives[index].sleeps_untold(now, span);
                    }
                }
                Step::Sleep(Variate::Fixed(span))
            }
        };
        self.lives[index].act(now, step);
    }

    /// It runs although no event recorded that it wanted to.
    fn appears(&mut self, now: Time, index: usize, stopped: Stopped) {
        if stopped.why == Why::Unsaid {
            return; // then it had only been preempted
        }
        let span = now - stopped.at;
        self.tally.unknown.0 += 1;
        self.tally.unknown.1 += span;
        self.lives[index].act(now, Step::Sleep(Variate::Fixed(span)));
    }

    /// Makes `by`, if it is a running task, wake the sleeper or fork it; returns the pipe for a
    /// wakeup.
    fn acts(&mut self, state: &State, by: By, sleeper: usize) -> Option<PipeId> {
        let waker = by.task.filter(|_| !by.in_interrupt()).and_then(|waker| self.index(waker))?;
        if waker == sleeper || state.task(TaskId::nth(waker)).phase != Phase::Running {
            return None;
        }
        self.tally.unclear += u64::from(by.context == Context::Unknown);
        self.synchronise(state.now());
        let pipe = self.lives[sleeper].token_of(sleeper);
        let step = match self.lives[sleeper].birth {
            Some(_) => Step::Put(pipe),
            None => {
                self.lives[sleeper].birth = Some(Birth::Forked);
                Step::Fork(TemplateId(sleeper as u32))
            }
        };
        self.lives[waker].act(state.now(), step);
        if self.lives[sleeper].born
            && let Step::Fork(_) = step
        {
            self.lives[sleeper].forked_by = Some((waker, self.lives[waker].own()));
        }
        if self.lives[waker].ended {
            self.lives[sleeper].outlived.push(waker);
        }
        Some(pipe)
    }

    /// Which tasks have wakers that are about to sleep at this time.
    fn synchronise(&mut self, now: Time) {
        while let Some(it) = self.natures.synchrony.get(self.synced).filter(|it| it.at <= now) {
            self.synced += 1;
            if let Some(&task) = self.tids.get(&it.tid) {
                self.lives[task].sync = it.sync;
            }
        }
    }

    /// `task` is being woken: its waker acts now, even if the task is queued much later.
    fn waking(&mut self, state: &State, entry: &Entry, task: TaskId) {
        let Some(index) = self.index(task) else { return };
        self.lives[index].waking = true;
        if state.task(task).phase == Phase::Sleeping && self.lives[index].token.is_none() {
            self.lives[index].token = self.acts(state, entry.by, index);
        }
    }

    fn fork(&mut self, state: &State, parent: TaskId, child: TaskId) {
        let Some(index) = self.index(child) else { return };
        self.lives[index].born = true;
        self.lives[index].kthread |= self.history.task(parent).is_some_and(|it| it.tid == KTHREADD);
        if self.lives[index].birth.is_none() {
            self.acts(state, By::task(parent), index);
        }
    }

    /// A quota no longer throttles it.
    fn release(&mut self, index: usize, now: Time) {
        let held = self.lives[index].release(now, self.quotas);
        self.tally.held.0 += u64::from(held > Span::ZERO);
        self.tally.held.1 += held;
    }

    fn stops(&mut self, index: usize, at: Time, why: Why) {
        self.lives[index].slept |= why == Why::Sleeps;
        self.lives[index].stopped = Some(Stopped { at, why });
    }

    fn changed(&mut self, state: &State, task: TaskId, what: Change) {
        let Some(index) = self.index(task) else { return };
        let now = state.now();
        let life = &mut self.lives[index];
        match what {
            Change::Affinity(mask) if life.began => {
                life.act(now, Step::Affinity(AffinityId(mask.0)));
            }
            Change::Affinity(mask) => life.affinity = Some(mask),
            Change::Nice(nice) if life.began => life.act(now, Step::Nice(nice)),
            Change::Nice(nice) => life.nice = Some(nice),
            Change::Cgroup(group) if life.group.is_none() => life.group = Some(group),
            Change::Cgroup(group) => self.tally.regrouped += u64::from(life.group != Some(group)),
            Change::Policy(policy) => self.tally.realtime |= SchedClass::of(policy).is_above_fair(),
            Change::Throttled(_) | Change::MigrationDisabled(_) | Change::Name(_) => {}
        }
    }
}

/// Whether it wants to run and does not, including because a quota throttles it.
fn waits(known: &TaskState) -> bool {
    known.phase.wants_to_run() && known.phase != Phase::Running
}

impl Observer for Watch<'_> {
    fn task(&mut self, state: &State, task: TaskId, was: &TaskState, known: &TaskState) {
        let Some(index) = self.index(task) else { return };
        let now = state.now();
        if was.phase == Phase::Running && known.phase != Phase::Running {
            self.lives[index].leaves(now);
        }
        if was.phase == Phase::Held && known.phase != Phase::Held {
            self.release(index, now);
        }
        let wanted = was.phase.wants_to_run();
        match known.phase {
            phase if phase.wants_to_run() && !wanted => {
                self.came(state, index, known);
            }
            Phase::Sleeping if wanted => self.stops(index, now, Why::Sleeps),
            Phase::Unknown if wanted => {
                let told = self.history.head.carries.has(Carries::LEFT);
                self.stops(index, now, if told { Why::Lost } else { Why::Unsaid });
            }
            _ => {}
        }
        match known.phase {
            Phase::Running => self.lives[index].runs(now),
            Phase::Held => self.lives[index].hold(now),
            Phase::Dead => self.lives[index].ended = true,
            _ => {}
        }
    }

    fn event(&mut self, state: &State, entry: &Entry) {
        match entry.event {
            Event::Waking { task, .. } => self.waking(state, entry, task),
            Event::Queued { task, .. } => {
                if let Some(index) = self.index(task) {
                    self.lives[index].waking = false;
                }
            }
            Event::Fork { parent, child } => self.fork(state, parent, child),
            Event::Exec { task } => {
                if let Some(index) = self.index(task)
                    && state.task(task).phase == Phase::Running
                {
                    self.lives[index].act(state.now(), Step::Exec);
                }
            }
            Event::Exit { task } => {
                if let Some(index) = self.index(task) {
                    self.lives[index].ended = true;
                }
            }
            Event::Changed { task, what } => self.changed(state, task, what),
            Event::Cpu { cpu, up } => self.hotplug.push(Hotplug { at: state.now(), cpu, up }),
            Event::Lost { .. } => self.tally.losses += 1,
            Event::Switch { next, next_prio, .. } => {
                let realtime = next_prio.0.is_some_and(|prio| prio < 100);
                self.tally.realtime |= realtime && self.index(next).is_some();
            }
            _ => {}
        }
    }

    fn end(&mut self, state: &State) {
        // What is held back at the end is so until then at least.
        (0..self.lives.len()).for_each(|index| self.release(index, state.now()));
        self.lives.iter_mut().for_each(|life| life.leaves(state.now()));
    }
}
