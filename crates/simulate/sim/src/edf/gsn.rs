//! GSN-EDF of LITMUS^RT: one coarse lock, one queue, and links.
//!
//! A decision changes only which task *should* run on which CPU; the CPU that is notified then
//! makes it true in its own time (Block, Leontyev, Brandenburg, Anderson, "A flexible real-time
//! locking protocol for multiprocessors", RTCSA 2007). So a decision needs no lock but the one. A
//! task that is linked to another CPU while it still runs stays where it runs: the links are
//! exchanged.
//!
//! A task that holds or waits for a spin lock is not preempted: the task that is linked to its CPU
//! waits there until the section is over. So a job waits for at most one such section, that of the
//! CPU to which it is linked first, and the sections cost nothing (O(1) non-preemptable sections).
//!
//! With one lock for each cluster this is clustered EDF; with clusters of one CPU, partitioned EDF.

use wastenot_model::machine::Profile;
use wastenot_model::policy::{Happening, Why};
use wastenot_model::{CpuId, Span, TaskId, Time};

use super::core::{Core, Tie};
use super::jobs::{Jobs, Leaving, Pending, number, task};
use super::overheads::Overheads;
use super::paths::{Paths, Walks};
use super::plain::Done;
use crate::mechanism::{LineId, LockId, Overhead, Step, Trigger};
use crate::{Kernel, Leaves};

/// CPUs with one queue and one lock.
struct Domain {
    cpus: Vec<CpuId>,
    core: Core,
    lock: LockId,
    lines: LineId,
}

/// Where a path goes on.
#[derive(Debug, Default)]
pub(super) enum Then {
    /// Under the lock: these jobs are released.
    Release { jobs: Vec<u32>, due: Time },
    /// Under the lock: this task is woken from a suspension.
    Resume(u32),
    /// Under the lock: pick the next task.
    Pick,
    /// The lock is released.
    Switch { leaves: Option<(TaskId, Leaves)>, next: Option<TaskId> },
    /// The interrupt is over.
    Released,
    #[default]
    Over,
}

/// The mechanism.
pub(super) struct GsnEdf<'t> {
    profile: Profile,
    /// Inserting a job into the queue, or removing it.
    heap: Span,
    jobs: Jobs<'t>,
    /// The CPU that releases all jobs and runs no task: dedicated interrupt handling.
    master: Option<CpuId>,
    domains: Vec<Domain>,
    /// By task: its domain.
    domain_of: Vec<u32>,
    /// By CPU: its domain, and which of its CPUs it is.
    place_of: Vec<Option<(u32, u32)>>,
    /// By task: the CPU that runs it, whatever is linked to that CPU.
    runs_on: Vec<Option<CpuId>>,
    paths: Paths<Then>,
}

impl<'t> GsnEdf<'t> {
    /// `domain_of` gives the domain of each task. `master` is the CPU that is in no domain, if
    /// there is one.
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
            heap: profile.heap(tasks),
            profile,
            jobs,
            master,
            domains: domains.into_iter().map(domain).collect(),
            domain_of,
            place_of: Vec::new(),
            runs_on: vec![None; tasks],
            paths: Paths::new(),
        }
    }

    /// The next job of a task comes at `at_us`: `cpu` is interrupted then, unless another CPU is.
    fn arm(&mut self, kernel: &mut Kernel, cpu: CpuId, task: u32, at_us: u64) {
        let cpu = self.master.unwrap_or(cpu);
        self.jobs.arm(kernel, task, at_us, (self.domain_of[task as usize], cpu));
    }

    fn domain(&mut self, job: u32) -> &mut Domain {
        &mut self.domains[self.domain_of[job as usize] as usize]
    }

    /// Links the tasks that should run, and releases the lock.
    fn decided(&mut self, kernel: &mut Kernel, cpu: CpuId, domain: u32, then: Then) {
        self.link(kernel, cpu, domain);
        self.paths.push(cpu, Step::Unlock(self.domains[domain as usize].lock));
        self.paths.then(cpu, then);
    }

    /// The task waits on the CPU where it was last.
    fn place(&mut self, kernel: &mut Kernel, job: u32) {
        let cpus = &self.domains[self.domain_of[job as usize] as usize].cpus;
        self.jobs.place(kernel, job, cpus);
    }

    /// Makes `target` run the task that is linked to it: at once, unless the task that it runs is
    /// in a section in which it is not preempted. Then `target` picks again when the section is
    /// over.
    fn tell(&mut self, kernel: &mut Kernel, cpu: CpuId, target: CpuId) {
        match kernel.cx.current(target).filter(|&task| kernel.is_in_section(task)) {
            Some(task) => kernel.defer(task),
            None => self.paths.interrupt(cpu, target, self.profile.send),
        }
    }

    /// Links the tasks that should run, and notifies their CPUs.
    fn link(&mut self, kernel: &mut Kernel, cpu: CpuId, domain: u32) {
        let heap = self.heap;
        while let Some(link) = self.domains[domain as usize].core.decide() {
            self.stays(kernel, domain, link.cpu);
            let target = self.domains[domain as usize].cpus[link.cpu as usize];
            self.paths.work(cpu, heap);
            self.tell(kernel, cpu, target);
        }
        kernel.carry_out();
    }

    /// If the task that is linked to the CPU of that slot still runs on another CPU, it stays
    /// there: the two links are exchanged. A task that runs on no CPU waits on the CPU to which it
    /// is linked.
    fn stays(&mut self, kernel: &mut Kernel, domain: u32, slot: u32) {
        let it = &mut self.domains[domain as usize];
        let target = it.cpus[slot as usize];
        let runs_on = |core: &Core| core.linked(slot).and_then(|job| self.runs_on[job as usize]);
        let elsewhere = runs_on(&it.core).filter(|&on| on != target);
        if let Some((_, other)) = elsewhere.and_then(|on| self.place_of[on.index()]) {
            it.core.exchange(slot, other);
        }
        if let Some(waits) = it.core.linked(slot)
            && self.runs_on[waits as usize].is_none()
            && kernel.cx.task(task(waits)).cpu != target
        {
            kernel.cx.moved(task(waits), target);
        }
    }

    /// Picks the task that runs on `cpu` next.
    fn pick(&mut self, kernel: &mut Kernel, cpu: CpuId) {
        self.paths.heard(kernel, cpu, self.profile.ipi);
        let mut leaves = kernel.leaves(cpu);
        let heap = self.heap;
        let Some((domain, slot)) = self.place_of[cpu.index()] else { return };
        if let Some((task, how)) = &mut leaves {
            let job = number(*task);
            if !how.is_runnable() {
                self.domains[domain as usize].core.forget(job, slot);
                self.paths.work(cpu, heap);
            }
            if *how == Leaves::Ends {
                self.jobs.end(kernel, job, self.paths.began(cpu));
            }
            if *how == Leaves::Completes {
                self.jobs.complete(job, self.paths.began(cpu));
                let at_us = self.jobs.next_us(job);
                if at_us * 1_000 > kernel.now().0 {
                    self.arm(kernel, cpu, job, at_us);
                } else {
                    // The next job is late already: the task continues to run.
                    let urgency = self.jobs.begin(kernel, job, at_us);
                    self.domains[domain as usize].core.ready(job, urgency);
                    *how = Leaves::Runnable(Why::Yield);
                }
            }
        }
        let core = &mut self.domains[domain as usize].core;
        if core.linked(slot).is_none() {
            core.take(slot);
            self.stays(kernel, domain, slot);
            self.paths.work(cpu, heap);
        }
        self.link(kernel, cpu, domain);
        self.paths.push(cpu, Step::Unlock(self.domains[domain as usize].lock));
        let stays =
            |(task, how): &(TaskId, Leaves)| how.is_runnable() && kernel.is_in_section(*task);
        let next = match leaves.filter(stays) {
            Some((task, _)) => {
                kernel.defer(task);
                Some(number(task))
            }
            None => self.domains[domain as usize].core.linked(slot),
        };
        // Until now the task runs here: a CPU to which it is linked takes what is linked here
        // instead.
        if let Some((task, _)) = leaves {
            self.runs_on[task.ordinal()] = None;
        }
        if let Some(next) = next {
            self.runs_on[next as usize] = Some(cpu);
            if kernel.cx.task(task(next)).cpu != cpu {
                kernel.cx.moved(task(next), cpu);
                kernel.carry_out();
            }
        }
        self.paths.then(cpu, Then::Switch { leaves, next: next.map(task) });
    }
}

impl Walks for GsnEdf<'_> {
    type Then = Then;

    fn paths(&mut self) -> &mut Paths<Then> {
        &mut self.paths
    }

    fn dedicated(&self) -> Option<CpuId> {
        self.master
    }

    fn init(&mut self, kernel: &mut Kernel) {
        let cpus = kernel.cx.machine.len();
        kernel.hardware.prices = self.profile.hardware;
        self.jobs.init(kernel);
        self.place_of = vec![None; cpus];
        for (n, domain) in self.domains.iter_mut().enumerate() {
            domain.lock = kernel.hardware.lock(self.profile.spin);
            domain.lines = kernel.hardware.line(self.profile.coarse.lines);
            for (slot, cpu) in domain.cpus.iter().enumerate() {
                self.place_of[cpu.index()] = Some((n as u32, slot as u32));
            }
        }
    }

    fn begin(&mut self, kernel: &mut Kernel, cpu: CpuId, trigger: Trigger) {
        let (domain, then) = match trigger {
            Trigger::Wake { task, why: Why::New, .. } => {
                let at_us = self.jobs.next_us(number(task)).max(kernel.now().0.div_ceil(1_000));
                return self.arm(kernel, cpu, number(task), at_us);
            }
            Trigger::Wake { task, .. } => {
                (self.domain_of[task.ordinal()], Then::Resume(number(task)))
            }
            Trigger::Happening(Happening::Timer(timer)) => {
                let (jobs, domain, due) = self.jobs.due(kernel, cpu, timer);
                (domain, Then::Release { jobs, due })
            }
            Trigger::Schedule => {
                let Some((domain, _)) = self.place_of[cpu.index()] else { return };
                (domain, Then::Pick)
            }
            _ => return,
        };
        if !matches!(then, Then::Pick) {
            self.paths.work(cpu, self.profile.isr);
        }
        let Domain { lock, lines, .. } = self.domains[domain as usize];
        self.paths.lock(cpu, lock, self.profile.coarse, lines);
        self.paths.then(cpu, then);
    }

    fn goes_on(&mut self, kernel: &mut Kernel, cpu: CpuId) -> bool {
        let heap = self.heap;
        match self.paths.take(cpu) {
            Then::Release { jobs, due } => {
                for &job in &jobs {
                    self.place(kernel, job);
                    let urgency = self.jobs.begin(kernel, job, due.0 / 1_000);
                    self.domain(job).core.ready(job, urgency);
                    self.paths.work(cpu, heap);
                }
                self.decided(kernel, cpu, self.domain_of[jobs[0] as usize], Then::Released);
            }
            Then::Resume(job) => {
                self.place(kernel, job);
                let urgency = self.jobs.urgency(job);
                self.domain(job).core.ready(job, urgency);
                self.paths.work(cpu, heap);
                self.decided(kernel, cpu, self.domain_of[job as usize], Then::Over);
            }
            Then::Pick => self.pick(kernel, cpu),
            Then::Switch { leaves, next } => {
                if let Some((task, how)) = leaves {
                    kernel.stopped(task, how);
                }
                kernel.switch(cpu, leaves, next);
                kernel.sample(cpu, Overhead::Schedule, self.paths.began(cpu));
                return true;
            }
            Then::Released => {
                kernel.sample(cpu, Overhead::Release, self.paths.began(cpu));
                return true;
            }
            Then::Over => return true,
        }
        false
    }

    fn jobs(&mut self, kernel: &Kernel, leave: &[Leaving]) -> (Vec<Done>, Vec<Pending>) {
        self.jobs.ended(kernel, leave)
    }

    fn overheads(&self, kernel: &Kernel) -> Overheads {
        Overheads::of(kernel, self.domains.iter().map(|domain| domain.lock))
    }

    fn unsettled(&self, kernel: &Kernel) -> Option<String> {
        self.domains.iter().find_map(|domain| {
            if !domain.core.is_decided() {
                return Some("a waiting task should be linked to a CPU".into());
            }
            let differs = |(slot, cpu): (usize, &CpuId)| {
                let (runs, linked) = (kernel.cx.current(*cpu), domain.core.linked(slot as u32));
                let known = runs.is_none_or(|task| self.runs_on[task.ordinal()] == Some(*cpu));
                let same = runs.map(number) == linked;
                let stays = runs.is_some_and(|task| kernel.is_in_section(task));
                (!known || !same && !stays).then(|| {
                    format!("CPU {cpu} runs {runs:?}, but {linked:?} is linked to this CPU")
                })
            };
            domain.cpus.iter().enumerate().find_map(differs)
        })
    }
}
