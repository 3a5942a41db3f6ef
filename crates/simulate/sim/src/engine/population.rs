//! Creates tasks and the policy's kernel threads, and records what is known of them.

use wastenot_model::machine::Costs;
use wastenot_model::policy::{CpuView, Happening, Place, TaskView, View};
use wastenot_model::workload::{Random, Template, TemplateId, Workload};
use wastenot_model::{
    Change, Context, CpuId, CpuSet, Event, Machine, Sink, Span, Task, TaskId, Time,
};

use super::kernel::Kernel;
use super::life::{Doing, Life};
use crate::mechanism::Trigger;

impl Kernel {
    pub(super) fn add_thread(&mut self, name: &str, cpu: CpuId, work: Span) {
        let mask = self.mask(&CpuSet::from_iter([cpu]));
        let (random, blank) = (Random::stream(0, 0, 0), Template::new(name, Default::default()));
        let mut life = Life::new(None, random);
        (life.doing, life.quantum) = (Doing::Blocked, work);
        let mut view = view_of(&blank, cpu, mask);
        view.command = u32::MAX;
        (view.kthread, view.own, view.place) = (true, true, Place::Asleep);
        self.add(name, life, view);
        let thread = TaskId::nth(self.lives.len() - 1);
        self.tell_affinity(thread);
    }

    /// A new task of a template, not placed yet.
    pub(crate) fn add_task(
        &mut self,
        id: TemplateId,
        template: &Template,
        from: CpuId,
        random: Random,
    ) -> TaskId {
        let usable = |cpus: &&CpuSet| cpus.iter().any(|cpu| self.cx.online.contains(cpu));
        let mask = template.affinity.as_ref().filter(usable).map_or(0, |cpus| self.mask(cpus));
        let mut life = Life::new(Some(id), random);
        life.awaited = template.awaited;
        let command = id.index() as u32;
        self.add(&template.name, life, TaskView { command, ..view_of(template, from, mask) });
        TaskId::nth(self.lives.len() - 1)
    }

    /// Records what is not ordinary about a task.
    pub(crate) fn tell_nature(&mut self, task: TaskId) {
        let here = self.cx.cpu;
        self.tell_affinity(task);
        let view = *self.cx.task(task);
        if view.nice != 0 {
            let what = Change::Nice(view.nice);
            self.tell(here, Context::Task, Event::Changed { task, what });
        }
        if view.group.0 != 0 {
            let name = self.cx.groups[view.group.index()].name.clone();
            let what = Change::Cgroup(self.sink.name(&name));
            self.tell(here, Context::Task, Event::Changed { task, what });
        }
    }

    pub(crate) fn tell_affinity(&mut self, task: TaskId) {
        let mask = self.cx.task(task).mask;
        if mask != 0 {
            let what = Change::Affinity(self.sink.mask(&self.cx.masks[mask as usize]));
            self.tell(self.cx.cpu, Context::Task, Event::Changed { task, what });
        }
    }

    /// Tasks whose CPUs are all off may use all CPUs, as in the kernel; the policy is notified on
    /// `cpu`. Its own threads are parked: they sleep until their CPU is back.
    pub(crate) fn free_the_stranded(&mut self, cpu: CpuId) {
        for task in (0..self.lives.len()).map(TaskId::nth) {
            let stays = self.life(task).ended.is_some() || self.cx.task(task).own;
            if !stays && !self.cx.online.iter().any(|cpu| self.cx.allowed(task, cpu)) {
                self.cx.view_mut().task_mut(task).mask = 0;
                let what = Change::Affinity(self.sink.mask(&self.cx.masks[0]));
                self.tell(cpu, Context::Task, Event::Changed { task, what });
                self.react(cpu, Trigger::Happening(Happening::Affinity(task)));
            }
        }
    }

    /// The index of this set of CPUs; equal sets have one index.
    pub(crate) fn mask(&mut self, cpus: &CpuSet) -> u32 {
        let masks = &mut self.cx.view_mut().masks;
        let found = masks.iter().position(|mask| mask == cpus);
        found.unwrap_or_else(|| {
            masks.push(cpus.clone());
            masks.len() - 1
        }) as u32
    }

    fn add(&mut self, name: &str, life: Life, view: TaskView) {
        let tid = tid(TaskId::nth(self.lives.len()));
        let name = self.sink.name(name);
        self.sink.task(Task { tid, pid: Some(tid), name });
        self.lives.push(life);
        self.cx.view_mut().tasks.push(view);
    }
}

/// The number of `task` in the History; none is used twice.
pub(super) fn tid(task: TaskId) -> i32 {
    const FIRST: i32 = 1000;
    FIRST + task.ordinal() as i32
}

pub(crate) fn view_all(machine: &Machine, costs: &Costs, workload: &Workload) -> View {
    let online = machine.online();
    let cpus = machine.cpus.iter().map(|cpu| CpuView {
        current: None,
        idle_since: Time(0),
        online: cpu.online,
    });
    View {
        now: Time(0),
        cpu: CpuId(0),
        machine: machine.clone(),
        cpus: cpus.collect(),
        idle: online.clone(),
        online,
        tasks: Vec::new(),
        groups: workload.groups.clone(),
        commands: workload.templates.iter().map(|it| it.name.clone()).collect(),
        masks: vec![CpuSet::first(machine.len())],
        scan: costs.scan,
        seed: 0,
    }
}

fn view_of(template: &Template, cpu: CpuId, mask: u32) -> TaskView {
    TaskView {
        place: Place::Nowhere,
        cpu,
        nice: template.nice,
        group: template.group,
        mask,
        kthread: template.kthread,
        own: false,
        priority: template.priority,
        job: template.job,
        command: 0,
    }
}
