//! CPUs that go off and come back.

use wastenot_model::policy::{Happening, Why};
use wastenot_model::{Context, Event, Left, Prio, TaskId};

use super::Engine;
use super::calendar::Due;
use crate::mechanism::{Mechanism, Trigger};

impl<M: Mechanism> Engine<'_, M> {
    /// The next CPU goes off or comes back.
    pub(super) fn plug(&mut self) {
        let plug = self.workload.hotplug[self.next_hotplug];
        self.next_hotplug += 1;
        if let Some(next) = self.workload.hotplug.get(self.next_hotplug) {
            let at = next.at.max(self.kernel.now());
            self.kernel.calendar.set(Due::Hotplug, at);
        }
        let (cpu, up) = (plug.cpu, plug.up);
        let view = self.kernel.cx.view_mut();
        if view.cpus[cpu.index()].online == up || (!up && view.online.len() == 1) {
            return; // it is so already, or nobody would be left
        }
        view.cpus[cpu.index()].online = up;
        view.cpus[cpu.index()].idle_since = view.now;
        let current = view.cpus[cpu.index()].current;
        match up {
            true => {
                view.online.insert(cpu);
                view.idle.insert(cpu);
            }
            false => {
                view.online.remove(cpu);
                view.idle.remove(cpu);
            }
        }
        // Whoever runs there leaves first; then the policy clears the queue, from another CPU.
        if let (Some(task), false) = (current, up) {
            self.kernel.react(cpu, Trigger::Select { task, why: Why::Displaced });
        }
        let other = self.online(cpu);
        self.kernel.tell(other, Context::Task, Event::Cpu { cpu, up });
        self.kernel.free_the_stranded(other);
        if up {
            // Whoever reads the History knows from then on that it idles.
            let (idle, left) = (TaskId::idle(cpu), Left::Runnable);
            let (prev_prio, next_prio) = (Prio::UNKNOWN, Prio::UNKNOWN);
            let event = Event::Switch { cpu, prev: idle, next: idle, left, prev_prio, next_prio };
            self.kernel.tell(cpu, Context::Task, event);
        }
        self.kernel.react(other, Trigger::Happening(Happening::Cpu { cpu, up }));
        if let Some(tick) = self.kernel.tick
            && tick.idle
        {
            match up {
                true => self.kernel.calendar.set(Due::Tick(cpu), self.kernel.cx.now + tick.period),
                false => self.kernel.calendar.clear(Due::Tick(cpu)),
            }
        }
    }
}
