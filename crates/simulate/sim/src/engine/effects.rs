//! Carries out the effects of a policy: what it does besides returning an answer.

use wastenot_model::policy::{Effect, Happening, TimerId};
use wastenot_model::{Change, Context, CpuId, Event, Span, TaskId, Time};

use super::calendar::Due;
use super::kernel::{Kernel, wake_of};
use super::life::Doing;
use crate::mechanism::Trigger;

impl Kernel {
    /// Carries out the effects of `init`.
    pub(crate) fn carry_out_init(&mut self) {
        let timers = self.cx.timers();
        self.timers = vec![CpuId(0); timers as usize];
        self.calendar.reserve_timers(timers);
        self.carry_out();
    }

    /// Carries out the effects of the last call.
    #[inline]
    pub(crate) fn carry_out(&mut self) {
        if !self.cx.is_quiet() {
            self.carry_out_all();
        }
    }

    fn carry_out_all(&mut self) {
        let here = self.cx.cpu;
        let mut effects = std::mem::take(&mut self.effects);
        self.cx.take(&mut effects);
        for effect in effects.drain(..) {
            match effect {
                Effect::Kick { cpu, preempt } => self.kick(cpu, preempt),
                Effect::Moved { task, from, to } => {
                    self.check_placed(task, to);
                    self.check_left(task, from);
                    self.tell(here, Context::Task, Event::Migrate { task, from: Some(from), to });
                    self.charge_move(task, from, to);
                }
                Effect::Throttled { task, on } => {
                    let what = Change::Throttled(on);
                    self.tell(here, Context::Task, Event::Changed { task, what });
                }
                Effect::Timer { timer, cpu, at } => self.set_timer(timer, cpu, at),
                Effect::Wake(thread) => self.wake_thread(thread),
                Effect::Note(note) => self.notes.push((self.cx.now, note)),
                Effect::Tick(tick) => self.tick = Some(tick),
                Effect::Thread { name, cpu, work } => self.add_thread(&name, cpu, work),
            }
        }
        self.effects = effects;
    }

    /// `cpu` picks its next task: at once if `preempt`, else only if it is idle.
    #[inline]
    pub(crate) fn kick(&mut self, cpu: CpuId, preempt: bool) {
        let idle = self.cx.current(cpu).is_none();
        if !(preempt || idle) || !self.cx.cpus[cpu.index()].online {
            return;
        }
        let run = &mut self.cpus[cpu.index()];
        if cpu == self.cx.cpu || self.costs.ipi == Span::ZERO {
            if !std::mem::replace(&mut run.need_resched, true) {
                self.soon.push_back(cpu);
            }
        } else if !self.calendar.is_set(Due::Kick(cpu)) {
            let at = self.cx.now + self.costs.ipi;
            self.calendar.set(Due::Kick(cpu), at);
        }
    }

    fn set_timer(&mut self, timer: TimerId, cpu: CpuId, at: Option<Time>) {
        self.timers[timer.0 as usize] = cpu;
        match at {
            Some(at) => {
                let at = at.max(self.cx.now) + self.hardware.prices.timer;
                self.calendar.set(Due::Timer(timer), at);
            }
            None => self.calendar.clear(Due::Timer(timer)),
        }
    }

    fn wake_thread(&mut self, thread: TaskId) {
        let here = self.cx.cpu;
        if self.life(thread).doing != Doing::Blocked {
            return;
        }
        if !self.cx.online.contains(self.cx.task(thread).cpu) {
            let over = Happening::Ran(thread); // it is parked: it has nothing to do
            return self.react(here, Trigger::Happening(over));
        }
        let life = self.life(thread);
        (life.doing, life.left) = (Doing::Work, life.quantum);
        self.react(here, wake_of(thread, Context::Hardirq));
    }
}
