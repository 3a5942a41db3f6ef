//! What each event means. The only such place.
//!
//! Sources: the order of tracepoints in
//! `kernel/sched/core.c` (`try_to_wake_up`: waking, then migrate if another CPU is selected, then
//! wakeup; `kernel_clone`: fork, then wakeup_new).

use super::{
    Contradiction, CpuMode, CpuState, Link, NO_TASK, Origin, Phase, State, TaskState, WaitRule,
};
use crate::{By, Change, CpuId, Entry, Event, How, Left, Observer, Prio, TaskId};

impl State {
    /// Lets `entry` happen and tells the observer what it changed.
    #[inline(always)]
    pub fn apply<O: Observer>(&mut self, entry: &Entry, observer: &mut O) {
        match entry.event {
            Event::Switch { cpu, prev, next, .. } => {
                self.pass(entry.time, observer);
                match self.is_usual(cpu, prev, next) {
                    true => self.switch_as_usual(entry, observer),
                    false => self.switch(*entry, observer),
                }
            }
            // Most wakings only note who woke whom: no time need be told for that.
            Event::Waking { task, prev, prio } if self.wakes_quietly(entry, task, prev, prio) => {
                self.now = self.now.max(entry.time);
            }
            Event::Queued { task, on, how, prio } => {
                self.pass(entry.time, observer);
                self.queued(entry, task, (on, how, prio), observer);
            }
            Event::Waking { .. }
            | Event::Migrate { .. }
            | Event::Fork { .. }
            | Event::Cpu { .. }
            | Event::Changed { .. }
            | Event::Lost { .. } => {
                self.pass(entry.time, observer);
                self.change(entry);
                self.tell(entry, observer);
            }
            Event::Exec { .. }
            | Event::Exit { .. }
            | Event::Freq { .. }
            | Event::Decided { .. } => {
                self.now = self.now.max(entry.time);
            }
        }
        observer.event(self, entry);
    }

    /// The less frequent kinds.
    #[inline(always)]
    fn change(&mut self, entry: &Entry) {
        match entry.event {
            Event::Waking { task, prev, prio } => self.wake(*entry, task, prev, prio),
            Event::Migrate { task, to, .. } => self.migrate(task, to),
            Event::Fork { child, .. } => self.fork(entry, child),
            Event::Cpu { cpu, up } => self.hotplug(cpu, up),
            Event::Changed { task, what } => self.changed(task, what),
            Event::Lost { .. } => self.lose(entry.cpu),
            _ => {}
        }
    }

    /// Whether a switch is as almost all are: `prev` was known to run there, and `next` waits there
    /// or is the idle task.
    #[inline(always)]
    fn is_usual(&self, cpu: CpuId, prev: TaskId, next: TaskId) -> bool {
        let is_so = |task: TaskId, phase: Phase| {
            task.is_idle()
                || self.known(task).is_some_and(|is| is.phase == phase && is.cpu == Some(cpu))
        };
        let ran = self.cpus.get(cpu.index()).is_some_and(|it| it.mode == CpuMode::running(prev));
        ran && is_so(prev, Phase::Running) && is_so(next, Phase::Waiting)
    }

    /// Two tasks and the CPU change, each once, so what they were need not be kept in lists.
    #[inline(always)]
    fn switch_as_usual<O: Observer>(&mut self, entry: &Entry, observer: &mut O) {
        let Event::Switch { cpu, prev, next, left, prev_prio, next_prio } = entry.event else {
            return;
        };
        let place = self.cpus[cpu.index()];
        self.run(cpu, next);
        let prev = prev.index().map(|index| (index, self.tasks[index]));
        if let Some((index, _)) = prev {
            self.leave_cpu(index, cpu, left, prev_prio);
        }
        let next = next.index().map(|index| (index, self.tasks[index]));
        if let Some((index, _)) = next {
            self.leave(index as u32, Some(cpu));
            self.take_cpu(index, cpu, next_prio);
        }
        if let Some((index, was)) = &prev {
            self.tell_task(*index, was, &self.tasks[*index], observer);
        }
        if let Some((index, was)) = &next {
            self.tell_task(*index, was, &self.tasks[*index], observer);
        }
        self.tell_cpu(cpu, &place, observer);
    }

    /// Any switch.
    #[inline(never)]
    fn switch<O: Observer>(&mut self, entry: Entry, observer: &mut O) {
        let Event::Switch { cpu, prev, next, left, prev_prio, next_prio } = entry.event else {
            return;
        };
        self.know_cpu(cpu);
        if self.disagrees(cpu, prev) {
            self.correct(cpu);
            self.tell_contradictions(entry, observer);
            self.tell_tasks(observer);
        }
        self.go_out(prev, cpu, left, next, prev_prio);
        if prev == next {
            self.tell_tasks(observer);
        }
        self.come_in(next, cpu, next_prio);
        self.tell(&entry, observer);
    }

    /// Whether `cpu` is known to run something else than `prev`.
    #[inline]
    fn disagrees(&self, cpu: CpuId, prev: TaskId) -> bool {
        match self.cpus[cpu.index()].mode {
            CpuMode::Busy(task) => task != prev,
            CpuMode::Idle => !prev.is_idle(),
            CpuMode::Unknown | CpuMode::Offline => false,
        }
    }

    /// What State saw running on `cpu` was not there: a switch says so.
    #[cold]
    fn correct(&mut self, cpu: CpuId) {
        self.changes.contradictions.push(Contradiction::OtherPrev);
        if let CpuMode::Busy(task) = self.cpus[cpu.index()].mode {
            self.forget(task);
        }
    }

    /// `prev` leaves `cpu` to `next`. First who leaves, then who comes: a task that yields to
    /// itself keeps its run.
    fn go_out(&mut self, prev: TaskId, cpu: CpuId, left: Left, next: TaskId, prio: Prio) {
        self.keep_cpu(cpu);
        self.run(cpu, next);
        let Some(index) = self.meet(prev) else { return };
        let was = self.keep_task(index);
        match (was.phase, was.cpu) {
            (Phase::Running, Some(other)) if other != cpu => self.vacate(other),
            (Phase::Waiting, place) => self.leave_place(index, place),
            _ => {}
        }
        self.leave_cpu(index, cpu, left, prio);
    }

    /// `cpu` runs `task` from now on.
    #[inline(always)]
    fn run(&mut self, cpu: CpuId, task: TaskId) {
        let state = &mut self.cpus[cpu.index()];
        (state.mode, state.since) = (CpuMode::running(task), self.now);
    }

    /// The task with this index, which is on no queue, leaves `cpu`.
    #[inline(always)]
    fn leave_cpu(&mut self, index: usize, cpu: CpuId, left: Left, prio: Prio) {
        let task = &mut self.tasks[index];
        note_nice(task, prio);
        task.since = self.now;
        task.prev = Some(cpu);
        task.cpu = Some(cpu);
        task.moves = 0;
        task.waking = None;
        task.phase = match left {
            Left::Runnable | Left::Preempted => {
                let preempted = left == Left::Preempted;
                task.origin = if preempted { Origin::Preempted } else { Origin::Yielded };
                return self.want(index, Some(cpu));
            }
            Left::Dead => Phase::Dead,
            Left::Unknown => Phase::Unknown,
            _ => Phase::Sleeping,
        };
    }

    /// The task wants to run at `place`: it joins the queue there unless a quota holds it back.
    #[inline]
    pub(super) fn want(&mut self, index: usize, place: Option<CpuId>) {
        let task = &mut self.tasks[index];
        if task.throttled {
            (task.phase, task.cpu) = (Phase::Held, place);
            self.holds = true;
        } else {
            task.phase = Phase::Waiting;
            self.join(index as u32, place);
        }
    }

    fn come_in(&mut self, next: TaskId, cpu: CpuId, prio: Prio) {
        let Some(index) = self.meet(next) else { return };
        let was = self.keep_task(index);
        match was.phase {
            Phase::Waiting => self.leave_place(index, was.cpu),
            _ => self.come_unawaited(&was, cpu),
        }
        self.take_cpu(index, cpu, prio);
    }

    /// The task with this index, which is on no queue, runs on `cpu` from now on.
    #[inline(always)]
    fn take_cpu(&mut self, index: usize, cpu: CpuId, prio: Prio) {
        let task = &mut self.tasks[index];
        note_nice(task, prio);
        (task.phase, task.since, task.cpu) = (Phase::Running, self.now, Some(cpu));
    }

    /// What it means that a task comes to run that did not wait.
    fn come_unawaited(&mut self, was: &TaskState, cpu: CpuId) {
        let contradiction = match was.phase {
            Phase::Running if was.cpu != Some(cpu) => {
                if let Some(other) = was.cpu {
                    self.vacate(other);
                }
                Contradiction::RanTwice
            }
            Phase::Sleeping if was.waking.is_none() => Contradiction::RanAsleep,
            Phase::Dead => Contradiction::Undead,
            _ => return,
        };
        self.changes.contradictions.push(contradiction);
    }

    /// Notes a waking that begins no wait and changes neither phase nor nice value; false if it
    /// does.
    #[inline(always)]
    fn wakes_quietly(
        &mut self,
        entry: &Entry,
        task: TaskId,
        prev: Option<CpuId>,
        prio: Prio,
    ) -> bool {
        let Some(index) = self.meet(task) else { return true };
        let known = &self.tasks[index];
        match known.phase {
            _ if nice(prio).is_some_and(|nice| known.nice != Some(nice)) => false,
            // It was about to sleep, or is still queued: no wait begins here.
            phase if phase.wants_to_run() => true,
            Phase::Sleeping if self.rule == WaitRule::AtQueued => {
                self.note_waking(entry, index, prev);
                true
            }
            _ => false,
        }
    }

    #[inline(always)]
    fn note_waking(&mut self, entry: &Entry, index: usize, prev: Option<CpuId>) {
        let known = &mut self.tasks[index];
        known.waking = Some(entry.time);
        (known.waker, known.waker_cpu) = (entry.by, entry.cpu);
        if let Some(cpu) = prev {
            known.prev = prev;
            self.know_cpu(cpu);
        }
    }

    /// Takes the entry by value: what is only looked at here need not be in memory elsewhere.
    fn wake(&mut self, entry: Entry, task: TaskId, prev: Option<CpuId>, prio: Prio) {
        let Some(index) = self.meet(task) else { return };
        let was = self.keep_task(index);
        note_nice(&mut self.tasks[index], prio);
        if was.phase.wants_to_run() {
            return; // only its nice value is news
        }
        self.note_waking(&entry, index, prev);
        let known = &mut self.tasks[index];
        if known.phase != Phase::Sleeping {
            (known.phase, known.since) = (Phase::Sleeping, self.now);
        }
        let place = match self.rule {
            WaitRule::AtQueued => return,
            WaitRule::AtWaking => prev.or(known.cpu),
            WaitRule::Unplaced => None,
        };
        if let Some(cpu) = place {
            self.keep_cpu(cpu);
        }
        self.begin_wait(index, place, Origin::Waking);
    }

    #[inline(always)]
    fn queued<O: Observer>(
        &mut self,
        entry: &Entry,
        task: TaskId,
        (on, how, prio): (Option<CpuId>, How, Prio),
        observer: &mut O,
    ) {
        let Some(index) = self.meet(task) else { return };
        // Copied before it is written to: a copy of what was just written has to wait for it.
        let mut was = self.tasks[index];
        note_nice(&mut was, prio);
        self.tasks[index].nice = was.nice;
        if was.phase.wants_to_run() {
            return; // a wakeup that came before it had gone to sleep
        }
        if let Some(cpu) = on {
            self.know_cpu(cpu);
        }
        let place = on.map(|cpu| (cpu, self.cpus[cpu.index()]));
        if was.waking.is_none() {
            let known = &mut self.tasks[index];
            (known.waker, known.waker_cpu) = (entry.by, entry.cpu);
        }
        let origin = match how {
            How::Wakeup => Origin::Wakeup,
            How::NoSelection => Origin::NoSelection,
            How::New => Origin::Fork,
        };
        self.begin_wait(index, on, origin);
        self.tell_task(index, &was, &self.tasks[index], observer);
        if let Some((cpu, was)) = place {
            self.tell_cpu(cpu, &was, observer);
        }
    }

    #[inline(always)]
    fn begin_wait(&mut self, index: usize, place: Option<CpuId>, origin: Origin) {
        let known = &mut self.tasks[index];
        (known.since, known.origin, known.moves) = (self.now, origin, 0);
        known.prev = known.prev.or(known.cpu);
        self.want(index, place);
    }

    fn migrate(&mut self, task: TaskId, to: CpuId) {
        let Some(index) = self.meet(task) else { return };
        self.know_cpu(to);
        match self.tasks[index].phase {
            Phase::Waiting => {
                let was = self.keep_task(index);
                self.leave_place(index, was.cpu);
                self.keep_cpu(to);
                self.join(index as u32, Some(to));
                self.tasks[index].moves = was.moves.saturating_add(1);
            }
            // A running task is moved only after it was switched out: wait for that switch.
            Phase::Running => {}
            Phase::Held => {
                self.keep_task(index);
                self.tasks[index].cpu = Some(to);
            }
            _ => self.tasks[index].cpu = Some(to),
        }
    }

    fn fork(&mut self, entry: &Entry, child: TaskId) {
        let Some(index) = self.meet(child) else { return };
        if !matches!(self.tasks[index].phase, Phase::Unknown | Phase::Dead) {
            return; // its clock was ahead of its parent's: it already acts
        }
        self.keep_task(index);
        let known = &mut self.tasks[index];
        (known.phase, known.since) = (Phase::New, self.now);
        (known.waker, known.waker_cpu, known.waking) = (entry.by, entry.cpu, Some(entry.time));
        known.prev = Some(entry.cpu);
        // Its number may have been another one's.
        known.nice = None;
    }

    fn hotplug(&mut self, cpu: CpuId, up: bool) {
        self.know_cpu(cpu);
        let was = self.cpus[cpu.index()].mode;
        if up == (was != CpuMode::Offline) {
            return;
        }
        self.keep_cpu(cpu);
        // A CPU that comes up is unknown until its first switch tells what it runs.
        let state = &mut self.cpus[cpu.index()];
        state.mode = if up { CpuMode::Unknown } else { CpuMode::Offline };
        state.since = self.now;
        if let CpuMode::Busy(task) = was {
            self.forget(task);
        }
    }

    fn changed(&mut self, task: TaskId, what: Change) {
        if matches!(what, Change::Cgroup(_) | Change::Name(_)) {
            return;
        }
        let Some(index) = self.meet(task) else { return };
        if let Change::Nice(nice) = what {
            self.tasks[index].nice = Some(nice);
            return; // it says nothing of where the task may run
        }
        let was = self.keep_task(index);
        let known = &mut self.tasks[index];
        match what {
            Change::Affinity(mask) => known.mask = Some(mask),
            Change::Throttled(on) => return self.throttle(index, &was, on),
            Change::MigrationDisabled(on) => known.migration_disabled = on,
            Change::Policy(policy) => known.policy = Some(policy),
            Change::Nice(_) | Change::Cgroup(_) | Change::Name(_) => {}
        }
        if let (Phase::Waiting | Phase::Running, Some(cpu)) = (was.phase, was.cpu) {
            self.keep_cpu(cpu);
        }
    }

    /// A quota holds the task back from now on, or no longer. Who waits leaves the run queue; who
    /// was held back joins it anew, behind all others.
    fn throttle(&mut self, index: usize, was: &TaskState, on: bool) {
        self.tasks[index].throttled = on;
        match (was.phase, on) {
            (Phase::Waiting, true) => self.leave_place(index, was.cpu),
            (Phase::Held, false) => {
                if let Some(cpu) = was.cpu {
                    self.keep_cpu(cpu);
                }
                self.tasks[index].origin = Origin::Released;
            }
            _ => return,
        }
        (self.tasks[index].since, self.tasks[index].moves) = (self.now, 0);
        self.want(index, was.cpu);
    }

    /// Events of `cpu` were dropped: it is unknown until its next switch; every task that does not
    /// run on another CPU is unknown until its next event. What other CPUs run stays known.
    fn lose(&mut self, cpu: CpuId) {
        self.know_cpu(cpu);
        self.keep_held();
        self.epoch += 1;
        for other in 0..self.cpus.len() {
            match self.cpus[other].mode {
                CpuMode::Busy(task) if other != cpu.index() => {
                    let index = task.index().expect("an idle task makes no CPU busy");
                    self.links[index].epoch = self.epoch;
                }
                _ => {}
            }
        }
        self.keep_cpu(cpu);
        let ran = self.cpus[cpu.index()].mode;
        if ran != CpuMode::Offline {
            self.cpus[cpu.index()].mode = CpuMode::Unknown;
            self.cpus[cpu.index()].since = self.now;
        }
        if let CpuMode::Busy(task) = ran {
            self.keep_task(task.index().expect("an idle task makes no CPU busy"));
        }
        for other in 0..self.cpus.len() {
            let place = CpuId(other as u16);
            if self.cpus[other].waiting == 0 {
                continue;
            }
            if place != cpu {
                self.changes.cpus.push((place, self.cpus[other]));
            }
            self.disperse(Some(place));
        }
        self.disperse(None);
    }

    /// Tasks that are held back are on no queue, so they are looked for among all.
    fn keep_held(&mut self) {
        if !std::mem::take(&mut self.holds) {
            return;
        }
        for index in 0..self.tasks.len() {
            let is_known = self.links[index].epoch == self.epoch;
            if is_known && self.tasks[index].phase == Phase::Held {
                self.keep_task(index);
            }
        }
    }

    /// Where those who waited at `place` are now is not known.
    fn disperse(&mut self, place: Option<CpuId>) {
        let mut next = self.disband(place);
        while next != NO_TASK {
            self.keep_task(next as usize);
            next = self.unlink(next);
        }
    }

    /// The index of a task that an event names, fresh; `None` for an idle task.
    #[inline]
    pub(super) fn meet(&mut self, task: TaskId) -> Option<usize> {
        let index = task.index()?;
        match self.links.get(index) {
            Some(link) if link.epoch == self.epoch => {}
            _ => self.refresh(index),
        }
        Some(index)
    }

    /// Makes room for a new task; one that was seen before the last loss is known no longer.
    #[cold]
    fn refresh(&mut self, index: usize) {
        if index >= self.tasks.len() {
            self.tasks.resize(index + 1, TaskState::UNKNOWN);
            self.links.resize(index + 1, Link::new(self.epoch));
        }
        self.tasks[index] = self.fresh(index);
        self.links[index].epoch = self.epoch;
    }

    #[inline]
    fn know_cpu(&mut self, cpu: CpuId) {
        if cpu.index() >= self.cpus.len() {
            self.cpus.resize(cpu.index() + 1, CpuState::UNKNOWN);
        }
    }

    /// Takes a waiting task out of its queue.
    #[inline]
    fn leave_place(&mut self, index: usize, place: Option<CpuId>) {
        if let Some(cpu) = place {
            self.keep_cpu(cpu);
        }
        self.leave(index as u32, place);
    }

    /// The task that State saw running there is elsewhere: what the CPU runs is unknown.
    fn vacate(&mut self, cpu: CpuId) {
        self.keep_cpu(cpu);
        let state = &mut self.cpus[cpu.index()];
        (state.mode, state.since) = (CpuMode::Unknown, self.now);
    }

    pub(super) fn forget(&mut self, task: TaskId) {
        let Some(index) = self.meet(task) else { return };
        let was = self.keep_task(index);
        if was.phase == Phase::Waiting {
            self.leave_place(index, was.cpu);
        }
        let known = &mut self.tasks[index];
        (known.phase, known.since, known.waker) = (Phase::Unknown, self.now, By::UNKNOWN);
    }
}

/// Notes the nice value that a priority tells, if it tells one.
#[inline(always)]
fn note_nice(task: &mut TaskState, prio: Prio) {
    task.nice = nice(prio).or(task.nice);
}

/// Fair tasks have priorities from 100 (nice -20) to 139; the others tell no nice value.
#[inline(always)]
fn nice(prio: Prio) -> Option<i8> {
    let fair = prio.0.filter(|prio| (100..=139).contains(prio))?;
    i8::try_from(fair - 120).ok()
}
