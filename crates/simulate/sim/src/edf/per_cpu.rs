//! SCHED_DEADLINE of Linux around 3.14: a run queue and a lock for each CPU, pushes and pulls of
//! tasks between run queues, and a constant bandwidth server for each task.
//!
//! Source: `kernel/sched/deadline.c` and `cpudeadline.c` (find_later_rq, push_dl_task,
//! pull_dl_task, update_dl_entity). It is not quite global EDF: a CPU or task that is found without
//! a lock may have changed once the lock is held, a push gives up after three tries, equal
//! deadlines do not preempt, and the server postpones the deadline of a late task. Tie-breaking
//! among waiting tasks with equal deadlines: here the task that comes first in the file, in the
//! kernel the task that came first.

use std::collections::BTreeSet;

use wastenot_model::machine::{Profile, Section};
use wastenot_model::policy::{Happening, TimerId, Why};
use wastenot_model::{CpuId, Span, TaskId, Time};

use super::jobs::{Jobs, Leaving, Pending, number, task};
use super::overheads::Overheads;
use super::paths::{Paths, Walks};
use super::plain::Done;
use crate::mechanism::{LineId, LockId, Overhead, Step, Trigger};
use crate::{Kernel, Leaves};

/// How often a push looks for another CPU (DL_MAX_TRIES).
pub const TRIES: u8 = 3;

/// How a task finds another CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// The patches of 2013 (v8), which RTAS 2014 measured: a scan of all CPUs.
    V8,
    /// Since Linux 3.14 (commit 6bfd6d72f51c): a heap of earliest deadlines under a lock of its
    /// own. Later kernels check once more before they take the lock (commit 9d514262425691dd); here
    /// a CPU sees in the heap what it would see then.
    Heap,
}

/// How long a CPU checks whether a task has left another CPU.
pub const SPIN: Span = Span(50);

/// The queue of a CPU.
#[derive(Debug)]
struct Queue {
    lock: LockId,
    lines: LineId,
    /// What other CPUs read without the lock: `earliest`, and the first waiting task.
    told: LineId,
    /// The task that runs, or is about to.
    current: Option<u32>,
    /// Since when its run time is not charged yet.
    since: Time,
    /// The task that ran and wants to run on, while its CPU picks the next: no other CPU may take
    /// it.
    leaves: Option<(u64, u32)>,
    /// The waiting tasks: the deadline in ns, then the task's number.
    waits: BTreeSet<(u64, u32)>,
    /// The earliest deadline on this CPU, as other CPUs see it; `None`: the CPU is free.
    earliest: Option<u64>,
}

impl Queue {
    /// The earliest deadline among the tasks that this CPU could pick next.
    fn first(&self) -> Option<u64> {
        let first = self.waits.first().into_iter().chain(&self.leaves);
        first.map(|(deadline, _)| *deadline).min()
    }
}

/// The budget of each task's constant bandwidth server in a period. Kernel paths on its CPU consume
/// it, too, as they do where interrupt time is not accounted separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Server {
    /// Per cent of the task's C.
    pub percent: u64,
    /// Added to that.
    pub spare: Span,
}

impl Server {
    /// Enough for C and, on most machines, for the kernel overhead.
    pub const AMPLE: Server = Server { percent: 100, spare: Span(1_000_000) };
}

/// The state of a task's server.
#[derive(Clone, Copy, Debug, Default)]
struct Served {
    deadline: Time,
    /// The budget that is left.
    left: Span,
    /// The budget is used up, and the task waits for the next period.
    throttled: bool,
}

/// What started a push; this determines what follows it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Asked {
    /// A release or wakeup.
    Interrupt,
    /// A CPU after a context switch.
    Switch,
}

impl Asked {
    fn done(self) -> Then {
        match self {
            Asked::Interrupt => Then::Released,
            Asked::Switch => Then::Scheduled,
        }
    }
}

/// Where a path goes on.
#[derive(Debug, Default)]
pub(super) enum Then {
    /// No lock is held: select a CPU for the task.
    Select(u32),
    /// Under the lock of `on`.
    Enqueue { job: u32, on: CpuId },
    /// Under the lock of `on`: should a waiting task move to another CPU?
    Push { on: CpuId, tries: u8, asked: Asked },
    /// Under the lock of `on`: other CPUs were scanned.
    Found { on: CpuId, job: (u64, u32), tries: u8, asked: Asked },
    /// Under the locks of both.
    Pushed { on: CpuId, to: CpuId, job: (u64, u32), tries: u8, asked: Asked },
    /// Under the CPU's own lock: the previous task leaves.
    Leave,
    /// Under the CPU's own lock: does a task wait on another CPU, numbered `from` or higher?
    Pull { from: usize },
    /// The same: what `at` publishes was read.
    Looked { at: CpuId },
    /// Under the locks of both.
    Pulled { from: CpuId },
    /// The next task has the CPU, whose lock is released.
    Switched,
    /// No other waiting task should move to another CPU, either.
    Scheduled,
    /// Under the lock of the CPU whose task has used its budget.
    Exhausted,
    /// An interrupt is over.
    Released,
    #[default]
    Over,
}

/// The mechanism.
pub(super) struct PerCpu<'t> {
    profile: Profile,
    /// Inserting a job into a queue, or removing it.
    heap: Span,
    jobs: Jobs<'t>,
    rules: Rules,
    server: Option<Server>,
    /// The CPU that all timers interrupt and that runs no task.
    master: Option<CpuId>,
    /// By CPU: its run queue.
    queues: Vec<Queue>,
    /// CPUs with a waiting task (dlo_mask).
    overloaded: BTreeSet<CpuId>,
    served: Vec<Served>,
    /// The heap of earliest deadlines (cpudl).
    heap_lock: LockId,
    heap_lines: LineId,
    /// By CPU: the task that leaves it.
    leaves: Vec<Option<(TaskId, Leaves)>>,
    budget_timer: TimerId,
    paths: Paths<Then>,
}

impl<'t> PerCpu<'t> {
    pub(super) fn new(
        profile: Profile,
        jobs: Jobs<'t>,
        rules: Rules,
        server: Option<Server>,
        master: Option<CpuId>,
    ) -> PerCpu<'t> {
        PerCpu {
            heap: profile.heap(jobs.len()),
            profile,
            rules,
            server,
            master,
            queues: Vec::new(),
            overloaded: BTreeSet::new(),
            served: vec![Served::default(); jobs.len()],
            heap_lock: LockId(0),
            heap_lines: LineId(0),
            leaves: Vec::new(),
            budget_timer: TimerId(0),
            paths: Paths::new(),
            jobs,
        }
    }

    fn arm(&mut self, kernel: &mut Kernel, cpu: CpuId, job: u32, at_us: u64) {
        // Each task has a timer of its own.
        self.jobs.arm(kernel, job, at_us, (job, self.master.unwrap_or(cpu)));
    }

    /// `cpu` takes the lock of the queue of `of`.
    fn lock(&mut self, cpu: CpuId, of: CpuId) {
        let Queue { lock, lines, .. } = self.queues[of.index()];
        self.paths.lock(cpu, lock, self.profile.run_queue, lines);
    }

    fn unlock(&mut self, cpu: CpuId, of: CpuId) {
        self.paths.push(cpu, Step::Unlock(self.queues[of.index()].lock));
    }

    /// `cpu`, which holds the lock of `own`, takes that of `other`, too. Before it waits for a lock
    /// with a lower number, it releases the lock of `own`.
    fn lock_both(&mut self, kernel: &Kernel, cpu: CpuId, own: CpuId, other: CpuId) {
        let busy = kernel.hardware.holder(self.queues[other.index()].lock).is_some();
        if busy && other < own {
            self.unlock(cpu, own);
            self.lock(cpu, other);
            self.paths.push(cpu, Step::Lock(self.queues[own.index()].lock));
        } else {
            self.lock(cpu, other);
        }
    }

    fn select(&mut self, kernel: &mut Kernel, cpu: CpuId, job: u32) {
        let last = kernel.cx.task(task(job)).cpu;
        let throttled = self.served[job as usize].throttled;
        if !throttled && kernel.cx.current(last) == Some(task(job)) {
            // The task has not left its CPU yet, but the lock of that CPU is free meanwhile
            // (on_cpu).
            self.paths.work(cpu, SPIN);
            return self.paths.then(cpu, Then::Select(job));
        }
        self.refill(kernel, job);
        self.looks(cpu);
        let later = if throttled { None } else { self.find_later(kernel, cpu, job) };
        let on = later.unwrap_or(last);
        let on = if Some(on) == self.master { CpuId(on.0 + 1) } else { on };
        self.lock(cpu, on);
        self.paths.then(cpu, Then::Enqueue { job, on });
    }

    /// Refills the server of a task that wakes, or whose next budget is due.
    fn refill(&mut self, kernel: &Kernel, job: u32) {
        let now = kernel.now();
        let of = self.jobs.of(job);
        let us = |us: u64| Span(us * 1_000);
        let Server { percent, spare } = self.server.unwrap_or(Server::AMPLE);
        let budget = Span(of.wcet_us * percent * 10) + spare;
        let server = &mut self.served[job as usize];
        if self.server.is_none() {
            let due_us = self.jobs.released_us(job) + of.deadline_us;
            *server = Served { deadline: Time(due_us * 1_000), left: budget, throttled: false };
            return;
        }
        if server.throttled {
            server.deadline = server.deadline + us(of.period_us);
            (server.left, server.throttled) = (budget, false);
            return;
        }
        // The rest of the budget, used until the deadline, would exceed the server's bandwidth.
        let until = server.deadline.0.saturating_sub(now.0);
        let more = u128::from(server.left.0) * u128::from(of.period_us) * 1_000
            > u128::from(until) * u128::from(budget.0);
        if until == 0 || more {
            (server.deadline, server.left) = (now + us(of.deadline_us), budget);
        }
    }

    fn deadline(&self, job: u32) -> u64 {
        self.served[job as usize].deadline.0
    }

    /// A CPU whose earliest deadline is later than that of `job`: a free CPU, else the CPU with the
    /// latest deadline.
    fn find_later(&self, kernel: &Kernel, cpu: CpuId, job: u32) -> Option<CpuId> {
        let last = kernel.cx.task(task(job)).cpu;
        let usable = |cpu: &CpuId| Some(*cpu) != self.master;
        let free = |cpu: &CpuId| self.queues[cpu.index()].earliest.is_none() && usable(cpu);
        let near = [last, cpu].into_iter().find(free);
        let all = (0..self.queues.len() as u16).map(CpuId);
        if let Some(free) = near.or_else(|| all.clone().find(free)) {
            return Some(free);
        }
        let latest = all.filter(usable).max_by_key(|cpu| self.queues[cpu.index()].earliest)?;
        let earliest = self.queues[latest.index()].earliest?;
        (self.deadline(job) < earliest).then_some(latest)
    }

    /// `cpu` scans for another CPU.
    fn looks(&mut self, cpu: CpuId) {
        match self.rules {
            Rules::V8 => {
                for it in &self.queues {
                    self.paths.push(cpu, Step::Read(it.told));
                }
                self.paths.work(cpu, self.profile.scan * self.queues.len() as u64);
            }
            Rules::Heap => self.paths.push(cpu, Step::Read(self.heap_lines)),
        }
    }

    /// The earliest deadline of a CPU may have changed: publishes it.
    fn tell(&mut self, cpu: CpuId, of: CpuId) {
        let it = &self.queues[of.index()];
        let current = it.current.map(|job| self.deadline(job));
        let earliest = [it.first(), current].into_iter().flatten().min();
        match !it.waits.is_empty() {
            true => self.overloaded.insert(of),
            false => self.overloaded.remove(&of),
        };
        let it = &mut self.queues[of.index()];
        let changed = std::mem::replace(&mut it.earliest, earliest) != earliest;
        self.paths.push(cpu, Step::Touch(it.told));
        if changed && self.rules == Rules::Heap {
            let section = Section { work: self.profile.heap(self.queues.len()), lines: 0 };
            self.paths.lock(cpu, self.heap_lock, section, self.heap_lines);
            self.paths.push(cpu, Step::Unlock(self.heap_lock));
        }
    }

    fn enqueue(&mut self, kernel: &mut Kernel, cpu: CpuId, job: u32, on: CpuId) {
        if kernel.cx.task(task(job)).place == wastenot_model::policy::Place::Queued {
            kernel.cx.throttled(task(job), false);
            if kernel.cx.task(task(job)).cpu != on {
                kernel.cx.moved(task(job), on);
            }
            kernel.carry_out();
        } else {
            self.jobs.place(kernel, job, &[on]);
        }
        self.paths.work(cpu, self.heap);
        let deadline = self.deadline(job);
        let it = &mut self.queues[on.index()];
        match kernel.cx.current(on) == Some(task(job)) {
            true => it.leaves = Some((deadline, job)),
            false => drop(it.waits.insert((deadline, job))),
        }
        self.tell(cpu, on);
        self.paths.then(cpu, Then::Push { on, tries: TRIES, asked: Asked::Interrupt });
    }

    /// Pushes the first task that waits on `on` to a CPU where it is more urgent than every task.
    fn push(&mut self, cpu: CpuId, on: CpuId, tries: u8, asked: Asked) {
        let it = &self.queues[on.index()];
        let first = it.waits.first().copied();
        let current = it.current.map(|job| self.deadline(job));
        match first {
            Some((deadline, _)) if current.is_none_or(|current| deadline < current) => {
                self.paths.interrupt(cpu, on, self.profile.send);
            }
            Some(job) if tries > 0 => {
                self.looks(cpu);
                return self.paths.then(cpu, Then::Found { on, job, tries, asked });
            }
            _ => {}
        }
        self.unlock(cpu, on);
        self.paths.then(cpu, asked.done());
    }

    /// The CPU to which `job`, which waits on `on`, should move.
    fn found(
        &mut self,
        kernel: &Kernel,
        cpu: CpuId,
        on: CpuId,
        job: (u64, u32),
        tries: u8,
        asked: Asked,
    ) {
        let Some(to) = self.find_later(kernel, on, job.1) else {
            self.unlock(cpu, on);
            return self.paths.then(cpu, asked.done());
        };
        self.lock_both(kernel, cpu, on, to);
        self.paths.then(cpu, Then::Pushed { on, to, job, tries, asked });
    }

    fn pushed(
        &mut self,
        kernel: &mut Kernel,
        cpu: CpuId,
        (on, to): (CpuId, CpuId),
        job: (u64, u32),
        tries: u8,
        asked: Asked,
    ) {
        let still = self.queues[on.index()].waits.first() == Some(&job);
        let later = self.queues[to.index()].earliest.is_none_or(|earliest| job.0 < earliest);
        let tries = if still && later { TRIES } else { tries - 1 };
        if still && later {
            self.moves(kernel, cpu, job, on, to);
            self.paths.interrupt(cpu, to, self.profile.send);
        }
        self.unlock(cpu, to);
        self.paths.then(cpu, Then::Push { on, tries, asked });
    }

    /// Moves a job; both locks are held.
    fn moves(&mut self, kernel: &mut Kernel, cpu: CpuId, job: (u64, u32), on: CpuId, to: CpuId) {
        self.queues[on.index()].waits.remove(&job);
        self.queues[to.index()].waits.insert(job);
        kernel.cx.moved(task(job.1), to);
        kernel.carry_out();
        self.tell(cpu, on);
        self.tell(cpu, to);
    }

    /// Charges the running task's budget.
    fn spend(&mut self, kernel: &Kernel, cpu: CpuId) {
        let it = &mut self.queues[cpu.index()];
        let ran = kernel.now() - std::mem::replace(&mut it.since, kernel.now());
        if let Some(job) = it.current
            && self.server.is_some()
        {
            let left = &mut self.served[job as usize].left;
            *left = Span(left.0.saturating_sub(ran.0));
        }
    }

    /// The previous task leaves the CPU, or waits.
    fn leave(&mut self, kernel: &mut Kernel, cpu: CpuId) {
        self.spend(kernel, cpu);
        self.paths.heard(kernel, cpu, self.profile.ipi);
        let mut leaves = kernel.leaves(cpu);
        self.queues[cpu.index()].current = None;
        if let Some((task, how)) = &mut leaves {
            let job = number(*task);
            if *how == Leaves::Ends {
                self.jobs.end(kernel, job, self.paths.began(cpu));
            }
            if *how == Leaves::Completes {
                self.jobs.complete(job, self.paths.began(cpu));
                let at_us = self.jobs.next_us(job);
                if at_us * 1_000 > kernel.now().0 {
                    self.arm(kernel, cpu, job, at_us);
                } else {
                    // The next job is late already, so the task does not even sleep.
                    self.jobs.begin(kernel, job, at_us);
                    if self.server.is_none() {
                        self.refill(kernel, job);
                    }
                    *how = Leaves::Runnable(Why::Yield);
                }
            }
            let server = &mut self.served[job as usize];
            if how.is_runnable() {
                if server.left == Span::ZERO {
                    // The next budget is due at the deadline.
                    server.throttled = true;
                    let at_us = server.deadline.0.div_ceil(1_000);
                    kernel.cx.throttled(*task, true);
                    self.arm(kernel, cpu, job, at_us.max(kernel.now().0.div_ceil(1_000)));
                    kernel.carry_out();
                } else {
                    self.queues[cpu.index()].leaves = Some((server.deadline.0, job));
                }
            }
            self.paths.work(cpu, self.heap);
        }
        self.tell(cpu, cpu);
        let pulls = leaves.is_some();
        self.leaves[cpu.index()] = leaves;
        let from = if pulls { 0 } else { self.queues.len() };
        self.paths.then(cpu, Then::Pull { from });
    }

    /// Pulls from every CPU with a waiting task that is more urgent than all tasks here.
    fn pull(&mut self, kernel: &mut Kernel, cpu: CpuId, from: usize) {
        let mut others = self.overloaded.range(CpuId(from as u16)..);
        match others.find(|other| **other != cpu).copied() {
            Some(other) => {
                self.paths.push(cpu, Step::Read(self.queues[other.index()].told));
                self.paths.then(cpu, Then::Looked { at: other });
            }
            None => self.pick(kernel, cpu),
        }
    }

    fn looked(&mut self, kernel: &Kernel, cpu: CpuId, at: CpuId) {
        let own = self.queues[cpu.index()].first();
        let first = self.queues[at.index()].waits.first();
        if first.is_some_and(|(first, _)| own.is_none_or(|own| *first < own)) {
            self.lock_both(kernel, cpu, cpu, at);
            return self.paths.then(cpu, Then::Pulled { from: at });
        }
        self.paths.then(cpu, Then::Pull { from: at.index() + 1 });
    }

    fn pulled(&mut self, kernel: &mut Kernel, cpu: CpuId, from: CpuId) {
        let own = self.queues[cpu.index()].first();
        let other = &self.queues[from.index()];
        if let Some(&job) = other.waits.first()
            && own.is_none_or(|own| job.0 < own)
            // Otherwise it is about to run there.
            && other.current.is_some_and(|current| self.deadline(current) <= job.0)
        {
            self.moves(kernel, cpu, job, from, cpu);
        }
        self.unlock(cpu, from);
        self.paths.then(cpu, Then::Pull { from: from.index() + 1 });
    }

    /// Picks the most urgent task.
    fn pick(&mut self, kernel: &mut Kernel, cpu: CpuId) {
        let it = &mut self.queues[cpu.index()];
        it.waits.extend(it.leaves.take());
        let next = it.waits.pop_first().map(|(_, job)| job);
        (it.current, it.since) = (next, kernel.now());
        self.tell(cpu, cpu);
        let leaves = self.leaves[cpu.index()].take();
        if let Some((task, how)) = leaves {
            kernel.stopped(task, how);
        }
        kernel.switch(cpu, leaves, next.map(task));
        let timer = TimerId(self.budget_timer.0 + u32::from(cpu.0));
        if self.server.is_some() {
            let at = next.map(|job| kernel.now() + self.served[job as usize].left);
            kernel.cx.timer(timer, cpu, at);
            kernel.carry_out();
        }
        self.unlock(cpu, cpu);
        self.paths.then(cpu, Then::Switched);
    }

    /// After the switch, a waiting task may be better placed on another CPU.
    fn switched(&mut self, cpu: CpuId) {
        if self.queues[cpu.index()].waits.is_empty() {
            return self.paths.then(cpu, Then::Scheduled);
        }
        self.lock(cpu, cpu);
        self.paths.then(cpu, Then::Push { on: cpu, tries: TRIES, asked: Asked::Switch });
    }
}

impl Walks for PerCpu<'_> {
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
        self.budget_timer = kernel.cx.new_timers(cpus as u32);
        self.leaves = vec![None; cpus];
        let hardware = &mut kernel.hardware;
        self.heap_lock = hardware.lock(self.profile.spin);
        self.heap_lines = hardware.line(1);
        self.queues.resize_with(cpus, || Queue {
            lock: hardware.lock(self.profile.spin),
            lines: hardware.line(self.profile.run_queue.lines),
            told: hardware.line(1),
            current: None,
            since: Time(0),
            leaves: None,
            waits: BTreeSet::new(),
            earliest: None,
        });
    }

    fn begin(&mut self, kernel: &mut Kernel, cpu: CpuId, trigger: Trigger) {
        let then = match trigger {
            Trigger::Wake { task, why: Why::New, .. } => {
                let at_us = self.jobs.next_us(number(task)).max(kernel.now().0.div_ceil(1_000));
                return self.arm(kernel, cpu, number(task), at_us);
            }
            Trigger::Wake { task, .. } => Then::Select(number(task)),
            Trigger::Happening(Happening::Timer(timer)) if timer >= self.budget_timer => {
                self.paths.work(cpu, self.profile.isr);
                self.lock(cpu, cpu);
                return self.paths.then(cpu, Then::Exhausted);
            }
            Trigger::Happening(Happening::Timer(timer)) => {
                let (jobs, _, due) = self.jobs.due(kernel, cpu, timer);
                let job = jobs[0];
                if !self.served[job as usize].throttled {
                    self.jobs.begin(kernel, job, due.0 / 1_000);
                }
                Then::Select(job)
            }
            Trigger::Schedule if Some(cpu) != self.master => {
                self.lock(cpu, cpu);
                return self.paths.then(cpu, Then::Leave);
            }
            _ => return,
        };
        self.paths.work(cpu, self.profile.isr);
        self.paths.then(cpu, then);
    }

    fn goes_on(&mut self, kernel: &mut Kernel, cpu: CpuId) -> bool {
        match self.paths.take(cpu) {
            Then::Select(job) => self.select(kernel, cpu, job),
            Then::Enqueue { job, on } => self.enqueue(kernel, cpu, job, on),
            Then::Push { on, tries, asked } => self.push(cpu, on, tries, asked),
            Then::Found { on, job, tries, asked } => {
                self.found(kernel, cpu, on, job, tries, asked);
            }
            Then::Pushed { on, to, job, tries, asked } => {
                self.pushed(kernel, cpu, (on, to), job, tries, asked);
            }
            Then::Leave => self.leave(kernel, cpu),
            Then::Pull { from } => self.pull(kernel, cpu, from),
            Then::Looked { at } => self.looked(kernel, cpu, at),
            Then::Pulled { from } => self.pulled(kernel, cpu, from),
            Then::Exhausted => {
                self.spend(kernel, cpu);
                let current = self.queues[cpu.index()].current;
                let out = |job: u32| self.served[job as usize].left == Span::ZERO;
                if current.is_some_and(out) {
                    self.paths.push(cpu, Step::Interrupt(cpu));
                }
                self.unlock(cpu, cpu);
            }
            Then::Switched => self.switched(cpu),
            Then::Scheduled => {
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
        let queues = self.queues.iter().map(|queue| queue.lock);
        let heap = (self.rules == Rules::Heap).then_some(self.heap_lock);
        Overheads::of(kernel, queues.chain(heap))
    }

    fn unsettled(&self, kernel: &Kernel) -> Option<String> {
        self.queues.iter().enumerate().find_map(|(n, it)| {
            let cpu = CpuId(n as u16);
            let runs = kernel.cx.current(cpu);
            let current = it.current.map(|job| self.deadline(job));
            let earliest = it.first().into_iter().chain(current).min();
            let throttled = it.current.is_some_and(|job| self.served[job as usize].throttled);
            let told = it.earliest == earliest;
            let marked = self.overloaded.contains(&cpu) != it.waits.is_empty();
            let wrong = runs.map(number) != it.current || throttled || !told || !marked;
            wrong.then(|| format!("CPU {cpu} runs {runs:?}, and its queue is {it:?}"))
        })
    }
}
