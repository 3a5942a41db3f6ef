//! Turns records with tids into entries of a History: identity, changes, wakers.

use std::collections::HashMap;

use wastenot_model::policy::Note;
use wastenot_model::{
    By, Change, CpuId, CpuMode, Entry, Event, How, Left, Sink, Start, Task, TaskId, Time,
};

use crate::decided::Decided;
use crate::wire::{Facts, Kind, Wire, cpus};
use wastenot_host::Cgroups;

#[cfg(test)]
mod tests;

/// `PID_MAX_LIMIT` of 64-bit kernels: no tid is larger.
const PID_LIMIT: usize = 4 << 20;
const NONE: u32 = u32::MAX;

/// What has been reported so far of a live task.
#[derive(Debug)]
struct Known {
    task: TaskId,
    /// 0 as long as no facts arrived, because they were lost.
    start_time: u64,
    /// Boxed, since most events do not need them.
    facts: Option<Box<Facts>>,
    throttled: bool,
    /// Its waking reported that it was still queued: the wakeup that follows selects no CPU.
    still_queued: bool,
}

/// Resolves tids to tasks and pushes the events.
#[derive(Debug)]
pub(crate) struct Weave {
    cgroups: Cgroups,
    /// By tid: the index of its task in `known`.
    slots: Vec<u32>,
    known: Vec<Known>,
    /// Free indexes, of dead tasks: more tasks live during a recording than at any one time.
    free: Vec<u32>,
}

impl Weave {
    pub(crate) fn new(cgroups: Cgroups) -> Weave {
        Weave { cgroups, slots: Vec::new(), known: Vec::new(), free: Vec::new() }
    }

    /// Forgets all tasks: another recording begins. Cgroups keep their paths.
    pub(crate) fn forget(&mut self) {
        self.slots.clear();
        self.known.clear();
        self.free.clear();
    }

    /// Writes the state at `time`: `walked` holds every task as it was seen soon after, `after` the
    /// events from then on. Newer events override what was seen.
    pub(crate) fn start(
        &mut self,
        time: Time,
        cpus: &[bool],
        walked: &[Facts],
        after: &[&Wire],
        sink: &mut dyn Sink,
    ) {
        // A task created since is reported by its fork.
        let then: Vec<&Facts> = walked.iter().filter(|facts| facts.start_time < time.0).collect();
        for facts in &then {
            self.create(facts, sink);
        }
        let start = self.state_at(cpus, &then, after);
        sink.start(&start);
        for facts in then {
            self.learn(facts, time, facts.on, By::UNKNOWN, true, sink);
        }
    }

    /// The state of every task and CPU where `after` begins.
    fn state_at(&self, online: &[bool], walked: &[&Facts], after: &[&Wire]) -> Start {
        let mut firsts: HashMap<u32, Place> = HashMap::new();
        let mut first = |tid: u32, place: Place| {
            firsts.entry(tid).or_insert(place);
        };
        let mut ran: Vec<Option<u32>> = vec![None; online.len()];
        for wire in after {
            let on = CpuId(wire.on);
            match wire.kind {
                Kind::Switch => {
                    first(wire.task, Place::Runs(wire.cpu));
                    first(wire.other, Place::Waits(wire.cpu));
                    if let Some(ran @ None) = ran.get_mut(wire.cpu.index()) {
                        *ran = Some(wire.task);
                    }
                }
                // A task woken while it is queued runs or waits: the walk has which.
                Kind::Waking if wire.queued() => {}
                Kind::Waking | Kind::Wakeup => first(wire.task, Place::Sleeps(on)),
                Kind::Migrate => first(wire.task, Place::Waits(CpuId(wire.from))),
                _ => {}
            }
        }
        let mut start = Start { cpus: Vec::new(), ..Start::default() };
        let mut runs: HashMap<CpuId, TaskId> = HashMap::new();
        for facts in walked {
            let Some(Known { task, .. }) = self.known(facts.tid) else { continue };
            let seen = match (facts.running, facts.queued) {
                (true, _) => Place::Runs(facts.on),
                (false, true) => Place::Waits(facts.on),
                (false, false) => Place::Sleeps(facts.on),
            };
            match firsts.get(&facts.tid).copied().unwrap_or(seen) {
                Place::Runs(cpu) => {
                    runs.insert(cpu, *task);
                }
                Place::Waits(cpu) => start.waiting.push((*task, Some(cpu))),
                Place::Sleeps(cpu) => start.sleeping.push((*task, Some(cpu))),
            }
        }
        let mode = |(index, &online): (usize, &bool)| {
            let cpu = CpuId(index as u16);
            match (ran[index], runs.get(&cpu)) {
                (Some(0), _) => CpuMode::Idle,
                (Some(tid), _) => {
                    self.known(tid).map_or(CpuMode::Unknown, |known| CpuMode::Busy(known.task))
                }
                (None, Some(&task)) => CpuMode::Busy(task),
                (None, None) if online => CpuMode::Idle,
                (None, None) => CpuMode::Offline,
            }
        };
        start.cpus = online.iter().enumerate().map(mode).collect();
        start
    }

    /// Pushes the event in `wire`, with its facts.
    #[inline]
    pub(crate) fn push(&mut self, wire: &Wire, facts: Option<&Facts>, sink: &mut dyn Sink) {
        let (time, cpu) = (wire.time, wire.cpu);
        let event = match wire.kind {
            Kind::Switch => return self.switch(wire, sink),
            Kind::Waking => {
                let task = self.task(wire.task, cpu, sink);
                if let Some(known) = self.known_mut(wire.task) {
                    known.still_queued = wire.queued();
                }
                Event::Waking { task, prev: Some(CpuId(wire.on)), prio: wire.prio() }
            }
            Kind::Wakeup | Kind::New => {
                let task = self.task(wire.task, cpu, sink);
                let queued = self
                    .known_mut(wire.task)
                    .is_some_and(|known| std::mem::take(&mut known.still_queued));
                let how = match wire.kind {
                    Kind::New => How::New,
                    _ if queued => How::NoSelection,
                    _ => How::Wakeup,
                };
                Event::Queued { task, on: Some(CpuId(wire.on)), how, prio: wire.prio() }
            }
            Kind::Migrate => Event::Migrate {
                task: self.task(wire.task, cpu, sink),
                from: Some(CpuId(wire.from)),
                to: CpuId(wire.on),
            },
            Kind::Fork => {
                let parent = self.task(wire.other, cpu, sink);
                let child = self.task(wire.task, cpu, sink);
                let event = Event::Fork { parent, child };
                return sink.push(Entry { time, cpu, by: By::task(parent), event });
            }
            Kind::Exec => {
                self.take_over(wire.task, wire.other);
                let task = self.task(wire.task, cpu, sink);
                let event = Event::Exec { task };
                return sink.push(Entry { time, cpu, by: By::task(task), event });
            }
            Kind::Exit => {
                let task = self.task(wire.task, cpu, sink);
                let event = Event::Exit { task };
                return sink.push(Entry { time, cpu, by: By::task(task), event });
            }
            Kind::Cpu => Event::Cpu { cpu: CpuId(wire.on), up: wire.up() },
            Kind::Freq => Event::Freq { cpu: CpuId(wire.on), khz: wire.other },
            Kind::Lost => Event::Lost { count: Some(wire.task) },
            Kind::Facts => {
                if let Some(facts) = facts {
                    let new = self.meet(facts, sink);
                    self.learn(facts, time, cpu, By::UNKNOWN, new, sink);
                }
                return;
            }
            // See `decide`.
            Kind::Decided => return,
            // No event of the scheduler.
            Kind::Served | Kind::Dump => return,
        };
        let by = match wire.kind {
            Kind::Waking | Kind::Wakeup | Kind::New | Kind::Migrate => {
                let task = Some(self.task(wire.other, cpu, sink));
                By { task, context: wire.context() }
            }
            _ => By::UNKNOWN,
        };
        sink.push(Entry { time, cpu, by, event });
    }

    #[inline]
    fn switch(&mut self, wire: &Wire, sink: &mut dyn Sink) {
        let (time, cpu) = (wire.time, wire.cpu);
        let left = wire.left();
        let prev = self.task(wire.task, cpu, sink);
        let next = self.task(wire.other, cpu, sink);
        if left == Left::Dead {
            self.bury(wire.task);
        }
        if self.known(wire.other).is_some_and(|known| known.throttled) {
            self.unthrottle(wire.other, wire, sink);
        }
        let (prev_prio, next_prio) = (wire.prio(), wire.other_prio());
        let event = Event::Switch { cpu, prev, next, left, prev_prio, next_prio };
        sink.push(Entry { time, cpu, by: By::task(prev), event });
    }

    /// What was decided in `wire`, with its task.
    pub(crate) fn decide(
        &mut self,
        wire: &Wire,
        decided: Decided,
        sink: &mut dyn Sink,
    ) -> impl Iterator<Item = Note> + use<> {
        let task = decided.tid.map(|tid| self.task(tid, wire.cpu, sink));
        decided.notes.into_iter().map(move |note| Note { task, ..note })
    }

    /// The task that currently has `tid`.
    #[inline]
    fn task(&mut self, tid: u32, cpu: CpuId, sink: &mut dyn Sink) -> TaskId {
        if tid == 0 {
            return TaskId::idle(cpu);
        }
        match self.known(tid) {
            Some(known) => known.task,
            None => self.unnamed(tid, sink),
        }
    }

    #[inline]
    fn known(&self, tid: u32) -> Option<&Known> {
        self.known.get(*self.slots.get(tid as usize)? as usize)
    }

    #[inline]
    fn known_mut(&mut self, tid: u32) -> Option<&mut Known> {
        self.known.get_mut(*self.slots.get(tid as usize)? as usize)
    }

    /// A task whose facts were lost.
    #[cold]
    fn unnamed(&mut self, tid: u32, sink: &mut dyn Sink) -> TaskId {
        let name = sink.name("<...>");
        self.add(tid, 0, Task::new(tid as i32, name), sink)
    }

    fn create(&mut self, facts: &Facts, sink: &mut dyn Sink) -> TaskId {
        let name = sink.name(&facts.name);
        let pid = Some(facts.tgid as i32);
        self.add(facts.tid, facts.start_time, Task { tid: facts.tid as i32, pid, name }, sink)
    }

    fn add(&mut self, tid: u32, start_time: u64, task: Task, sink: &mut dyn Sink) -> TaskId {
        let task = sink.task(task);
        let known = Known { task, start_time, facts: None, throttled: false, still_queued: false };
        let tid = (tid as usize).min(PID_LIMIT);
        if tid >= self.slots.len() {
            self.slots.resize((tid + 1).next_power_of_two(), NONE);
        }
        let slot = &mut self.slots[tid];
        if let Some(before) = self.known.get_mut(*slot as usize) {
            // Its last switch was lost.
            sink.gone(before.task);
            *before = known;
        } else if let Some(free) = self.free.pop() {
            *slot = free;
            self.known[free as usize] = known;
        } else {
            *slot = self.known.len() as u32;
            self.known.push(known);
        }
        task
    }

    /// Makes sure that the task of these facts is known; returns whether it was not.
    fn meet(&mut self, facts: &Facts, sink: &mut dyn Sink) -> bool {
        match self.known_mut(facts.tid) {
            Some(known) if known.start_time == facts.start_time => false,
            // The thread took over its leader's tid, and its start time with it.
            Some(known) if known.start_time == 0 && known.facts.is_some() => {
                known.start_time = facts.start_time;
                false
            }
            Some(known) if known.start_time == 0 => {
                known.start_time = facts.start_time;
                let (name, pid) = (sink.name(&facts.name), Some(facts.tgid as i32));
                sink.correct(known.task, &Task { tid: facts.tid as i32, pid, name });
                true
            }
            _ => {
                self.create(facts, sink);
                true
            }
        }
    }

    /// Pushes the changes in `facts`; all of them if the task is `new`.
    fn learn(
        &mut self,
        facts: &Facts,
        time: Time,
        cpu: CpuId,
        by: By,
        new: bool,
        sink: &mut dyn Sink,
    ) {
        let Some(known) = self.known_mut(facts.tid) else { return };
        let (task, was_throttled) = (known.task, known.throttled);
        let was = known.facts.take().filter(|_| !new);
        let was = was.as_deref();
        let push = |sink: &mut dyn Sink, what: Change| {
            sink.push(Entry { time, cpu, by, event: Event::Changed { task, what } });
        };
        if was.is_some_and(|was| was.name != facts.name) {
            let name = sink.name(&facts.name);
            let pid = Some(facts.tgid as i32);
            sink.correct(task, &Task { tid: facts.tid as i32, pid, name });
            push(sink, Change::Name(name));
        }
        if was.is_none_or(|was| was.mask != facts.mask) {
            let mask = sink.mask(&cpus(&facts.mask));
            push(sink, Change::Affinity(mask));
        }
        if was.is_none_or(|was| was.policy != facts.policy) {
            push(sink, Change::Policy(facts.policy));
        }
        if was.is_none_or(|was| was.nice != facts.nice) {
            push(sink, Change::Nice(facts.nice));
        }
        if was.is_none_or(|was| was.cgroup != facts.cgroup) {
            let name = sink.name(self.cgroups.path(facts.cgroup));
            push(sink, Change::Cgroup(name));
        }
        if was_throttled != facts.throttled {
            push(sink, Change::Throttled(facts.throttled));
        }
        let could = was.is_none_or(|was| !was.migration_disabled);
        if could == facts.migration_disabled {
            push(sink, Change::MigrationDisabled(facts.migration_disabled));
        }
        if let Some(known) = self.known_mut(facts.tid) {
            known.throttled = facts.throttled;
            known.facts = Some(Box::new(facts.clone()));
        }
    }

    /// A throttled task that runs has quota again. No event reports when it got quota; until it ran
    /// it counts as throttled, so that waste stays a lower bound.
    #[cold]
    fn unthrottle(&mut self, tid: u32, wire: &Wire, sink: &mut dyn Sink) {
        let Some(known) = self.known_mut(tid) else { return };
        known.throttled = false;
        let task = known.task;
        let event = Event::Changed { task, what: Change::Throttled(false) };
        sink.push(Entry { time: wire.time, cpu: wire.cpu, by: By::UNKNOWN, event });
    }

    /// From here on the tid belongs to another task, and this one is never looked up again.
    #[cold]
    fn bury(&mut self, tid: u32) {
        let Some(slot) = self.slots.get_mut(tid as usize) else { return };
        let slot = std::mem::replace(slot, NONE);
        if let Some(known) = self.known.get_mut(slot as usize) {
            known.facts = None;
            self.free.push(slot);
        }
    }

    /// A thread that executes a program takes over the tid of its process's leader, which is dead
    /// or dies under the thread's own tid. Its start time changes too: the next facts have it.
    fn take_over(&mut self, tid: u32, before: u32) {
        if tid == before {
            return;
        }
        if (tid as usize) < self.slots.len()
            && let Some(known) = self.known_mut(before)
        {
            known.start_time = 0;
            self.slots.swap(tid as usize, before as usize);
        }
    }
}

/// Where a task is.
#[derive(Clone, Copy, Debug)]
enum Place {
    Runs(CpuId),
    Waits(CpuId),
    Sleeps(CpuId),
}
