//! G-EDF by message passing: one processor schedules for all; the others write messages to it.
//!
//! Cerqueira, Vanga, Brandenburg, "Scaling global scheduling with message passing", RTAS 2014. Only
//! the dedicated scheduling processor (DSP) accesses the queues and timers and takes decisions, so
//! that these need no lock and stay in its cache. Each other CPU, a client, has an entry: the task
//! that it should run. The DSP writes the entry under the client's lock and interrupts the client;
//! the client writes a message whenever a job ends. A decision may be out of date: the task that
//! was to be linked may have ended its job meanwhile, or may still run on another client. Both are
//! detected under the lock of the CPU in question; no CPU holds two of these locks.

use std::collections::VecDeque;

use wastenot_model::machine::Profile;
use wastenot_model::policy::{Happening, Why};
use wastenot_model::{CpuId, Span, TaskId, Time};

use super::core::{Core, Tie};
use super::jobs::{Jobs, Leaving, Pending, number, task};
use super::overheads::Overheads;
use super::paths::{Paths, Walks};
use super::plain::Done;
use crate::mechanism::{LineId, LockId, MailboxId, Overhead, Step, Trigger};
use crate::{Kernel, Leaves};

/// How many mailboxes there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mailboxes {
    /// This many, each shared by CPUs with consecutive numbers: 8 in the prototype.
    Shared(u32),
    /// One for each client: no other client writes it, and the DSP looks at more mailboxes.
    Own,
}

impl Mailboxes {
    /// How many of `clients` clients share one mailbox; the last mailbox may have fewer.
    fn share(self, clients: usize) -> usize {
        match self {
            Mailboxes::Shared(boxes) => clients.div_ceil(boxes.max(1) as usize).max(1),
            Mailboxes::Own => 1,
        }
    }
}

/// What a message means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub(super) enum What {
    New,
    Completed,
    Suspended,
    Resumed,
    Exited,
    /// The DSP sends this to itself: no earlier message about that task is in this mailbox any
    /// more.
    Flushed,
}

impl What {
    const ALL: [What; 6] =
        [What::New, What::Completed, What::Suspended, What::Resumed, What::Exited, What::Flushed];

    fn letter(self, job: u32) -> u64 {
        u64::from(job) << 3 | self as u64
    }
    fn read(letter: u64) -> (What, u32) {
        (What::ALL[(letter & 7) as usize], (letter >> 3) as u32)
    }
}

/// A client.
#[derive(Debug)]
struct Client {
    cpu: CpuId,
    lock: LockId,
    lines: LineId,
    mailbox: MailboxId,
    mailbox_lines: LineId,
    /// The task that it should run.
    linked: Option<u32>,
}

/// What the DSP knows of a task, or would know if it looked.
#[derive(Clone, Copy, Debug, Default)]
struct Task {
    /// The client that runs the task.
    runs_on: Option<u32>,
    /// The client that ran it last.
    ran_on: u32,
    /// The task has ended its job or sleeps, and the DSP has not read that message yet.
    stale: bool,
    /// The task was woken, and the DSP read that message before the message that it slept.
    resumed: bool,
    /// When the last message about the task was written.
    wrote: Time,
    /// The task has ended: this many mailboxes may still hold a message about it.
    flushing: u32,
}

/// Where a path goes on.
#[derive(Debug, Default)]
pub(super) enum Then {
    /// A client, under its lock: pick the next task.
    Pick { client: u32 },
    /// A client: the lock is released.
    Switch { client: u32, leaves: Option<(TaskId, Leaves)>, next: Option<u32> },
    /// A client that has picked its next task: its message is written.
    Posted,
    /// The DSP has read a message.
    Handle { what: What, job: u32 },
    /// The DSP releases jobs.
    Release { jobs: Vec<u32>, due: Time },
    /// The DSP, under the lock of a client whose link has changed.
    Write { client: u32 },
    /// The DSP, under the lock of the client that seems to run the task that is linked to another.
    Exchange { client: u32, runs: u32 },
    /// The DSP has released a lock.
    Decide,
    /// The DSP has done what a message or a release required.
    Handled,
    #[default]
    Over,
}

/// The mechanism.
pub(super) struct Messages<'t> {
    profile: Profile,
    /// Inserting a job into the queue, or removing it.
    heap: Span,
    jobs: Jobs<'t>,
    mailboxes: Mailboxes,
    /// The dedicated scheduling processor (DSP).
    master: CpuId,
    core: Core,
    clients: Vec<Client>,
    /// By CPU: its client.
    client_of: Vec<Option<u32>>,
    tasks: Vec<Task>,
    /// Clients whose entry differs from their link.
    writes: VecDeque<u32>,
    paths: Paths<Then>,
    /// When the DSP last did something: it looks for another message at once.
    read: Time,
    /// What the DSP is doing, for its samples.
    handles: Overhead,
}

impl<'t> Messages<'t> {
    pub(super) fn new(
        profile: Profile,
        tie: Tie,
        jobs: Jobs<'t>,
        master: CpuId,
        clients: Vec<CpuId>,
        mailboxes: Mailboxes,
    ) -> Messages<'t> {
        let core = Core::new(jobs.len(), clients.len() as u32, tie);
        let tasks = vec![Task::default(); jobs.len()];
        let client = |cpu| Client {
            cpu,
            lock: LockId(0),
            lines: LineId(0),
            mailbox: MailboxId(0),
            mailbox_lines: LineId(0),
            linked: None,
        };
        Messages {
            heap: profile.heap(jobs.len()),
            profile,
            jobs,
            mailboxes,
            master,
            core,
            clients: clients.into_iter().map(client).collect(),
            client_of: Vec::new(),
            tasks,
            writes: VecDeque::new(),
            paths: Paths::new(),
            read: Time::MAX,
            handles: Overhead::Handler,
        }
    }

    /// What the DSP spends on every message, with one scan of all mailboxes.
    fn handle(&mut self, cpu: CpuId) {
        let Profile { handler, scan, .. } = self.profile;
        let scan = scan * self.clients.len() as u64;
        let clients = self.clients.len();
        let boxes = clients.div_ceil(self.mailboxes.share(clients)) as u64;
        let lines = self.profile.hardware.line_own * (u64::from(handler.lines) + boxes);
        self.paths.work(cpu, handler.work + scan + self.heap + lines);
    }

    /// `cpu` writes a message into the mailbox of a client.
    fn post(&mut self, kernel: &Kernel, cpu: CpuId, client: u32, what: What, job: u32) {
        let Client { mailbox, mailbox_lines, .. } = self.clients[client as usize];
        self.tasks[job as usize].wrote = kernel.now();
        self.paths.work(cpu, self.profile.mailbox.work);
        self.paths.push(cpu, Step::Touch(mailbox_lines));
        self.paths.push(cpu, Step::Post(mailbox, what.letter(job)));
    }

    /// `cpu`, not in a client's path, reports something: the DSP itself writes into the first
    /// mailbox.
    fn tell(&mut self, kernel: &Kernel, cpu: CpuId, what: What, job: u32) {
        let client = self.client_of[cpu.index()].unwrap_or(0);
        self.post(kernel, cpu, client, what, job);
    }

    /// Every message about a task that has ended is read before the task is forgotten: a marker
    /// goes through every mailbox.
    fn flush(&mut self, kernel: &Kernel, job: u32) {
        let clients = self.clients.len();
        for client in (0..clients).step_by(self.mailboxes.share(clients)) {
            self.post(kernel, self.master, client as u32, What::Flushed, job);
            self.tasks[job as usize].flushing += 1;
        }
    }

    /// Picks the task that runs on a client next, and determines what the DSP has to know of it.
    fn pick(&mut self, kernel: &mut Kernel, client: u32) {
        let it = &mut self.clients[client as usize];
        self.paths.heard(kernel, it.cpu, self.profile.ipi);
        let leaves = kernel.leaves(it.cpu);
        if let Some((task, how)) = leaves {
            let job = number(task);
            self.tasks[job as usize].runs_on = None;
            if !how.is_runnable() {
                self.tasks[job as usize].stale = true;
                if it.linked == Some(job) {
                    it.linked = None;
                }
            }
        }
        let stays =
            |(task, how): &(TaskId, Leaves)| how.is_runnable() && kernel.is_in_section(*task);
        let next = match leaves.filter(stays) {
            Some((task, _)) => {
                kernel.defer(task);
                Some(number(task))
            }
            None => it.linked,
        };
        if let Some(next) = next {
            let known = &mut self.tasks[next as usize];
            (known.runs_on, known.ran_on) = (Some(client), client);
        }
        let (cpu, lock) = (it.cpu, it.lock);
        self.paths.push(cpu, Step::Unlock(lock));
        self.paths.then(cpu, Then::Switch { client, leaves, next });
    }

    fn switch(
        &mut self,
        kernel: &mut Kernel,
        client: u32,
        leaves: Option<(TaskId, Leaves)>,
        next: Option<u32>,
    ) -> bool {
        let cpu = self.clients[client as usize].cpu;
        if let Some((task, how)) = leaves {
            kernel.stopped(task, how);
        }
        if let Some(next) = next
            && kernel.cx.task(task(next)).cpu != cpu
        {
            kernel.cx.moved(task(next), cpu);
            kernel.carry_out();
        }
        kernel.switch(cpu, leaves, next.map(task));
        let what = match leaves {
            Some((task, Leaves::Completes)) => {
                self.jobs.complete(number(task), self.paths.began(cpu));
                What::Completed
            }
            Some((_, Leaves::Sleeps)) => What::Suspended,
            Some((task, Leaves::Ends)) => {
                self.jobs.end(kernel, number(task), self.paths.began(cpu));
                What::Exited
            }
            _ => {
                kernel.sample(cpu, Overhead::Schedule, self.paths.began(cpu));
                return true;
            }
        };
        let job = leaves.map_or(0, |(task, _)| number(task));
        self.post(kernel, cpu, client, what, job);
        self.paths.then(cpu, Then::Posted);
        false
    }

    /// The DSP reads a message about a job.
    fn hear(&mut self, kernel: &mut Kernel, what: What, job: u32) {
        let known = &mut self.tasks[job as usize];
        if what == What::Resumed && known.stale {
            // It came through another mailbox, and was faster.
            known.resumed = true;
            return;
        }
        if !matches!(what, What::New | What::Resumed | What::Flushed) {
            let known = &mut self.tasks[job as usize];
            known.stale = false;
            self.core.forget(job, known.ran_on);
        }
        match what {
            What::New | What::Completed => {
                let at_us = self.jobs.next_us(job);
                if at_us * 1_000 > kernel.now().0 {
                    self.jobs.arm(kernel, job, at_us, (0, self.master));
                } else {
                    self.comes(kernel, job, at_us);
                }
            }
            What::Resumed => {
                self.place(kernel, job);
                let urgency = self.jobs.urgency(job);
                self.core.ready(job, urgency);
            }
            What::Suspended if std::mem::take(&mut self.tasks[job as usize].resumed) => {
                self.hear(kernel, What::Resumed, job);
            }
            What::Suspended => {}
            What::Exited => self.flush(kernel, job),
            What::Flushed => self.tasks[job as usize].flushing -= 1,
        }
    }

    /// A job is released.
    fn comes(&mut self, kernel: &mut Kernel, job: u32, at_us: u64) {
        self.place(kernel, job);
        let urgency = self.jobs.begin(kernel, job, at_us);
        self.core.ready(job, urgency);
        self.paths.work(self.master, self.heap);
    }

    fn place(&self, kernel: &mut Kernel, job: u32) {
        let client = self.client_of[kernel.cx.task(task(job)).cpu.index()];
        let cpu = self.clients[client.unwrap_or(0) as usize].cpu;
        self.jobs.place(kernel, job, &[cpu]);
    }

    /// The next thing that the DSP has to do about links.
    fn decide(&mut self) {
        while let Some(link) = self.core.decide() {
            self.paths.work(self.master, self.heap);
            self.writes.push_back(link.cpu);
        }
        let Some(client) = self.writes.pop_front() else {
            return self.paths.then(self.master, Then::Handled);
        };
        let runs_on = self.core.linked(client).and_then(|job| self.tasks[job as usize].runs_on);
        let (whose, then) = match runs_on.filter(|&runs| runs != client) {
            Some(runs) => (runs, Then::Exchange { client, runs }),
            None => (client, Then::Write { client }),
        };
        let it = &self.clients[whose as usize];
        self.paths.push(self.master, Step::Lock(it.lock));
        self.paths.push(self.master, Step::Touch(it.lines));
        self.paths.then(self.master, then);
    }

    /// The DSP writes the entry of a client under its lock, unless the task that is linked there
    /// has ended its job or begun to run on another client meanwhile.
    fn write(&mut self, kernel: &mut Kernel, client: u32) {
        let linked = self.core.linked(client);
        let known = linked.map(|job| self.tasks[job as usize]).unwrap_or_default();
        let it = &mut self.clients[client as usize];
        self.paths.push(self.master, Step::Unlock(it.lock));
        self.paths.then(self.master, Then::Decide);
        if known.stale || known.runs_on.is_some_and(|runs| runs != client) {
            if known.stale {
                // Its message is on the way.
                self.core.unlink(client);
            }
            return self.writes.push_front(client);
        }
        it.linked = linked;
        if let Some(job) = linked.filter(|_| known.runs_on.is_none())
            && kernel.cx.task(task(job)).cpu != it.cpu
        {
            kernel.cx.moved(task(job), it.cpu);
            kernel.carry_out();
        }
        match kernel.cx.current(it.cpu).filter(|&task| kernel.is_in_section(task)) {
            // It is not preempted, and its CPU looks once that is over.
            Some(task) => kernel.defer(task),
            None => self.paths.interrupt(self.master, it.cpu, self.profile.send),
        }
    }

    /// The DSP holds the lock of the client that runs what is linked to another: it exchanges the
    /// links of the two if that is still so.
    fn exchange(&mut self, client: u32, runs: u32) {
        let it = &mut self.clients[runs as usize];
        self.paths.push(self.master, Step::Unlock(it.lock));
        self.paths.then(self.master, Then::Decide);
        self.writes.push_front(client);
        if let Some(job) = self.core.linked(client)
            && self.tasks[job as usize].runs_on == Some(runs)
        {
            self.core.exchange(client, runs);
            it.linked = Some(job);
        }
    }
}

impl Walks for Messages<'_> {
    type Then = Then;

    fn paths(&mut self) -> &mut Paths<Then> {
        &mut self.paths
    }

    fn dedicated(&self) -> Option<CpuId> {
        Some(self.master)
    }

    fn init(&mut self, kernel: &mut Kernel) {
        let cpus = kernel.cx.machine.len();
        let hardware = &mut kernel.hardware;
        hardware.prices = self.profile.hardware;
        self.client_of = vec![None; cpus];
        let share = self.mailboxes.share(self.clients.len());
        for (n, clients) in self.clients.chunks_mut(share).enumerate() {
            let mailbox = hardware.mailbox(self.master);
            let mailbox_lines = hardware.line(self.profile.mailbox.lines);
            for (m, it) in clients.iter_mut().enumerate() {
                it.lock = hardware.lock(self.profile.spin);
                it.lines = hardware.line(self.profile.client.lines);
                (it.mailbox, it.mailbox_lines) = (mailbox, mailbox_lines);
                self.client_of[it.cpu.index()] = Some((n * share + m) as u32);
            }
        }
        self.jobs.init(kernel);
    }

    fn begin(&mut self, kernel: &mut Kernel, cpu: CpuId, trigger: Trigger) {
        match trigger {
            // The tasks that exist from the start were reported before.
            Trigger::Wake { task, why: Why::New, .. } if kernel.now() == Time(0) => {
                let at_us = self.jobs.next_us(number(task));
                self.jobs.arm(kernel, number(task), at_us, (0, self.master));
            }
            Trigger::Wake { task, why: Why::New, .. } => {
                self.tell(kernel, cpu, What::New, number(task));
            }
            Trigger::Wake { task, .. } => {
                // Its own CPU unlinked it before it slept: no entry need be locked.
                let is_linked = |client: &Client| client.linked == Some(number(task));
                debug_assert!(
                    !self.clients.iter().any(is_linked),
                    "{task:?} sleeps, but is still linked to a CPU"
                );
                self.tell(kernel, cpu, What::Resumed, number(task));
            }
            Trigger::Happening(Happening::Timer(timer)) => {
                let (jobs, _, due) = self.jobs.due(kernel, cpu, timer);
                self.paths.work(cpu, self.profile.isr);
                self.paths.then(cpu, Then::Release { jobs, due });
            }
            Trigger::Mail(mailbox) => {
                let Some(letter) = kernel.hardware.read(mailbox) else { return };
                let (what, job) = What::read(letter);
                if what != What::Flushed {
                    kernel.sample(cpu, Overhead::RequestLatency, self.tasks[job as usize].wrote);
                }
                if kernel.now() != self.read {
                    self.paths.work(cpu, self.profile.isr);
                }
                let line = kernel.hardware.line_of(mailbox);
                self.paths.push(cpu, Step::Touch(line));
                self.handle(cpu);
                self.paths.then(cpu, Then::Handle { what, job });
            }
            Trigger::Schedule => {
                let Some(client) = self.client_of[cpu.index()] else { return };
                let it = &self.clients[client as usize];
                self.paths.lock(cpu, it.lock, self.profile.client, it.lines);
                self.paths.then(cpu, Then::Pick { client });
            }
            _ => {}
        }
    }

    fn goes_on(&mut self, kernel: &mut Kernel, cpu: CpuId) -> bool {
        match self.paths.take(cpu) {
            Then::Pick { client } => self.pick(kernel, client),
            Then::Switch { client, leaves, next } => {
                return self.switch(kernel, client, leaves, next);
            }
            Then::Posted => {
                kernel.sample(cpu, Overhead::Schedule, self.paths.began(cpu));
                return true;
            }
            Then::Handle { what, job } => {
                self.handles = Overhead::Handler;
                self.hear(kernel, what, job);
                self.decide();
            }
            Then::Release { jobs, due } => {
                self.handles = Overhead::Release;
                for job in jobs {
                    self.comes(kernel, job, due.0 / 1_000);
                }
                self.decide();
            }
            Then::Write { client } => self.write(kernel, client),
            Then::Exchange { client, runs } => self.exchange(client, runs),
            Then::Decide => self.decide(),
            Then::Handled => {
                self.read = kernel.now();
                kernel.sample(self.master, self.handles, self.paths.began(self.master));
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
        let mut overheads = Overheads::of(kernel, self.clients.iter().map(|client| client.lock));
        let mut lines: Vec<LineId> = self.clients.iter().map(|it| it.mailbox_lines).collect();
        lines.dedup();
        let writers = |line: LineId| kernel.hardware.writers(line).len();
        overheads.mailbox_writers = lines.into_iter().map(writers).collect();
        overheads
    }

    fn unsettled(&self, kernel: &Kernel) -> Option<String> {
        if !self.core.is_decided() || !self.writes.is_empty() {
            return Some("a waiting task should be linked to a CPU".into());
        }
        if let Some(job) =
            self.tasks.iter().position(|it| it.stale || it.resumed || it.flushing > 0)
        {
            return Some(format!("no CPU was notified of the new state of task {job}"));
        }
        self.clients.iter().enumerate().find_map(|(n, it)| {
            let (runs, linked) = (kernel.cx.current(it.cpu), self.core.linked(n as u32));
            let known = |task: TaskId| self.tasks[task.ordinal()].runs_on == Some(n as u32);
            let stays = runs.is_some_and(|task| kernel.is_in_section(task));
            let wrong = it.linked != linked
                || !runs.is_none_or(known)
                || runs.map(number) != linked && !stays;
            let sent = it.linked;
            wrong.then(|| {
                format!(
                    "CPU {} runs {runs:?}. {linked:?} is linked to this CPU, and the last message to \
                     this CPU contained {sent:?}",
                    it.cpu
                )
            })
        })
    }
}
