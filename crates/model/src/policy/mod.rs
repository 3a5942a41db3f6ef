//! A Policy: the decisions of a scheduler, in zero time.
//!
//! The ten calls are those of sched_ext (`struct sched_ext_ops`, kernel/sched/ext.c), with the same
//! meaning. When a decision is taken and what it costs is not part of a policy, but of its
//! mechanism.

mod context;

pub use context::{Context, CpuView, Effect, Note, Place, TaskView, View};

use crate::{CpuId, Span, TaskId, Time};

/// Why a task is placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It was woken. `sync`: the waker has announced that it is about to sleep.
    Wakeup {
        /// `WF_SYNC`.
        sync: bool,
    },
    /// It was woken while it was still on its queue ([`Policy::still_queued`]): no CPU is selected.
    Requeued,
    /// It is new. Its parent is the current task of the CPU, if there is one.
    New,
    /// It executes a new program, which is a good moment to be moved.
    Exec,
    /// It was preempted and is still runnable.
    Preempted,
    /// It yielded and is still runnable.
    Yield,
    /// It may not stay where it was: its affinity changed, or its CPU went off.
    Displaced,
}

/// A timer of a policy, numbered from 0 in the order of requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimerId(pub u32);

/// An event of tasks, of CPUs, or of the policy's own timers and threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happening {
    /// A timer that the policy armed.
    Timer(TimerId),
    /// A kernel thread of the policy has used its `work`; it sleeps again after this.
    Ran(TaskId),
    /// A CPU came up, or has gone off: no task runs there any more, and tasks that are queued there
    /// have to be moved.
    Cpu {
        /// Which CPU.
        cpu: CpuId,
        /// Whether it came up.
        up: bool,
    },
    /// A new task, before a CPU is selected for it.
    Fork {
        /// Its parent; `None` if the workload launches it.
        parent: Option<TaskId>,
        /// The new task.
        child: TaskId,
    },
    /// A task has ended.
    Exit(TaskId),
    /// The nice value of a task changed.
    Nice {
        /// Which task.
        task: TaskId,
        /// The old value.
        was: i8,
    },
    /// A task's affinity changed. If the task may not stay where it is, it is displaced after this.
    Affinity(TaskId),
}

/// Regular interrupts of CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tick {
    /// Time between two ticks of a CPU: 1 s / HZ.
    pub period: Span,
    /// Whether idle CPUs tick, too; otherwise they are tickless.
    pub idle: bool,
    /// Whether the CPUs' ticks are spread evenly over the period; otherwise all come at once.
    pub staggered: bool,
}

impl Tick {
    /// `hz` ticks per second, tickless when idle, on all CPUs at once.
    pub fn hz(hz: u64) -> Tick {
        Tick { period: Span(1_000_000_000 / hz), idle: false, staggered: false }
    }
    /// The first tick after `now` of `cpu`, which is one of `cpus` CPUs.
    pub fn after(&self, now: Time, cpu: CpuId, cpus: usize) -> Time {
        let share = if self.staggered { cpu.index() as u64 + 1 } else { 0 };
        let first = self.period.0 * share / (cpus as u64 + 1);
        let since = now.0.checked_sub(first);
        Time(first + since.map_or(0, |since| (since / self.period.0 + 1) * self.period.0))
    }
}

/// What a scheduler is like, as far as it decides why CPU time is lost under it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// The fair class of Linux, or a model of it.
    Fair,
    /// It leaves CPUs idle by design while tasks wait: gangs, fixed CPUs, partitions.
    Reserving,
    /// Any other.
    Other,
}

impl Family {
    /// The key of the note by which a simulated History names it.
    pub const NOTE: &str = "family";
    /// All of them.
    pub const ALL: [Family; 3] = [Family::Fair, Family::Reserving, Family::Other];
    /// As noted.
    pub fn name(self) -> &'static str {
        ["fair", "reserving", "other"][self as usize]
    }
}

/// Decides where tasks wait and which task runs next.
///
/// A task is in one place: it sleeps, runs on a CPU, or is queued with the policy, which keeps the
/// queues itself ([`crate::dsq`]). `cx` contains the machine, tasks and CPUs ([`View`]), and
/// collects the effects of the policy in addition to its answer: kicks, moves, timers, notes.
pub trait Policy {
    /// Its name and its settings: `cfs-4.1`, `osv thyst=2ms`.
    fn name(&self) -> String;
    /// What it is like.
    fn family(&self) -> Family {
        Family::Other
    }
    /// Whether CPU numbers mean nothing to the policy: renumbering CPUs that are alike changes no
    /// figure of a run.
    ///
    /// CPUs are alike if they have the same speed, no core has two of them, and affinities do not
    /// distinguish them: every task may use all of them, or they are partitioned into sets and each
    /// task may use one set. If only later affinities or a CPU going off will distinguish two idle
    /// CPUs, a policy has to choose one of them and can only take the lowest.
    fn symmetric(&self) -> bool {
        false
    }
    /// Begins: requests ticks, timers and kernel threads. No task exists yet.
    fn init(&mut self, cx: &mut Context);
    /// The CPU on which `task`, which was last on `prev`, should be queued: an online CPU that it
    /// may use.
    fn select_cpu(&mut self, cx: &mut Context, task: TaskId, prev: CpuId, why: Why) -> CpuId;
    /// Whether `task`, which sleeps, is still on the queue of its CPU (delayed dequeue, Linux
    /// 6.12). If it is woken, no CPU is selected for it: it is enqueued there, as
    /// [`Why::Requeued`].
    fn still_queued(&self, cx: &Context, task: TaskId) -> bool {
        let _ = (cx, task);
        false
    }
    /// `task` waits on `cpu` from now on. The policy kicks that CPU if it should pick its next
    /// task.
    fn enqueue(&mut self, cx: &mut Context, task: TaskId, cpu: CpuId, why: Why);
    /// A queued task leaves without having run.
    fn dequeue(&mut self, cx: &mut Context, task: TaskId, cpu: CpuId);
    /// The task that runs next on `cpu`; it leaves its queue. `None` makes the CPU idle. The task
    /// that ran before has been enqueued again if it is still runnable. A task queued on another
    /// CPU has to be moved here first ([`Context::moved`]).
    fn dispatch(&mut self, cx: &mut Context, cpu: CpuId) -> Option<TaskId>;
    /// `task` begins to run on `cpu`.
    fn running(&mut self, cx: &mut Context, cpu: CpuId, task: TaskId);
    /// `task` stops running on `cpu`; if it is `runnable` it is enqueued next.
    fn stopping(&mut self, cx: &mut Context, cpu: CpuId, task: TaskId, runnable: bool);
    /// The tick of `cpu`.
    fn tick(&mut self, cx: &mut Context, cpu: CpuId) {
        let _ = (cx, cpu);
    }
    /// `cpu` became idle, or is idle no more.
    fn update_idle(&mut self, cx: &mut Context, cpu: CpuId, idle: bool) {
        let _ = (cx, cpu, idle);
    }
    /// Any other event.
    fn on(&mut self, cx: &mut Context, happening: Happening) {
        let _ = (cx, happening);
    }
}

/// How far a step of a CPU went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Went {
    /// There are more.
    On,
    /// It was the last one.
    Over,
    /// The CPU found this task, which it runs from now on; there are more.
    Found(TaskId),
}

/// A policy that can also act step by step, as a kernel does: between two steps of one CPU, other
/// CPUs take theirs, so what was read may be outdated when it is used.
///
/// [`Steps::puts`] and [`Steps::looks`] stand for [`Policy::enqueue`] and [`Policy::dispatch`]; the
/// other calls are those of the policy.
pub trait Steps: Policy {
    /// The CPU that runs this code begins to put `task`, which waits on `cpu` from now on, into a
    /// queue.
    fn puts(&mut self, cx: &mut Context, task: TaskId, cpu: CpuId, why: Why);
    /// `cpu`, which runs nothing, begins to look for a task.
    fn looks(&mut self, cx: &mut Context, cpu: CpuId);
    /// The next step of what `cpu` has begun.
    fn goes_on(&mut self, cx: &mut Context, cpu: CpuId) -> Went;
}

impl<P: Policy + ?Sized> Policy for Box<P> {
    fn name(&self) -> String {
        (**self).name()
    }
    fn family(&self) -> Family {
        (**self).family()
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
    fn still_queued(&self, cx: &Context, task: TaskId) -> bool {
        (**self).still_queued(cx, task)
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

impl<P: Steps + ?Sized> Steps for Box<P> {
    fn puts(&mut self, cx: &mut Context, task: TaskId, cpu: CpuId, why: Why) {
        (**self).puts(cx, task, cpu, why);
    }
    fn looks(&mut self, cx: &mut Context, cpu: CpuId) {
        (**self).looks(cx, cpu);
    }
    fn goes_on(&mut self, cx: &mut Context, cpu: CpuId) -> Went {
        (**self).goes_on(cx, cpu)
    }
}
