//! The mechanism without a mechanism: every decision is taken at once and costs nothing.

use wastenot_model::policy::{Family, Happening, Why};
use wastenot_model::{Context, CpuId, Policy, TaskId};

use super::{Mechanism, Step, Trigger};
use crate::Kernel;
use crate::engine::Leaves;

/// A policy that decides in zero time.
#[derive(Debug)]
pub struct Direct<P>(pub P);

impl<P: Policy> Mechanism for Direct<P> {
    fn name(&self) -> String {
        self.0.name()
    }

    fn family(&self) -> Family {
        self.0.family()
    }

    fn init(&mut self, kernel: &mut Kernel) {
        self.0.init(&mut kernel.cx);
    }

    #[inline]
    fn step(&mut self, kernel: &mut Kernel, cpu: CpuId, trigger: Trigger, _: u32) -> Step {
        match trigger {
            Trigger::Wake { task, why, by } => {
                self.tell(kernel, cpu, (task, why), by);
                self.put(kernel, task, why, by);
            }
            Trigger::Select { task, .. } if kernel.cx.current(cpu) != Some(task) => {
                // It has left meanwhile.
            }
            Trigger::Select { task, why } => {
                let to = self.0.select_cpu(&mut kernel.cx, task, cpu, why);
                kernel.carry_out();
                kernel.send(task, to, why);
            }
            Trigger::Schedule => self.schedule(kernel, cpu),
            Trigger::Tick => {
                self.0.tick(&mut kernel.cx, cpu);
                kernel.carry_out();
            }
            Trigger::Happening(happening) => self.on(kernel, happening),
            Trigger::Mail(_) => {}
        }
        Step::Done
    }
}

impl<P: Policy> Direct<P> {
    fn on(&mut self, kernel: &mut Kernel, happening: Happening) {
        self.0.on(&mut kernel.cx, happening);
        kernel.carry_out();
        if let Happening::Cpu { cpu, up: false } = happening {
            kernel.check_cleared(cpu);
        }
    }

    /// `task` is woken or new, and is about to be put.
    #[inline]
    pub(super) fn tell(
        &mut self,
        kernel: &mut Kernel,
        cpu: CpuId,
        (task, why): (TaskId, Why),
        by: Context,
    ) {
        if why == Why::New {
            let parent = kernel.parent(task);
            self.on(kernel, Happening::Fork { parent, child: task });
        } else {
            kernel.tell_waking(cpu, task, by);
        }
    }

    /// Selects a CPU for `task` and queues it there.
    #[inline]
    fn put(&mut self, kernel: &mut Kernel, task: TaskId, why: Why, by: Context) {
        let prev = kernel.cx.task(task).cpu;
        let wakes = matches!(why, Why::Wakeup { .. });
        let (to, why) = match wakes && self.0.still_queued(&kernel.cx, task) {
            true => (prev, Why::Requeued),
            false => (self.0.select_cpu(&mut kernel.cx, task, prev, why), why),
        };
        kernel.carry_out();
        kernel.place(task, to, why, by);
        self.0.enqueue(&mut kernel.cx, task, to, why);
        kernel.carry_out();
    }

    /// How `task` leaves `cpu`: affinities and CPUs may have changed since the decision.
    #[inline]
    pub(super) fn leaving(
        &mut self,
        kernel: &mut Kernel,
        cpu: CpuId,
        task: TaskId,
        how: Leaves,
    ) -> Leaves {
        let (to, why) = match how {
            Leaves::Displaced { to, why } => (to, why),
            Leaves::Runnable(_) => (cpu, Why::Displaced),
            Leaves::Sleeps | Leaves::Completes | Leaves::Ends => return how,
        };
        if kernel.may_be(task, to) {
            return how;
        }
        let to = self.0.select_cpu(&mut kernel.cx, task, cpu, why);
        kernel.carry_out();
        Leaves::Displaced { to, why }
    }

    #[inline]
    fn schedule(&mut self, kernel: &mut Kernel, cpu: CpuId) {
        let mut leaves = kernel.leaves(cpu);
        if let Some((task, how)) = &mut leaves {
            *how = self.leaving(kernel, cpu, *task, *how);
        }
        if let Some((task, how)) = leaves {
            self.0.stopping(&mut kernel.cx, cpu, task, how.is_runnable());
            kernel.stopped(task, how);
            if let Leaves::Runnable(why) = how {
                self.0.enqueue(&mut kernel.cx, task, cpu, why);
            }
            kernel.carry_out();
        }
        let online = kernel.cx.cpus[cpu.index()].online;
        let next = if online { self.0.dispatch(&mut kernel.cx, cpu) } else { None };
        kernel.carry_out();
        let was_idle = leaves.is_none();
        kernel.switch(cpu, leaves, next);
        if let Some(next) = next {
            self.0.running(&mut kernel.cx, cpu, next);
        }
        if was_idle != next.is_none() && online {
            self.0.update_idle(&mut kernel.cx, cpu, next.is_none());
        }
        kernel.carry_out();
        if let Some((task, Leaves::Displaced { to, why })) = leaves {
            kernel.place(task, to, why, Context::Task);
            self.0.enqueue(&mut kernel.cx, task, to, why);
            kernel.carry_out();
        }
    }
}
