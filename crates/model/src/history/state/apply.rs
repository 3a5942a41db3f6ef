//! What each event means. The only such place.
//!
//! Sources: the order of tracepoints in
//! `kernel/sched/core.c` (`try_to_wake_up`: waking, then migrate if another CPU is selected, then
//! wakeup; `kernel_clone`: fork, then wakeup_new).

use super::{Contradiction, CpuMode, CpuState, NO_TASK, Origin, Phase, State, TaskState, WaitRule};
use crate::{By, Change, CpuId, Entry, Event, How, Left, Observer, TaskId};

impl State {
    /// Lets `entry` happen and tells the observer what it changed.
    #[inline(always)]
    pub fn apply<O: Observer>(&mut self, entry: &Entry, observer: &mut O) {
        self.advance(entry.time, observer);
        match entry.event {
            Event::Switch { cpu, prev, next, left, .. } => {
                self.switch(entry, cpu, prev, next, left, observer);
            }
            Event::Waking { task, prev, .. } => self.wake(entry, task, prev, observer),
            Event::Queued { task, on, how, .. } => self.queued(entry, task, on, how, observer),
            Event::Migrate { task, to, .. } => self.migrate(task, to, observer),
            Event::Fork { child, .. } => self.fork(entry, child, observer),
            Event::Cpu { cpu, up } => self.hotplug(cpu, up, observer),
            Event::Changed { task, what } => self.change(task, what, observer),
            Event::Lost { .. } => self.lose(entry.cpu, observer),
            Event::Exec { .. } | Event::Exit { .. } | Event::Freq { .. } => {}
            Event::Decided { .. } => {}
        }
        observer.event(self, entry);
    }

    /// Lets time pass up to `now`.
    #[inline]
    pub fn advance<O: Observer>(&mut self, now: crate::Time, observer: &mut O) {
        if now > self.now {
            let from = std::mem::replace(&mut self.now, now);
            observer.held(self, from, now);
        }
    }

    fn switch<O: Observer>(
        &mut self,
        entry: &Entry,
        cpu: CpuId,
        prev: TaskId,
        next: TaskId,
        left: Left,
        observer: &mut O,
    ) {
        self.know_cpu(cpu);
        let ran = self.cpus[cpu.index()].mode;
        match ran {
            CpuMode::Busy(task) if task != prev => {
                observer.contradiction(self, entry, Contradiction::OtherPrev);
                self.forget(task, observer);
            }
            CpuMode::Idle if !prev.is_idle() => {
                observer.contradiction(self, entry, Contradiction::OtherPrev);
            }
            _ => {}
        }
        // First who leaves, then who comes, then the CPU: a task yielding to itself keeps its run.
        let mode = if next.is_idle() { CpuMode::Idle } else { CpuMode::Busy(next) };
        self.cpus[cpu.index()].mode = mode;
        self.cpus[cpu.index()].since = self.now;
        if let Some(index) = self.meet(prev) {
            self.go_out(index, prev, cpu, left, observer);
        }
        if let Some(index) = self.meet(next) {
            self.come_in(entry, index, next, cpu, observer);
        }
        observer.cpu(self, cpu);
    }

    fn go_out<O: Observer>(
        &mut self,
        index: usize,
        prev: TaskId,
        cpu: CpuId,
        left: Left,
        observer: &mut O,
    ) {
        let was = self.tasks[index];
        match (was.phase, was.cpu) {
            (Phase::Running, Some(other)) if other != cpu => self.vacate(other, observer),
            (Phase::Waiting, place) => self.leave_telling(index as u32, place, Some(cpu), observer),
            _ => {}
        }
        let task = &mut self.tasks[index];
        task.since = self.now;
        task.prev = Some(cpu);
        task.cpu = Some(cpu);
        task.moves = 0;
        task.waking = None;
        task.phase = match left {
            Left::Runnable | Left::Preempted => {
                let preempted = left == Left::Preempted;
                task.origin = if preempted { Origin::Preempted } else { Origin::Yielded };
                Phase::Waiting
            }
            Left::Dead => Phase::Dead,
            Left::Unknown => Phase::Unknown,
            _ => Phase::Sleeping,
        };
        if task.phase == Phase::Waiting {
            self.join(index as u32, Some(cpu));
        }
        self.tell(index, prev, &was, observer);
    }

    fn come_in<O: Observer>(
        &mut self,
        entry: &Entry,
        index: usize,
        next: TaskId,
        cpu: CpuId,
        observer: &mut O,
    ) {
        let was = self.tasks[index];
        match was.phase {
            Phase::Waiting => self.leave_telling(index as u32, was.cpu, Some(cpu), observer),
            Phase::Running if was.cpu != Some(cpu) => {
                observer.contradiction(self, entry, Contradiction::RanTwice);
                if let Some(other) = was.cpu {
                    self.vacate(other, observer);
                }
            }
            Phase::Sleeping if was.waking.is_none() => {
                observer.contradiction(self, entry, Contradiction::RanAsleep);
            }
            Phase::Dead => observer.contradiction(self, entry, Contradiction::Undead),
            _ => {}
        }
        let task = &mut self.tasks[index];
        (task.phase, task.since, task.cpu) = (Phase::Running, self.now, Some(cpu));
        self.tell(index, next, &was, observer);
    }

    fn wake<O: Observer>(
        &mut self,
        entry: &Entry,
        task: TaskId,
        prev: Option<CpuId>,
        observer: &mut O,
    ) {
        let Some(index) = self.meet(task) else { return };
        let was = self.tasks[index];
        if matches!(was.phase, Phase::Running | Phase::Waiting) {
            return; // it was about to sleep, or is still queued: no wait begins here
        }
        let known = &mut self.tasks[index];
        known.waking = Some(entry.time);
        (known.waker, known.waker_cpu) = (entry.by, entry.cpu);
        known.prev = prev.or(known.prev);
        if known.phase != Phase::Sleeping {
            known.phase = Phase::Sleeping;
            known.since = entry.time;
        }
        if let Some(cpu) = prev {
            self.know_cpu(cpu);
        }
        match self.rule {
            WaitRule::AtQueued => self.tell(index, task, &was, observer),
            WaitRule::AtWaking => {
                let place = prev.or(was.cpu);
                self.begin_wait(index, task, place, Origin::Wakeup, &was, observer);
            }
            WaitRule::Unplaced => {
                self.begin_wait(index, task, None, Origin::Wakeup, &was, observer);
            }
        }
    }

    fn queued<O: Observer>(
        &mut self,
        entry: &Entry,
        task: TaskId,
        on: Option<CpuId>,
        how: How,
        observer: &mut O,
    ) {
        let Some(index) = self.meet(task) else { return };
        let was = self.tasks[index];
        if matches!(was.phase, Phase::Running | Phase::Waiting) {
            return; // a wakeup that came before it had gone to sleep
        }
        if was.waking.is_none() {
            let known = &mut self.tasks[index];
            (known.waker, known.waker_cpu) = (entry.by, entry.cpu);
        }
        if let Some(cpu) = on {
            self.know_cpu(cpu);
        }
        let origin = match how {
            How::Wakeup => Origin::Wakeup,
            How::NoSelection => Origin::NoSelection,
            How::New => Origin::Fork,
        };
        self.begin_wait(index, task, on, origin, &was, observer);
    }

    fn begin_wait<O: Observer>(
        &mut self,
        index: usize,
        task: TaskId,
        place: Option<CpuId>,
        origin: Origin,
        was: &TaskState,
        observer: &mut O,
    ) {
        let known = &mut self.tasks[index];
        (known.phase, known.since, known.origin, known.moves) =
            (Phase::Waiting, self.now, origin, 0);
        known.prev = known.prev.or(was.cpu);
        self.join(index as u32, place);
        self.tell(index, task, was, observer);
        if let Some(cpu) = place {
            observer.cpu(self, cpu);
        }
    }

    fn migrate<O: Observer>(&mut self, task: TaskId, to: CpuId, observer: &mut O) {
        let Some(index) = self.meet(task) else { return };
        self.know_cpu(to);
        let was = self.tasks[index];
        match was.phase {
            Phase::Waiting => {
                self.leave(index as u32, was.cpu);
                self.join(index as u32, Some(to));
                self.tasks[index].moves = was.moves.saturating_add(1);
                self.tell(index, task, &was, observer);
                if let Some(from) = was.cpu {
                    observer.cpu(self, from);
                }
                observer.cpu(self, to);
            }
            // A running task is moved only after it was switched out: wait for that switch.
            Phase::Running => {}
            _ => self.tasks[index].cpu = Some(to),
        }
    }

    fn fork<O: Observer>(&mut self, entry: &Entry, child: TaskId, observer: &mut O) {
        let Some(index) = self.meet(child) else { return };
        let was = self.tasks[index];
        if !matches!(was.phase, Phase::Unknown | Phase::Dead) {
            return; // its clock was ahead of its parent's: it already acts
        }
        let known = &mut self.tasks[index];
        (known.phase, known.since) = (Phase::New, entry.time);
        (known.waker, known.waker_cpu, known.waking) = (entry.by, entry.cpu, Some(entry.time));
        known.prev = Some(entry.cpu);
        self.tell(index, child, &was, observer);
    }

    fn hotplug<O: Observer>(&mut self, cpu: CpuId, up: bool, observer: &mut O) {
        self.know_cpu(cpu);
        let state = &mut self.cpus[cpu.index()];
        let was = state.mode;
        if up == (was != CpuMode::Offline) {
            return;
        }
        // A CPU that comes up is unknown until its first switch tells what it runs.
        state.mode = if up { CpuMode::Unknown } else { CpuMode::Offline };
        state.since = self.now;
        if let CpuMode::Busy(task) = was {
            self.forget(task, observer);
        }
        observer.cpu(self, cpu);
    }

    fn change<O: Observer>(&mut self, task: TaskId, what: Change, observer: &mut O) {
        let Some(index) = self.meet(task) else { return };
        let was = self.tasks[index];
        let known = &mut self.tasks[index];
        match what {
            Change::Affinity(mask) => known.mask = Some(mask),
            Change::Throttled(on) => known.throttled = on,
            Change::MigrationDisabled(on) => known.migration_disabled = on,
            Change::Policy(policy) => known.policy = Some(policy),
            Change::Nice(_) | Change::Cgroup(_) | Change::Name(_) => return,
        }
        self.tell(index, task, &was, observer);
        if let (Phase::Waiting | Phase::Running, Some(cpu)) = (was.phase, was.cpu) {
            observer.cpu(self, cpu);
        }
    }

    /// Events of `cpu` were dropped: it is unknown until its next switch; every task that does not
    /// run on another CPU is unknown until its next event. What other CPUs run stays known.
    fn lose<O: Observer>(&mut self, cpu: CpuId, observer: &mut O) {
        self.know_cpu(cpu);
        self.epoch += 1;
        for other in 0..self.cpus.len() {
            match self.cpus[other].mode {
                CpuMode::Busy(task) if other != cpu.index() => {
                    let index = task.index().expect("an idle task makes no CPU busy");
                    self.tasks[index].epoch = self.epoch;
                }
                _ => {}
            }
        }
        let ran = self.cpus[cpu.index()].mode;
        if ran != CpuMode::Offline {
            self.cpus[cpu.index()].mode = CpuMode::Unknown;
            self.cpus[cpu.index()].since = self.now;
        }
        if let CpuMode::Busy(task) = ran {
            let index = task.index().expect("an idle task makes no CPU busy");
            let was = self.tasks[index];
            self.tell(index, task, &was, observer);
        }
        for other in 0..=self.cpus.len() {
            let place = (other < self.cpus.len()).then_some(CpuId(other as u16));
            let queue = place.map_or(&self.unplaced, |cpu| self.cpu(cpu));
            let mut next = queue.head;
            let changed = next != NO_TASK || other == cpu.index();
            let empty = CpuState { waiting: 0, head: NO_TASK, tail: NO_TASK, ..*queue };
            match place {
                Some(cpu) => self.cpus[cpu.index()] = empty,
                None => self.unplaced = empty,
            }
            while next != NO_TASK {
                let known = &mut self.tasks[next as usize];
                let (was, index) = (*known, next);
                next = std::mem::replace(&mut known.after, NO_TASK);
                known.before = NO_TASK;
                self.tell(index as usize, TaskId::nth(index as usize), &was, observer);
            }
            if let (true, Some(cpu)) = (changed, place) {
                observer.cpu(self, cpu);
            }
        }
    }

    /// The index of a task that an event names, fresh; `None` for an idle task.
    #[inline]
    pub(super) fn meet(&mut self, task: TaskId) -> Option<usize> {
        let index = task.index()?;
        if index >= self.tasks.len() {
            self.tasks.resize(index + 1, TaskState::unknown(self.epoch));
        }
        if self.tasks[index].epoch != self.epoch {
            self.tasks[index] = self.fresh(&self.tasks[index]);
        }
        Some(index)
    }

    /// Tells what became of the task with this index; a loss has made it unknown meanwhile.
    #[inline(never)]
    pub(super) fn tell<O: Observer>(
        &self,
        index: usize,
        task: TaskId,
        was: &TaskState,
        observer: &mut O,
    ) {
        let now = &self.tasks[index];
        if now.epoch == self.epoch {
            observer.task(self, task, was, now);
        } else {
            observer.task(self, task, was, &self.fresh(now));
        }
    }

    #[inline]
    fn know_cpu(&mut self, cpu: CpuId) {
        if cpu.index() >= self.cpus.len() {
            self.cpus.resize(cpu.index() + 1, CpuState::UNKNOWN);
        }
    }

    /// Takes a waiting task out of its queue; tells of that CPU unless it is `here`, of which the
    /// caller tells itself.
    fn leave_telling<O: Observer>(
        &mut self,
        index: u32,
        place: Option<CpuId>,
        here: Option<CpuId>,
        observer: &mut O,
    ) {
        self.leave(index, place);
        if let (Some(cpu), true) = (place, place != here) {
            observer.cpu(self, cpu);
        }
    }

    /// The task that State saw running there is elsewhere: what the CPU runs is unknown.
    fn vacate<O: Observer>(&mut self, cpu: CpuId, observer: &mut O) {
        self.cpus[cpu.index()].mode = CpuMode::Unknown;
        self.cpus[cpu.index()].since = self.now;
        observer.cpu(self, cpu);
    }

    fn forget<O: Observer>(&mut self, task: TaskId, observer: &mut O) {
        let Some(index) = self.meet(task) else { return };
        let was = self.tasks[index];
        if was.phase == Phase::Waiting {
            self.leave_telling(index as u32, was.cpu, None, observer);
        }
        let known = &mut self.tasks[index];
        (known.phase, known.since, known.waker) = (Phase::Unknown, self.now, By::UNKNOWN);
        self.tell(index, task, &was, observer);
    }
}
