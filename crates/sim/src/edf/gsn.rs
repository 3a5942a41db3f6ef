//! GSN-EDF of LITMUS^RT: one coarse lock, one queue, and links.
//!
//! Whoever decides changes only who *should* run where; a CPU that is told so makes it true in its
//! own time (Block, Leontyev, Brandenburg, Anderson, "A flexible real-time locking protocol for
//! multiprocessors", RTCSA 2007). So a decision needs no lock but the one, and a task that is
//! wanted elsewhere while it still runs stays where it is: the links are exchanged.
//!
//! The same under a lock for each cluster is clustered EDF, and of single CPUs partitioned EDF.

use std::collections::VecDeque;

use wastenot_model::policy::{Happening, TimerId, Why};
use wastenot_model::{Context, CpuId, Span, TaskId, Time};

use super::core::{Core, Tie};
use super::jobs::{Jobs, number, task};
use super::profile::Profile;
use super::run::Overheads;
use crate::mechanism::{LineId, LockId, Mechanism, Overhead, Step, Trigger};
use crate::{Kernel, Leaves};

/// CPUs with one queue and one lock.
struct Domain {
    cpus: Vec<CpuId>,
    core: Core,
    lock: LockId,
    lines: LineId,
}

/// Where a path is, once the steps before are done.
#[derive(Debug, Default)]
enum Then {
    /// Under the lock: these jobs come.
    Release { jobs: Vec<u32>, due: Time },
    /// Under the lock: this task is woken from a suspension.
    Resume(u32),
    /// Under the lock: who is next?
    Pick,
    /// The lock is given back.
    Switch { leaves: Option<(TaskId, Leaves)>, next: Option<TaskId> },
    /// What began then is over, and that was it.
    Told(Overhead),
    #[default]
    Over,
}

/// What a CPU is at in the kernel.
#[derive(Debug, Default)]
struct Path {
    domain: u32,
    began: Time,
    steps: VecDeque<Step>,
    then: Then,
}

/// The mechanism.
pub(super) struct GsnEdf<'t> {
    profile: Profile,
    jobs: Jobs<'t>,
    /// The CPU that releases all jobs and runs none: dedicated interrupt handling.
    master: Option<CpuId>,
    domains: Vec<Domain>,
    /// By task.
    domain_of: Vec<u32>,
    /// By CPU: its domain, and which of its CPUs it is.
    place_of: Vec<Option<(u32, u32)>>,
    /// By task: the CPU that runs it, whatever is linked there.
    runs_on: Vec<Option<CpuId>>,
    /// By CPU.
    paths: Vec<Path>,
    /// By CPU: since when an interrupt is on its way to it.
    told: Vec<Option<Time>>,
    pub(super) overheads: Overheads,
}

impl<'t> GsnEdf<'t> {
    /// `domain_of` says in which of the domains each task is; whoever is in none of them is
    /// `master`, if anybody is.
    pub(super) fn new(
        profile: Profile,
        tie: Tie,
        jobs: Jobs<'t>,
        master: Option<CpuId>,
        domains: Vec<Vec<CpuId>>,
        domain_of: Vec<u32>,
    ) -> GsnEdf<'t> {
        let tasks = jobs.len();
        let domain = |cpus: Vec<CpuId>| {
            let core = Core::new(tasks, cpus.len() as u32, tie);
            Domain { cpus, core, lock: LockId(0), lines: LineId(0) }
        };
        GsnEdf {
            profile,
            jobs,
            master,
            domains: domains.into_iter().map(domain).collect(),
            domain_of,
            place_of: Vec::new(),
            runs_on: vec![None; tasks],
            paths: Vec::new(),
            told: Vec::new(),
            overheads: Overheads::default(),
        }
    }

    fn begin(&mut self, kernel: &mut Kernel, cpu: CpuId, trigger: Trigger) {
        let (now, isr) = (kernel.now(), Step::Work(self.profile.isr));
        let path = &mut self.paths[cpu.index()];
        *path = Path { began: now, steps: std::mem::take(&mut path.steps), ..Path::default() };
        let (domain, first) = match trigger {
            Trigger::Wake { task, why: Why::New, .. } => return self.admit(kernel, cpu, task),
            Trigger::Wake { task, .. } => {
                path.then = Then::Resume(number(task));
                (self.domain_of[task.ordinal()], Some(isr))
            }
            Trigger::Happening(Happening::Timer(timer)) => {
                let (jobs, domain, due) = self.due(timer);
                kernel.sample(cpu, Overhead::ReleaseLatency, due);
                self.paths[cpu.index()].then = Then::Release { jobs, due };
                (domain, Some(isr))
            }
            Trigger::Schedule => {
                if let Some(since) = self.told[cpu.index()].take() {
                    kernel.sample(cpu, Overhead::SendResched, since);
                }
                let Some((domain, _)) = self.place_of[cpu.index()] else { return };
                self.paths[cpu.index()].then = Then::Pick;
                (domain, None)
            }
            _ => return,
        };
        let Domain { lock, lines, .. } = &self.domains[domain as usize];
        let (lock, lines) = (*lock, *lines);
        let path = &mut self.paths[cpu.index()];
        path.domain = domain;
        path.steps.extend(first);
        path.steps.push_back(Step::Lock(lock));
        path.steps.extend(self.profile.coarse.on(lines));
    }

    fn due(&mut self, timer: TimerId) -> (Vec<u32>, u32, Time) {
        self.jobs.due(timer)
    }

    /// A new task: its first job comes in time.
    fn admit(&mut self, kernel: &mut Kernel, cpu: CpuId, task: TaskId) {
        let at_us = self.jobs.next_us(number(task)).max(kernel.now().0.div_ceil(1_000));
        self.arm(kernel, cpu, number(task), at_us);
    }

    fn arm(&mut self, kernel: &mut Kernel, cpu: CpuId, task: u32, at_us: u64) {
        let cpu = self.master.unwrap_or(cpu);
        self.jobs.arm(kernel, task, at_us, (self.domain_of[task as usize], cpu));
    }

    /// The steps are done; whether the path is over.
    fn goes_on(&mut self, kernel: &mut Kernel, cpu: CpuId) -> bool {
        let path = &mut self.paths[cpu.index()];
        let (domain, began) = (path.domain, path.began);
        match std::mem::take(&mut path.then) {
            Then::Release { jobs, due } => {
                for &job in &jobs {
                    self.release(kernel, cpu, job, due.0 / 1_000);
                }
                let heaps = self.heap(domain).0 * jobs.len() as u64;
                self.steps(cpu).push_back(Step::Work(Span(heaps)));
                self.link(kernel, cpu, domain);
                self.unlock(cpu, domain, Then::Told(Overhead::Release));
            }
            Then::Resume(job) => {
                self.place(kernel, job);
                let urgency = self.jobs.urgency(job);
                self.domains[domain as usize].core.ready(job, urgency);
                let heap = self.heap(domain);
                self.steps(cpu).push_back(Step::Work(heap));
                self.link(kernel, cpu, domain);
                self.unlock(cpu, domain, Then::Over);
            }
            Then::Pick => {
                let then = self.pick(kernel, cpu, domain);
                self.unlock(cpu, domain, then);
            }
            Then::Switch { leaves, next } => {
                if let Some((task, how)) = leaves {
                    kernel.stopped(task, how);
                }
                kernel.switch(cpu, leaves, next);
                kernel.sample(cpu, Overhead::Schedule, began);
                return true;
            }
            Then::Told(kind) => {
                kernel.sample(cpu, kind, began);
                return true;
            }
            Then::Over => return true,
        }
        false
    }

    fn unlock(&mut self, cpu: CpuId, domain: u32, then: Then) {
        let lock = self.domains[domain as usize].lock;
        let path = &mut self.paths[cpu.index()];
        path.steps.push_back(Step::Unlock(lock));
        path.then = then;
    }

    fn steps(&mut self, cpu: CpuId) -> &mut VecDeque<Step> {
        &mut self.paths[cpu.index()].steps
    }

    fn heap(&self, _: u32) -> Span {
        self.profile.heap(self.jobs.len())
    }

    /// A job comes, and is to be linked.
    fn release(&mut self, kernel: &mut Kernel, _: CpuId, job: u32, at_us: u64) {
        kernel.begins_job(task(job));
        self.place(kernel, job);
        let urgency = self.jobs.begin(job, at_us);
        self.domains[self.domain_of[job as usize] as usize].core.ready(job, urgency);
    }

    /// The task waits where it was last.
    fn place(&mut self, kernel: &mut Kernel, job: u32) {
        let domain = &self.domains[self.domain_of[job as usize] as usize];
        let last = kernel.cx.task(task(job)).cpu;
        let cpu = if domain.cpus.contains(&last) { last } else { domain.cpus[0] };
        let why = if self.jobs.is_first(job) { Why::New } else { Why::Wakeup { sync: false } };
        kernel.place(task(job), cpu, why, Context::Hardirq);
    }

    /// Links whoever should run, and tells the CPUs.
    fn link(&mut self, kernel: &mut Kernel, cpu: CpuId, domain: u32) {
        let heap = self.heap(domain);
        let it = &mut self.domains[domain as usize];
        while let Some(link) = it.core.decide() {
            let target = it.cpus[link.cpu as usize];
            let runs_on = self.runs_on[link.task as usize].filter(|&on| on != target);
            let slot = runs_on.and_then(|on| self.place_of[on.index()]);
            if let Some((_, slot)) = slot {
                it.core.exchange(link.cpu, slot);
            }
            for slot in [Some(link.cpu), slot.map(|(_, slot)| slot)].into_iter().flatten() {
                let Some(waits) = it.core.linked(slot) else { continue };
                if self.runs_on[waits as usize].is_none() {
                    let to = it.cpus[slot as usize];
                    if kernel.cx.task(task(waits)).cpu != to {
                        kernel.cx.moved(task(waits), to);
                    }
                }
            }
            let steps = &mut self.paths[cpu.index()].steps;
            steps.push_back(Step::Work(heap));
            if target != cpu {
                steps.push_back(Step::Work(self.profile.send));
            }
            steps.push_back(Step::Interrupt(target));
        }
        kernel.carry_out();
    }

    /// Who runs on `cpu` next.
    fn pick(&mut self, kernel: &mut Kernel, cpu: CpuId, domain: u32) -> Then {
        let mut leaves = kernel.leaves(cpu);
        let heap = self.heap(domain);
        let Some((_, slot)) = self.place_of[cpu.index()] else { return Then::Over };
        if let Some((task, how)) = &mut leaves {
            let job = number(*task);
            self.runs_on[job as usize] = None;
            if !how.is_runnable() {
                let core = &mut self.domains[domain as usize].core;
                match core.linked(slot) == Some(job) {
                    true => drop(core.unlink(slot)),
                    false => core.withdraw(job),
                }
                self.steps(cpu).push_back(Step::Work(heap));
            }
            if *how == Leaves::Completes {
                let began = self.paths[cpu.index()].began;
                self.jobs.complete(job, began);
                let at_us = self.jobs.next_us(job);
                if at_us * 1_000 > kernel.now().0 {
                    self.arm(kernel, cpu, job, at_us);
                } else {
                    kernel.begins_job(*task);
                    let urgency = self.jobs.begin(job, at_us);
                    self.domains[domain as usize].core.ready(job, urgency);
                    *how = Leaves::Runnable(Why::Yield);
                }
            }
        }
        let core = &mut self.domains[domain as usize].core;
        if core.linked(slot).is_none() {
            core.take(slot);
            self.steps(cpu).push_back(Step::Work(heap));
        }
        self.link(kernel, cpu, domain);
        let next = self.domains[domain as usize].core.linked(slot);
        if let Some(next) = next {
            self.runs_on[next as usize] = Some(cpu);
            if kernel.cx.task(task(next)).cpu != cpu {
                kernel.cx.moved(task(next), cpu);
                kernel.carry_out();
            }
        }
        Then::Switch { leaves, next: next.map(task) }
    }
}

impl Mechanism for GsnEdf<'_> {
    fn name(&self) -> String {
        "gsn-edf".into()
    }

    fn keeps_time(&self) -> bool {
        true
    }

    fn init(&mut self, kernel: &mut Kernel) {
        let cpus = kernel.cx.machine.len();
        kernel.hardware.prices = self.profile.hardware;
        self.jobs.init(kernel);
        self.place_of = vec![None; cpus];
        self.paths.resize_with(cpus, Path::default);
        self.told = vec![None; cpus];
        for (n, domain) in self.domains.iter_mut().enumerate() {
            domain.lock = kernel.hardware.lock(self.profile.spin);
            domain.lines = self.profile.coarse.place(&mut kernel.hardware);
            for (slot, cpu) in domain.cpus.iter().enumerate() {
                self.place_of[cpu.index()] = Some((n as u32, slot as u32));
            }
        }
    }

    fn step(&mut self, kernel: &mut Kernel, cpu: CpuId, trigger: Trigger, turn: u32) -> Step {
        if turn == 0 {
            self.begin(kernel, cpu, trigger);
        }
        loop {
            if let Some(step) = self.paths[cpu.index()].steps.pop_front() {
                if let Step::Interrupt(other) = step
                    && other != cpu
                {
                    self.told[other.index()].get_or_insert(kernel.now());
                }
                return step;
            }
            if self.goes_on(kernel, cpu) {
                return Step::Done;
            }
        }
    }

    fn ended(&mut self, kernel: &Kernel) {
        self.overheads = Overheads::of(kernel, self.domains.iter().map(|domain| domain.lock));
    }
}
