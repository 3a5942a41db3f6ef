//! CPUs that go off and come back.
//!
//! As in the kernel, one CPU goes off at a time, once the policy's threads that are bound to it
//! sleep. It is off only when its running task has left and it is idle. From the start of this
//! procedure no task is placed there, but the policy is notified at the end: then it clears the
//! queue.

use wastenot_model::policy::{Happening, Place, Why};
use wastenot_model::workload::Hotplug;
use wastenot_model::{Context, CpuId, Event, Left, Prio, Span, TaskId};

use super::Engine;
use super::calendar::Due;
use super::life::Doing;
use crate::mechanism::{Mechanism, Trigger};

/// How soon the engine checks again whether a CPU can go off or come back.
const RETRY: Span = Span::us(10);

impl<M: Mechanism> Engine<'_, M> {
    /// The next CPU goes off or comes back.
    pub(super) fn plug(&mut self) {
        let Hotplug { cpu, up, .. } = self.workload.hotplug[self.next_hotplug];
        if self.is_plugging() || !up && !self.threads_sleep(cpu) {
            return self.kernel.calendar.set(Due::Hotplug, self.kernel.now() + RETRY);
        }
        self.next_hotplug += 1;
        if let Some(next) = self.workload.hotplug.get(self.next_hotplug) {
            let at = next.at.max(self.kernel.now());
            self.kernel.calendar.set(Due::Hotplug, at);
        }
        let online = &self.kernel.cx.online;
        match up {
            true if !online.contains(cpu) => self.comes_up(cpu),
            false if online.contains(cpu) && online.len() > 1 => self.goes_off(cpu),
            _ => {} // it is so already, or no CPU would be left
        }
    }

    /// Whether a CPU still has to leave, or the policy has to be notified of one.
    fn is_plugging(&self) -> bool {
        let heard =
            |trigger: &Trigger| matches!(trigger, Trigger::Happening(Happening::Cpu { .. }));
        self.kernel.cpus.iter().any(|run| {
            let path = run.path.as_ref().map(|(trigger, _)| trigger);
            run.goes_off || run.pending.iter().chain(path).any(heard)
        })
    }

    /// Whether the policy's threads bound to `cpu` have nothing to do.
    fn threads_sleep(&self, cpu: CpuId) -> bool {
        let views = self.kernel.cx.tasks.iter().take_while(|view| view.own);
        let mut bound = views.zip(&self.kernel.lives).filter(|(view, _)| view.cpu == cpu);
        bound.all(|(view, life)| view.place == Place::Asleep && life.doing == Doing::Blocked)
    }

    fn goes_off(&mut self, cpu: CpuId) {
        let view = self.kernel.cx.view_mut();
        view.cpus[cpu.index()].online = false;
        view.online.remove(cpu);
        view.idle.remove(cpu);
        self.kernel.run(cpu).goes_off = true;
        match self.kernel.cx.current(cpu) {
            Some(task) => {
                self.kernel.react(cpu, Trigger::Select { task, why: Why::Displaced });
            }
            None => self.kernel.soon.push_back(cpu),
        }
        let other = self.online_or_first(cpu);
        self.kernel.free_the_stranded(other);
    }

    /// `cpu`, which is to go off, has nothing left to do.
    #[cold]
    pub(super) fn gone(&mut self, cpu: CpuId) {
        self.kernel.run(cpu).goes_off = false;
        self.kernel.calendar.clear(Due::Tick(cpu));
        let other = self.online_or_first(cpu);
        self.kernel.tell(other, Context::Task, Event::Cpu { cpu, up: false });
        self.kernel.react(other, Trigger::Happening(Happening::Cpu { cpu, up: false }));
    }

    fn comes_up(&mut self, cpu: CpuId) {
        let view = self.kernel.cx.view_mut();
        view.cpus[cpu.index()].online = true;
        view.cpus[cpu.index()].idle_since = view.now;
        view.online.insert(cpu);
        view.idle.insert(cpu);
        let other = self.online_or_first(cpu);
        self.kernel.tell(other, Context::Task, Event::Cpu { cpu, up: true });
        // This event informs each reader of the History that the CPU is idle.
        let (idle, left) = (TaskId::idle(cpu), Left::Runnable);
        let (prev_prio, next_prio) = (Prio::UNKNOWN, Prio::UNKNOWN);
        let event = Event::Switch { cpu, prev: idle, next: idle, left, prev_prio, next_prio };
        self.kernel.tell(cpu, Context::Task, event);
        self.kernel.react(other, Trigger::Happening(Happening::Cpu { cpu, up: true }));
        if let Some(tick) = self.kernel.tick.filter(|tick| tick.idle) {
            let at = tick.after(self.kernel.now(), cpu, self.kernel.cpus.len());
            self.kernel.calendar.set(Due::Tick(cpu), at);
        }
    }
}
