//! What mechanisms act on: tasks, CPUs, and the resulting History.

use std::collections::VecDeque;

use wastenot_model::policy::{
    Context as Cx, Effect, Happening, Note, Place, TaskView, Tick, View, Why,
};
use wastenot_model::workload::{Step, Waiting};
use wastenot_model::{
    Builder, By, Context, CpuId, Distance, Entry, Event, How, Left, Machine, Prio, Span, TaskId,
    Time, machine::Costs,
};

use super::calendar::{Calendar, Due};
use super::life::{Doing, Life};
use super::outcome::{End, Fault};
use super::speed::{FULL, Speeds};
use super::sync::Shared;
use crate::mechanism::{Hardware, Overhead, Samples, Trigger};

/// The machine, its tasks, and their state.
#[derive(Debug)]
pub struct Kernel {
    /// The context that a policy receives.
    pub cx: Cx,
    /// What paths contend for.
    pub hardware: Hardware,
    /// The overheads that mechanisms reported.
    pub samples: Samples,
    pub(crate) sink: Builder,
    pub(crate) calendar: Calendar,
    pub(crate) lives: Vec<Life>,
    pub(crate) cpus: Vec<CpuRun>,
    pub(crate) shared: Shared,
    pub(crate) speeds: Speeds,
    pub(crate) costs: Costs,
    pub(crate) tick: Option<Tick>,
    /// CPUs that have something to do at the current instant, in order.
    pub(crate) soon: VecDeque<CpuId>,
    pub(crate) notes: Vec<(Time, Note)>,
    /// Why the run ends now, if it has to.
    pub(crate) end: Option<End>,
    /// Tasks that have ended but are still on their CPU.
    pub(crate) leaving: usize,
    /// The CPU that each timer of the policy interrupts.
    pub(crate) timers: Vec<CpuId>,
    pub(super) effects: Vec<Effect>,
}

/// The state of a CPU.
#[derive(Debug)]
pub(crate) struct CpuRun {
    /// Triggers to which it still has to react.
    pub(crate) pending: VecDeque<Trigger>,
    /// The path that it is in, and how many steps of the path are done.
    pub(crate) path: Option<(Trigger, u32)>,
    pub(crate) need_resched: bool,
    /// It is to go off, and does so once it has nothing left to do.
    pub(crate) goes_off: bool,
    /// How its running task leaves, once it has to.
    pub(crate) leaves: Option<Leaves>,
    /// When the progress of its running task was last settled.
    pub(crate) settled: Time,
    /// How fast it has run since.
    pub(crate) speed: u64,
    /// The task that ran here last.
    pub(crate) last: Option<TaskId>,
}

/// How a task leaves its CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaves {
    /// It remains runnable.
    Runnable(Why),
    /// It remains runnable, on another CPU.
    Displaced {
        /// The other CPU.
        to: CpuId,
        /// Why.
        why: Why,
    },
    /// It sleeps.
    Sleeps,
    /// Its job is complete, and the mechanism decides when the next one begins.
    Completes,
    /// It has ended.
    Ends,
}

impl Leaves {
    /// Whether the task remains runnable.
    pub(crate) fn is_runnable(self) -> bool {
        matches!(self, Leaves::Runnable(_) | Leaves::Displaced { .. })
    }
    fn left(self) -> Left {
        match self {
            Leaves::Runnable(_) | Leaves::Displaced { .. } => Left::Preempted,
            Leaves::Sleeps | Leaves::Completes => Left::Sleeping,
            Leaves::Ends => Left::Dead,
        }
    }
}

impl Kernel {
    pub(crate) fn new(
        machine: &Machine,
        costs: Costs,
        shared: Shared,
        view: View,
        sink: Builder,
        notes: bool,
    ) -> Kernel {
        let cpu = || CpuRun {
            pending: VecDeque::new(),
            path: None,
            need_resched: false,
            goes_off: false,
            leaves: None,
            settled: Time(0),
            speed: FULL,
            last: None,
        };
        Kernel {
            cx: Cx::new(view, notes),
            hardware: Hardware::new(machine),
            samples: Samples::new(notes),
            sink,
            calendar: Calendar::new(machine.len()),
            lives: Vec::new(),
            cpus: machine.cpus.iter().map(|_| cpu()).collect(),
            shared,
            speeds: Speeds::of(machine, &costs),
            costs,
            tick: None,
            soon: VecDeque::new(),
            notes: Vec::new(),
            end: None,
            leaving: 0,
            timers: Vec::new(),
            effects: Vec::new(),
        }
    }

    /// The time.
    #[inline]
    pub fn now(&self) -> Time {
        self.cx.now
    }
    pub(crate) fn life(&mut self, task: TaskId) -> &mut Life {
        &mut self.lives[task.ordinal()]
    }
    pub(crate) fn run(&mut self, cpu: CpuId) -> &mut CpuRun {
        &mut self.cpus[cpu.index()]
    }
    /// The task that created `task`, if one did.
    pub(crate) fn parent(&self, task: TaskId) -> Option<TaskId> {
        self.lives[task.ordinal()].parent
    }

    /// How the running task of `cpu` leaves it. It is preempted unless another way was set.
    #[inline]
    pub fn leaves(&mut self, cpu: CpuId) -> Option<(TaskId, Leaves)> {
        let run = &mut self.cpus[cpu.index()];
        run.need_resched = false;
        let how = run.leaves.take();
        let task = self.cx.current(cpu)?;
        self.settle(cpu);
        self.calendar.clear(Due::Segment(cpu));
        Some((task, how.unwrap_or(Leaves::Runnable(Why::Preempted))))
    }

    /// `cpu` has picked a task: kicks that were sent before are answered, also one whose interrupt
    /// is on its way, since what it asked for was noted with the task that ran then
    /// (`clear_tsk_need_resched` in `__schedule`, kernel/sched/core.c).
    pub(crate) fn picked(&mut self, cpu: CpuId) {
        self.run(cpu).need_resched = false;
        self.calendar.clear(Due::Kick(cpu));
    }

    /// How the running task of `cpu` leaves it, if that was set and the CPU's path has not
    /// processed it yet; and whether that path has begun.
    pub(crate) fn about_to_leave(&self, cpu: CpuId) -> Option<(TaskId, Leaves, bool)> {
        let run = &self.cpus[cpu.index()];
        Some((self.cx.current(cpu)?, run.leaves?, run.path.is_some()))
    }

    /// `task` no longer runs.
    #[inline]
    pub(crate) fn stopped(&mut self, task: TaskId, how: Leaves) {
        let place = match how {
            Leaves::Runnable(_) => Place::Queued,
            Leaves::Displaced { .. } => Place::Moving,
            Leaves::Sleeps | Leaves::Completes => Place::Asleep,
            Leaves::Ends => Place::Nowhere,
        };
        self.leaving -= usize::from(how == Leaves::Ends);
        self.cx.view_mut().task_mut(task).place = place;
    }

    /// Reports that `task` is being woken on `cpu`.
    #[inline]
    pub(crate) fn tell_waking(&mut self, cpu: CpuId, task: TaskId, by: Context) {
        let view = self.cx.task(task);
        let event = Event::Waking { task, prev: Some(view.cpu), prio: prio(view.nice) };
        self.tell(cpu, by, event);
    }

    /// Puts `task`, which is woken, new or displaced, on the queue of `to`.
    #[inline]
    pub fn place(&mut self, task: TaskId, to: CpuId, why: Why, by: Context) {
        let here = self.cx.cpu;
        self.check_placed(task, to);
        let index = task.ordinal();
        let view = &mut self.cx.view_mut().tasks[index];
        let from = std::mem::replace(&mut view.cpu, to);
        view.place = Place::Queued;
        let prio = prio(view.nice);
        if from != to {
            if why != Why::New {
                self.tell(here, by, Event::Migrate { task, from: Some(from), to });
            }
            self.charge_move(task, from, to);
        }
        let how = match why {
            Why::Wakeup { .. } => How::Wakeup,
            Why::Requeued => How::NoSelection,
            Why::New => How::New,
            _ => return,
        };
        self.tell(here, by, Event::Queued { task, on: Some(to), how, prio });
    }

    /// `cpu` switches from the task that leaves to `next`.
    #[inline]
    pub fn switch(&mut self, cpu: CpuId, leaves: Option<(TaskId, Leaves)>, next: Option<TaskId>) {
        let prev = leaves.map(|(task, _)| task);
        if let Some(task) = prev
            && prev == next
        {
            self.cx.view_mut().task_mut(task).place = Place::Running;
            self.cpus[cpu.index()].settled = self.now();
            return;
        }
        if prev.is_none() && next.is_none() {
            return;
        }
        if let Some(next) = next {
            self.check_dispatched(cpu, next);
        }
        let nice = |task: Option<TaskId>| task.map_or(0, |task| self.cx.task(task).nice);
        let event = Event::Switch {
            cpu,
            prev: prev.unwrap_or(TaskId::idle(cpu)),
            next: next.unwrap_or(TaskId::idle(cpu)),
            left: leaves.map_or(Left::Runnable, |(_, how)| how.left()),
            prev_prio: prio(nice(prev)),
            next_prio: prio(nice(next)),
        };
        self.tell(cpu, Context::Task, event);
        let now = self.now();
        let view = self.cx.view_mut();
        view.cpus[cpu.index()].current = next;
        if let Some(next) = next {
            view.task_mut(next).place = Place::Running;
        }
        match (prev, next) {
            (None, Some(_)) => view.idle.remove(cpu),
            (Some(_), None) if view.cpus[cpu.index()].online => {
                view.idle.insert(cpu);
                view.cpus[cpu.index()].idle_since = now;
            }
            _ => {}
        }
        self.switched(cpu, prev, next);
    }

    /// Ticks, speeds and costs after a switch.
    #[inline]
    fn switched(&mut self, cpu: CpuId, prev: Option<TaskId>, next: Option<TaskId>) {
        let now = self.now();
        if prev.is_none() != next.is_none() {
            if let Some(tick) = self.tick.filter(|tick| !tick.idle) {
                match next {
                    Some(_) => {
                        let at = tick.after(now, cpu, self.cpus.len());
                        self.calendar.set(Due::Tick(cpu), at);
                    }
                    None => self.calendar.clear(Due::Tick(cpu)),
                }
            }
            if self.speeds.siblings_matter() {
                self.siblings_changed(cpu);
            }
        }
        let run = &mut self.cpus[cpu.index()];
        run.settled = now;
        if let Some(next) = next {
            let cold = run.last != Some(next) && run.last.is_some();
            run.last = Some(next);
            let costs = &self.costs;
            let debt = if cold { costs.switch + costs.cold } else { costs.switch };
            let node = self.cx.machine.cpus[cpu.index()].node;
            let life = self.life(next);
            life.debt += debt;
            life.home = life.home.or(node);
        }
    }

    /// `task` pays for being moved when it next runs.
    pub(super) fn charge_move(&mut self, task: TaskId, from: CpuId, to: CpuId) {
        if self.costs.migration == [Span::ZERO; 4] {
            return;
        }
        let distance: Distance = self.cx.machine.distance(from, to);
        let cost = self.costs.of_move(distance);
        self.life(task).debt += cost;
    }

    /// A running task moves to `to`, unless it is there or is about to sleep.
    pub fn send(&mut self, task: TaskId, to: CpuId, why: Why) {
        let view = self.cx.task(task);
        let (place, cpu) = (view.place, view.cpu);
        let sleeps = self.run(cpu).leaves.is_some_and(|how| !how.is_runnable());
        if place != Place::Running || sleeps {
            return;
        }
        self.check_placed(task, to);
        if cpu != to {
            self.run(cpu).leaves = Some(Leaves::Displaced { to, why });
        }
    }

    /// Checks that no task is queued on `cpu`, which is off.
    pub(crate) fn check_cleared(&mut self, cpu: CpuId) {
        let stays = |view: &TaskView| view.place == Place::Queued && view.cpu == cpu;
        if self.cx.tasks.iter().any(stays) {
            self.fault(format!(
                "the scheduler left tasks on the run queue of CPU {cpu}, which is offline"
            ));
        }
    }

    /// Reports an overhead on `cpu` that began at `since` and ends now.
    #[inline]
    pub fn sample(&mut self, cpu: CpuId, kind: Overhead, since: Time) {
        let now = self.now();
        self.samples.add(now, cpu, kind, now - since);
    }

    /// The next job of `task`, whose last job is complete, begins: the task is to be placed. Its
    /// beat is at the release.
    pub fn begins_job(&mut self, task: TaskId, released: Time) {
        let life = self.life(task);
        (life.beat, life.worked) = (Some(released), false);
        if life.doing == Doing::Sleep {
            life.doing = Doing::Steps;
        }
    }

    /// Whether `task` has computed since its job began.
    pub(crate) fn worked(&self, task: TaskId) -> bool {
        self.lives[task.ordinal()].worked
    }

    /// `task`, which runs on `cpu`, requests a spin lock or releases it.
    pub(super) fn note_section(&mut self, cpu: CpuId, task: TaskId, step: Step) {
        let (Step::Lock(lock) | Step::Unlock(lock)) = step else { return };
        if self.shared.locks[lock.index()].waiting != Waiting::Spin {
            return;
        }
        let life = self.life(task);
        if matches!(step, Step::Lock(_)) {
            life.spun_for += 1;
            return;
        }
        life.spun_for = life.spun_for.saturating_sub(1);
        if life.spun_for == 0 && std::mem::take(&mut life.deferred) {
            self.run(cpu).need_resched = true;
        }
    }

    /// Whether `task` holds a spin lock or waits for one: a mechanism may choose not to preempt it.
    pub(crate) fn is_in_section(&self, task: TaskId) -> bool {
        self.lives[task.ordinal()].spun_for > 0
    }

    /// The CPU of `task`, which is in such a section, picks again once the section is over.
    pub(crate) fn defer(&mut self, task: TaskId) {
        self.life(task).deferred = true;
    }

    /// Whether nothing is under way: no CPU is in a path or has a trigger to react to, and no
    /// interrupt and no message is on its way.
    pub(crate) fn is_quiet(&self) -> bool {
        let quiet = |(n, run): (usize, &CpuRun)| {
            let cpu = CpuId(n as u16);
            let idle = run.path.is_none() && run.pending.is_empty();
            let settled = !run.need_resched && run.leaves.is_none();
            let under_way = [Due::Kick(cpu), Due::Path(cpu), Due::Mail(cpu)];
            idle && settled && !under_way.iter().any(|due| self.calendar.is_set(*due))
        };
        self.cpus.iter().enumerate().all(quiet)
    }

    /// `cpu` reacts to `trigger` as soon as it can.
    pub(crate) fn react(&mut self, cpu: CpuId, trigger: Trigger) {
        let pending = &mut self.cpus[cpu.index()].pending;
        // Interrupts are served between two messages.
        let mail = |waits: &Trigger| matches!(waits, Trigger::Mail(_));
        match pending.iter().position(mail).filter(|_| !mail(&trigger)) {
            Some(at) => pending.insert(at, trigger),
            None => pending.push_back(trigger),
        }
        self.soon.push_back(cpu);
    }

    #[inline]
    pub(crate) fn tell(&mut self, cpu: CpuId, context: Context, event: Event) {
        let task = Some(self.cx.current(cpu).unwrap_or(TaskId::idle(cpu)));
        let entry = Entry { time: self.cx.now, cpu, by: By { task, context }, event };
        self.sink.push_told(entry);
    }

    /// Whether `task` may be on `cpu` now.
    #[inline]
    pub(crate) fn may_be(&self, task: TaskId, cpu: CpuId) -> bool {
        self.cx.online.contains(cpu) && self.cx.allowed(task, cpu)
    }

    #[inline]
    pub(super) fn check_placed(&mut self, task: TaskId, to: CpuId) {
        if !self.may_be(task, to) {
            self.misplaced(task, to);
        }
    }

    /// A task that is moved runs no longer: it is on no queue until it has been switched out.
    #[inline]
    pub(super) fn check_left(&mut self, task: TaskId, from: CpuId) {
        if self.cx.current(from) == Some(task) {
            self.fault(format!("the scheduler moved {task:?} while CPU {from} ran this task"));
        }
    }

    /// The policy's answer is a CPU that the task may not use.
    #[cold]
    fn misplaced(&mut self, task: TaskId, to: CpuId) {
        self.fault(format!(
            "the scheduler queued {task:?} on CPU {to}, but this task may not run there"
        ));
    }

    #[inline]
    fn check_dispatched(&mut self, cpu: CpuId, next: TaskId) {
        let view = self.cx.task(next);
        if view.cpu != cpu || view.place != Place::Queued || !self.cx.allowed(next, cpu) {
            let (place, at) = (view.place, view.cpu);
            self.fault(format!(
                "the scheduler dispatched {next:?} on CPU {cpu}, but the state of this task is \
                 {place:?} on CPU {at}"
            ));
        }
    }

    #[cold]
    pub(super) fn fault(&mut self, what: String) {
        let time = self.now();
        self.end.get_or_insert(End::Fault(Fault { time, what }));
    }

    /// Notifies a policy of an event.
    pub(crate) fn happens(&mut self, cpu: CpuId, happening: Happening) {
        self.cpus[cpu.index()].pending.push_back(Trigger::Happening(happening));
    }
}

pub(crate) fn wake_of(task: TaskId, by: Context) -> Trigger {
    Trigger::Wake { task, why: Why::Wakeup { sync: false }, by }
}

pub(crate) fn prio(nice: i8) -> Prio {
    Prio(Some(120 + i16::from(nice)))
}
