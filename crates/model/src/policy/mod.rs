//! A Policy: what a scheduler decides, in zero time.
//!
//! The ten calls are those of sched_ext (`struct sched_ext_ops`, kernel/sched/ext.c), and mean what
//! they mean there. When a decision is taken and what it costs is no business of a policy: that is
//! its mechanism's.

mod context;

pub use context::{Context, CpuView, Effect, Note, Place, TaskView, View};

use crate::{CpuId, Span, TaskId, Time};

/// Why a task is put somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It was woken. `sync`: the waker says that it is about to sleep.
    Wakeup {
        /// `WF_SYNC`.
        sync: bool,
    },
    /// It is new. Its parent is the current task of the CPU, if anyone is.
    New,
    /// It executes a new program, which is a good moment to be moved.
    Exec,
    /// It ran and wants to run on.
    Preempted,
    /// It ran and gives way.
    Yield,
    /// It may not stay where it was: its affinity changed, or its CPU went off.
    Displaced,
}

/// A timer of a policy, from 0 to the number that it asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimerId(pub u32);

/// What happens to tasks, CPUs and the policy's own timers and threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happening {
    /// A timer that the policy armed.
    Timer(TimerId),
    /// A kernel thread of the policy has run for as long as it said; it sleeps again after this.
    Ran(TaskId),
    /// A CPU came up, or has gone off: nobody runs there any more, and who is queued there has to
    /// be moved.
    Cpu {
        /// Which.
        cpu: CpuId,
        /// Whether it came up.
        up: bool,
    },
    /// A new task, before a CPU is selected for it.
    Fork {
        /// Its parent; `None` where the workload begins with it.
        parent: Option<TaskId>,
        /// Itself.
        child: TaskId,
    },
    /// A task has ended.
    Exit(TaskId),
    /// Its nice value changed, from this.
    Nice {
        /// Whose.
        task: TaskId,
        /// What it was.
        was: i8,
    },
    /// Its affinity changed. If it may not stay where it is, it is displaced after this.
    Affinity(TaskId),
}

/// When CPUs are interrupted regularly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tick {
    /// Time between two ticks of a CPU: 1 s / HZ.
    pub period: Span,
    /// Whether idle CPUs tick too; otherwise they are tickless.
    pub idle: bool,
    /// Whether the CPUs' ticks are spread evenly over the period; otherwise all come at once.
    pub staggered: bool,
}

impl Tick {
    /// So many a second, tickless when idle, on all CPUs at once.
    pub fn hz(hz: u64) -> Tick {
        Tick { period: Span(1_000_000_000 / hz), idle: false, staggered: false }
    }
    /// The first tick of `cpu`, one of so many, after `now`.
    pub fn after(&self, now: Time, cpu: CpuId, cpus: usize) -> Time {
        let share = if self.staggered { cpu.index() as u64 + 1 } else { 0 };
        let first = self.period.0 * share / (cpus as u64 + 1);
        let since = now.0.checked_sub(first);
        Time(first + since.map_or(0, |since| (since / self.period.0 + 1) * self.period.0))
    }
}

/// Decides where tasks wait and who runs next.
///
/// A task is in one place: it sleeps, runs on a CPU, or is queued with the policy, which keeps the
/// queues itself ([`crate::dsq`]). `cx` tells about machine, tasks and CPUs ([`View`]), and takes
/// what the policy does besides its answer: kicks, moves, timers, notes.
pub trait Policy {
    /// Its name and what distinguishes it: `cfs-4.1`, `osv thyst=2ms`.
    fn name(&self) -> String;
    /// Whether the numbers of CPUs mean nothing to it: renumbering CPUs that are alike changes no
    /// figure of a run.
    ///
    /// CPUs are alike if they are as fast, no core has two, and affinities do not tell them apart:
    /// every task may use all of them, or they are parted into sets of which each task has one.
    /// Between idle CPUs that only later affinities or a CPU going off will tell apart, whoever
    /// has to choose can but take the lowest.
    fn symmetric(&self) -> bool {
        false
    }
    /// Begins: asks for ticks, timers and kernel threads. No task exists yet.
    fn init(&mut self, cx: &mut Context);
    /// Where `task`, which was last on `prev`, should be queued: one of its CPUs that is online.
    fn select_cpu(&mut self, cx: &mut Context, task: TaskId, prev: CpuId, why: Why) -> CpuId;
    /// `task` waits on `cpu` from now on. Kicks that CPU if it should look for its next task.
    fn enqueue(&mut self, cx: &mut Context, task: TaskId, cpu: CpuId, why: Why);
    /// A queued task leaves without having run.
    fn dequeue(&mut self, cx: &mut Context, task: TaskId, cpu: CpuId);
    /// Who runs next on `cpu`. It leaves the queue; `None` is idle. Whoever ran before has been
    /// enqueued again if it wants to run on. A task queued on another CPU is moved here first
    /// ([`Context::moved`]).
    fn dispatch(&mut self, cx: &mut Context, cpu: CpuId) -> Option<TaskId>;
    /// `task` begins to run on `cpu`.
    fn running(&mut self, cx: &mut Context, cpu: CpuId, task: TaskId);
    /// `task` no longer runs on `cpu`; if `runnable` it is enqueued next.
    fn stopping(&mut self, cx: &mut Context, cpu: CpuId, task: TaskId, runnable: bool);
    /// The tick of `cpu`.
    fn tick(&mut self, cx: &mut Context, cpu: CpuId) {
        let _ = (cx, cpu);
    }
    /// `cpu` became idle, or is idle no more.
    fn update_idle(&mut self, cx: &mut Context, cpu: CpuId, idle: bool) {
        let _ = (cx, cpu, idle);
    }
    /// Anything else.
    fn on(&mut self, cx: &mut Context, happening: Happening) {
        let _ = (cx, happening);
    }
}

impl<P: Policy + ?Sized> Policy for Box<P> {
    fn name(&self) -> String {
        (**self).name()
    }
    fn symmetric(&self) -> bool {
        (**self).symmetric()
    }
    fn init(&mut self, cx: &mut Context) {
        (**self).init(cx);
    }
    fn select_cpu(&mut self, cx: &mut Context, task: TaskId, prev: CpuId, why: Why) -> CpuId {
        (**self).select_cpu(cx, task, prev, why)
    }
    fn enqueue(&mut self, cx: &mut Context, task: TaskId, cpu: CpuId, why: Why) {
        (**self).enqueue(cx, task, cpu, why);
    }
    fn dequeue(&mut self, cx: &mut Context, task: TaskId, cpu: CpuId) {
        (**self).dequeue(cx, task, cpu);
    }
    fn dispatch(&mut self, cx: &mut Context, cpu: CpuId) -> Option<TaskId> {
        (**self).dispatch(cx, cpu)
    }
    fn running(&mut self, cx: &mut Context, cpu: CpuId, task: TaskId) {
        (**self).running(cx, cpu, task);
    }
    fn stopping(&mut self, cx: &mut Context, cpu: CpuId, task: TaskId, runnable: bool) {
        (**self).stopping(cx, cpu, task, runnable);
    }
    fn tick(&mut self, cx: &mut Context, cpu: CpuId) {
        (**self).tick(cx, cpu);
    }
    fn update_idle(&mut self, cx: &mut Context, cpu: CpuId, idle: bool) {
        (**self).update_idle(cx, cpu, idle);
    }
    fn on(&mut self, cx: &mut Context, happening: Happening) {
        (**self).on(cx, happening);
    }
}
