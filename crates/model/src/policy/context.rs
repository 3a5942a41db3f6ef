//! What a policy sees, and its effects in addition to its answers.

use std::ops::Deref;

use super::{Tick, TimerId};
use crate::workload::{Group, GroupId};
use crate::{CpuId, CpuSet, Decision, Machine, Span, TaskId, Time};

/// The place of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// It has not begun, or has ended.
    Nowhere,
    /// It sleeps.
    Asleep,
    /// It waits on the queue of its CPU.
    Queued,
    /// It runs on its CPU.
    Running,
    /// It has left its CPU, is still runnable, and is about to be queued on another CPU.
    Moving,
}

/// What a policy may know of a task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TaskView {
    /// Its place.
    pub place: Place,
    /// The CPU where it runs, waits or was last.
    pub cpu: CpuId,
    /// Nice value, -20..=19.
    pub nice: i8,
    /// Its session or cgroup.
    pub group: GroupId,
    /// Index of its affinity in [`View::masks`].
    pub mask: u32,
    /// Whether it is a kernel thread.
    pub kthread: bool,
    /// Whether it is one of the policy's own kernel threads.
    pub own: bool,
    /// Priority of OSv: share of CPU time is inverse to it.
    pub priority: f64,
    /// The parallel job that it belongs to.
    pub job: Option<u32>,
    /// Index of its command in [`View::commands`].
    pub command: u32,
}

/// What a policy may know of a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuView {
    /// The running task; `None` if the CPU is idle.
    pub current: Option<TaskId>,
    /// Since when it is idle, if it is.
    pub idle_since: Time,
    /// Whether it is online.
    pub online: bool,
}

/// Machine, tasks and CPUs as they are now.
#[derive(Clone, Debug)]
pub struct View {
    /// The time.
    pub now: Time,
    /// The CPU on which the code runs.
    pub cpu: CpuId,
    /// The machine.
    pub machine: Machine,
    /// CPU n is `cpus[n]`.
    pub cpus: Vec<CpuView>,
    /// Online CPUs that run nothing.
    pub idle: CpuSet,
    /// Online CPUs.
    pub online: CpuSet,
    /// Tasks by [`TaskId::index`].
    pub tasks: Vec<TaskView>,
    /// Sessions and cgroups.
    pub groups: Vec<Group>,
    /// Names of commands.
    pub commands: Vec<String>,
    /// Affinities; the first holds all CPUs.
    pub masks: Vec<CpuSet>,
    /// The price of balancing for each CPU of a domain ([`crate::machine::Costs::scan`]).
    pub scan: Span,
    /// Seed for what a policy leaves to chance ([`crate::workload::Random::stream`]).
    pub seed: u64,
}

impl View {
    /// One task, which is no idle task.
    #[inline]
    pub fn task(&self, task: TaskId) -> &TaskView {
        &self.tasks[task.ordinal()]
    }
    /// The same, mutable: only for the engine.
    #[inline]
    pub fn task_mut(&mut self, task: TaskId) -> &mut TaskView {
        &mut self.tasks[task.ordinal()]
    }
    /// Whether `task` may run on `cpu`, which may be offline.
    #[inline]
    pub fn allowed(&self, task: TaskId, cpu: CpuId) -> bool {
        let mask = self.task(task).mask;
        mask == 0 || self.masks[mask as usize].contains(cpu)
    }
    /// The CPUs on which `task` may run.
    pub fn mask(&self, task: TaskId) -> &CpuSet {
        &self.masks[self.task(task).mask as usize]
    }
    /// Whether `task` may run on one CPU only.
    pub fn pinned(&self, task: TaskId) -> bool {
        let mask = self.task(task).mask;
        mask != 0 && self.masks[mask as usize].len() == 1
    }
    /// The running task of `cpu`.
    #[inline]
    pub fn current(&self, cpu: CpuId) -> Option<TaskId> {
        self.cpus[cpu.index()].current
    }
    /// Whether `cpu` is online and runs nothing.
    #[inline]
    pub fn is_idle(&self, cpu: CpuId) -> bool {
        let view = &self.cpus[cpu.index()];
        view.online && view.current.is_none()
    }
    /// `prev` if the task may run there, else the lowest online CPU that it may use, else the
    /// lowest online CPU: the kernel's fallback.
    pub fn fallback(&self, task: TaskId, prev: CpuId) -> CpuId {
        if self.online.contains(prev) && self.allowed(task, prev) {
            return prev;
        }
        let allowed = self.online.iter().find(|&cpu| self.allowed(task, cpu));
        allowed.or_else(|| self.online.iter().next()).unwrap_or(prev)
    }
}

/// An effect of a policy in addition to its answer. Effects are carried out in order, after the
/// call.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// `cpu` picks its next task: at once if `preempt`, else only if it is idle.
    Kick {
        /// Which CPU.
        cpu: CpuId,
        /// Whether the running task is interrupted.
        preempt: bool,
    },
    /// A queued task was moved to the queue of another CPU.
    Moved {
        /// Which task.
        task: TaskId,
        /// The old CPU.
        from: CpuId,
        /// The new CPU.
        to: CpuId,
    },
    /// A group of the task ran out of quota, or has quota again.
    Throttled {
        /// Which task.
        task: TaskId,
        /// Whether it is throttled.
        on: bool,
    },
    /// A timer is armed; `None` disarms it.
    Timer {
        /// Which timer.
        timer: TimerId,
        /// The CPU that it interrupts.
        cpu: CpuId,
        /// When it expires.
        at: Option<Time>,
    },
    /// One of the policy's kernel threads is woken.
    Wake(TaskId),
    /// Information for readers of the History.
    Note(Note),
    /// From `init` only: regular interrupts.
    Tick(Tick),
    /// From `init` only: a kernel thread of the policy's own.
    Thread {
        /// Its name.
        name: String,
        /// The CPU to which it is bound.
        cpu: CpuId,
        /// CPU time that it takes each time it is woken.
        work: Span,
    },
}

/// A decision, for the annex `decisions`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The CPU of [`Decision::cpu`](crate::Decision::cpu).
    pub cpu: CpuId,
    /// What was decided: `newidle`, `periodic`, `wakeup`, ...; or a step of the protocol
    /// ([`Note::PUT`] and those after it).
    pub what: &'static str,
    /// The task, if the decision is about one task.
    pub task: Option<TaskId>,
    /// The CPUs that were considered.
    pub considered: CpuSet,
    /// Balancing: the CPUs of the local group.
    pub local: CpuSet,
    /// Balancing: the CPUs of the group that was found busiest.
    pub busiest: CpuSet,
    /// The result: `balanced`, `moved 3`, `pinned`, ...
    pub outcome: String,
}

/// Steps of the protocol between CPUs that put tasks into queues and CPUs that search them.
/// Policies whose queues are shared by all CPUs report them.
impl Note {
    /// A task waits in a queue from now on; `considered` holds the CPUs that may take it there.
    pub const PUT: &'static str = "put";
    /// A CPU took a task out of a queue in order to run it.
    pub const TAKE: &'static str = "take";
    /// A CPU searched all queues and found no task.
    pub const FAILED: &'static str = "failed";
    /// A task left its queue in another way.
    pub const LEFT: &'static str = "left";

    /// A decision for which `considered` was looked at; it balances no scheduling domain.
    pub fn new(
        cpu: CpuId,
        what: &'static str,
        task: Option<TaskId>,
        considered: CpuSet,
        outcome: String,
    ) -> Note {
        let (local, busiest) = (CpuSet::new(), CpuSet::new());
        Note { cpu, what, task, considered, local, busiest, outcome }
    }

    /// The same, as what was decided at `time`.
    pub fn at(&self, time: Time) -> Decision<'_> {
        Decision {
            time,
            cpu: self.cpu,
            what: self.what,
            task: self.task,
            considered: self.considered.clone(),
            local: self.local.clone(),
            busiest: self.busiest.clone(),
            outcome: &self.outcome,
        }
    }
}

/// The argument of each call to a policy: the [`View`], and a list for the policy's effects.
#[derive(Clone, Debug)]
pub struct Context {
    view: View,
    effects: Vec<Effect>,
    timers: u32,
    threads: u32,
    notes: bool,
}

impl Deref for Context {
    type Target = View;
    #[inline]
    fn deref(&self) -> &View {
        &self.view
    }
}

impl Context {
    /// For the engine that runs a policy. `notes`: whether notes are kept.
    pub fn new(view: View, notes: bool) -> Context {
        Context { view, effects: Vec::new(), timers: 0, threads: 0, notes }
    }
    /// The view. The engine keeps it up to date; no policy calls this.
    #[inline]
    pub fn view_mut(&mut self) -> &mut View {
        &mut self.view
    }
    /// Whether there are no effects since they were last taken.
    #[inline]
    pub fn is_quiet(&self) -> bool {
        self.effects.is_empty()
    }
    /// Moves the effects since the last call into `into`, whose storage is reused.
    pub fn take(&mut self, into: &mut Vec<Effect>) {
        into.clear();
        std::mem::swap(&mut self.effects, into);
    }
    /// Takes back the effects that are so, of those since they were last taken.
    pub fn drop_effects(&mut self, is: impl Fn(&Effect) -> bool) {
        self.effects.retain(|effect| !is(effect));
    }
    /// How many timers were requested.
    pub fn timers(&self) -> u32 {
        self.timers
    }

    /// `cpu` picks its next task even if it runs one.
    #[inline]
    pub fn preempt(&mut self, cpu: CpuId) {
        self.effects.push(Effect::Kick { cpu, preempt: true });
    }
    /// `cpu` picks its next task if it is idle.
    #[inline]
    pub fn kick_idle(&mut self, cpu: CpuId) {
        self.effects.push(Effect::Kick { cpu, preempt: false });
    }
    /// A queued task is now on the queue of `to`. A preempted task is enqueued while its CPU still
    /// runs it; it can be moved only after that CPU runs another task ([`super::Policy::running`])
    /// or idles.
    #[inline]
    pub fn moved(&mut self, task: TaskId, to: CpuId) {
        let from = std::mem::replace(&mut self.view.task_mut(task).cpu, to);
        self.effects.push(Effect::Moved { task, from, to });
    }
    /// A queued task is throttled by a quota (`on`), or no longer.
    pub fn throttled(&mut self, task: TaskId, on: bool) {
        self.effects.push(Effect::Throttled { task, on });
    }
    /// Arms `timer` to interrupt `cpu` at `at`, or disarms it.
    pub fn timer(&mut self, timer: TimerId, cpu: CpuId, at: Option<Time>) {
        self.effects.push(Effect::Timer { timer, cpu, at });
    }
    /// Wakes one of the policy's own kernel threads. A thread whose CPU is off is parked: it does
    /// not run, and the policy receives [`super::Happening::Ran`] at once.
    pub fn wake(&mut self, thread: TaskId) {
        self.effects.push(Effect::Wake(thread));
    }
    /// Reports a decision; `note` is called only if notes are kept.
    pub fn note(&mut self, note: impl FnOnce(&View) -> Note) {
        if self.notes {
            let note = note(&self.view);
            self.effects.push(Effect::Note(note));
        }
    }

    /// In `init`: regular interrupts.
    pub fn set_tick(&mut self, tick: Tick) {
        self.effects.push(Effect::Tick(tick));
    }
    /// In `init`: creates `count` more timers; returns the first of them.
    pub fn new_timers(&mut self, count: u32) -> TimerId {
        self.timers += count;
        TimerId(self.timers - count)
    }
    /// In `init`: creates a kernel thread bound to `cpu`. It sleeps until it is woken, and then
    /// takes `work` of CPU time before [`super::Happening::Ran`]. Returns its id; the view contains
    /// it once `init` is over.
    pub fn thread(&mut self, name: impl Into<String>, cpu: CpuId, work: Span) -> TaskId {
        self.effects.push(Effect::Thread { name: name.into(), cpu, work });
        self.threads += 1;
        TaskId::nth(self.threads as usize - 1)
    }
}
