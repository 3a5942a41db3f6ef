//! CPUs that go off and come back: domains are rebuilt, and the tasks that are queued there move to
//! other CPUs (`sched_cpu_deactivate`, `migrate_tasks`).

use wastenot_model::policy::{Context, Note};
use wastenot_model::{CpuId, CpuSet, Decision, TaskId};

use super::entity::END;
use super::rules::Tunables;
use super::topology::Topology;
use super::{Cfs, cpu_id, mask};

impl Cfs {
    /// `cpu` has gone off, or comes back.
    pub(super) fn hotplug(&mut self, cx: &mut Context, cpu: u32, up: bool) {
        mask::set(&mut self.online, cpu as usize, up);
        self.rqs[cpu as usize].online = up;
        self.rqs[cpu as usize].idle_since = self.now;
        // Its stopper is parked, and has no request left that still matters.
        (self.rqs[cpu as usize].stopping, self.rqs[cpu as usize].push) = (false, None);
        self.note_idle(cpu);
        self.rebuild_domains(cx, self.rules.keep_numa);
        let mut next = self.rqs[cpu as usize].first;
        while next != END && !up {
            let task = TaskId::nth(next as usize);
            next = self.tasks[next as usize].after;
            if self.is_delayed(task) {
                self.leave_late(task);
                continue;
            }
            let to = self.fallback(cx, task, cpu);
            if to != cpu_id(cpu) {
                self.move_queued(cx, task, u32::from(to.0));
            }
        }
    }

    /// The domains of the online CPUs; `numa`: with the levels between nodes.
    pub(super) fn rebuild_domains(&mut self, cx: &mut Context, numa: bool) {
        let mut machine = cx.machine.clone();
        for (cpu, known) in machine.cpus.iter_mut().enumerate() {
            known.online = mask::contains(&self.online, cpu);
        }
        self.topology = Topology::of(&machine, &self.rules, numa, self.jiffies);
        let online = mask::iter(&self.online).count();
        self.rules.tunables = Tunables::of(online);
        self.idle_cores = vec![true; self.width as usize];
        for cpu in 0..self.width {
            if self.topology.chains[cpu as usize].is_empty() && self.rqs[cpu as usize].online {
                cx.note(|_| {
                    let alone = CpuSet::from_iter([cpu_id(cpu)]);
                    let what = Decision::DOMAIN;
                    let note = Note::new(cpu_id(cpu), what, None, alone.clone(), String::new());
                    Note { local: alone, ..note }
                });
            }
            for level in 0..self.topology.chains[cpu as usize].len() {
                cx.note(|_| {
                    let outcome = String::new();
                    let span = mask::to_set(&self.topology.chains[cpu as usize][level].span);
                    let domain = Note::new(cpu_id(cpu), Decision::DOMAIN, None, span, outcome);
                    Note { local: mask::to_set(&self.local_group(cpu, level).cpus), ..domain }
                });
            }
        }
    }

    /// Where a task goes that may not run on its target: a CPU of that node, else any CPU
    /// (`select_fallback_rq`).
    pub(super) fn fallback(&self, cx: &Context, task: TaskId, from: u32) -> CpuId {
        let node = cx.machine.cpus[from as usize].node;
        let near = |cpu: &usize| node.is_some() && cx.machine.cpus[*cpu].node == node;
        let usable = |cpu: &usize| {
            let cpu = CpuId(*cpu as u16);
            cx.online.contains(cpu) && cx.allowed(task, cpu)
        };
        let near = mask::iter(&self.online).filter(usable).find(near);
        let any = near.or_else(|| mask::iter(&self.online).find(usable));
        any.map_or_else(|| cx.fallback(task, cpu_id(from)), |cpu| CpuId(cpu as u16))
    }
}
