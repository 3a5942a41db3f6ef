//! What each CPU runs, who waits where, and what is unknown: the one interpreter of events.

mod apply;
mod changes;
mod doubt;
pub(crate) mod observer;
pub(crate) mod past;
mod queue;
pub(crate) mod replay;
pub(crate) mod start;

use self::changes::Changes;
use self::queue::Link;
use crate::{By, Carries, Context, CpuId, MaskId, TaskId, Time, Window};

/// What a CPU does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CpuMode {
    /// Nothing is known: events were lost, or none was seen yet.
    Unknown,
    /// It is down.
    Offline,
    /// It runs its idle task.
    Idle,
    /// It runs this task.
    Busy(TaskId),
}

impl CpuMode {
    /// Of a CPU that runs `task`, which may be its idle task.
    #[inline]
    fn running(task: TaskId) -> CpuMode {
        if task.is_idle() { CpuMode::Idle } else { CpuMode::Busy(task) }
    }
}

/// One CPU.
#[derive(Clone, Copy, Debug)]
pub struct CpuState {
    /// What it does.
    pub mode: CpuMode,
    /// Since when.
    pub since: Time,
    /// How many tasks wait on its run queue (the running one not counted).
    pub waiting: u32,
    /// Neither a switch nor a loss of this CPU is in the whole History.
    pub silent: bool,
    head: u32,
    tail: u32,
}

/// Where a task is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Not known.
    Unknown,
    /// It runs on its `cpu`.
    Running,
    /// It is queued on its `cpu` (`None`: the source does not tell where) and wants to run.
    Waiting,
    /// It wants to run, and a quota holds it back: it is on no run queue until that is filled
    /// again, and then on that of its `cpu`.
    Held,
    /// It sleeps; `cpu` is where it ran last.
    Sleeping,
    /// It was created and not queued yet.
    New,
    /// It will not run again.
    Dead,
}

impl Phase {
    /// Whether a task wants to run then, be it that a quota holds it back.
    #[inline]
    pub fn wants_to_run(self) -> bool {
        matches!(self, Phase::Running | Phase::Waiting | Phase::Held)
    }
}

/// How a wait began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// Not known: it waited when the recording began, or after a loss.
    Unknown,
    /// A wakeup for which a CPU was selected.
    Wakeup,
    /// A wakeup of a task that was still queued: no CPU was selected.
    NoSelection,
    /// A waking, in a recording that does not tell wakeups: it is queued since then at the
    /// earliest, and may not be yet.
    Waking,
    /// It was just created.
    Fork,
    /// It was preempted in the kernel (`R+`).
    Preempted,
    /// It was switched out runnable (`R`): its slice ended at the return to user mode, or it
    /// yielded.
    Yielded,
    /// A quota held it back until then.
    Released,
}

impl Origin {
    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Origin::Unknown => "unknown",
            Origin::Wakeup => "wakeup",
            Origin::NoSelection => "no-selection",
            Origin::Waking => "waking",
            Origin::Fork => "fork",
            Origin::Preempted => "preemption",
            Origin::Yielded => "slice end",
            Origin::Released => "quota refilled",
        }
    }
    /// Whether the task was switched out and wanted to go on.
    #[inline]
    pub fn is_switched_out(self) -> bool {
        matches!(self, Origin::Preempted | Origin::Yielded)
    }
    /// Whether the task is surely queued since its wait began.
    #[inline]
    pub fn is_sure(self) -> bool {
        self != Origin::Waking
    }
}

/// One task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TaskState {
    /// When the current phase began.
    pub since: Time,
    /// The last waking, if any.
    pub waking: Option<Time>,
    /// Who was current on the waking CPU, and in which context.
    pub waker: By,
    /// The CPU that did the waking.
    pub waker_cpu: CpuId,
    /// Where it was last when it was woken, created or switched out.
    pub prev: Option<CpuId>,
    /// Where it runs, waits, or was last.
    pub cpu: Option<CpuId>,
    /// The CPUs it may run on, where known.
    pub mask: Option<MaskId>,
    /// Where in its life it is.
    pub phase: Phase,
    /// How its wait began; of the last wait when it does not wait.
    pub origin: Origin,
    /// How often it was moved during this wait.
    pub moves: u16,
    /// A quota holds it back whenever it wants to run.
    pub throttled: bool,
    /// Migration is disabled for it.
    pub migration_disabled: bool,
    /// Scheduling policy, where known (5 is `SCHED_IDLE`).
    pub policy: Option<u8>,
    /// Nice value, where known: of the last row that told it or the priority of a fair task.
    pub nice: Option<i8>,
}

/// What an event contradicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contradiction {
    /// A switch names a `prev` that State did not see running there.
    OtherPrev,
    /// A switch-in of a task that sleeps, without any waking.
    RanAsleep,
    /// A task runs although it runs on another CPU.
    RanTwice,
    /// A dead task acts.
    Undead,
}

/// A cache line: events touch tasks in no order.
const _: () = assert!(size_of::<TaskState>() <= 64);

const NO_TASK: u32 = u32::MAX;

/// When a wait begins; depends on what the source carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WaitRule {
    /// At `sched_wakeup`, on its target.
    AtQueued,
    /// At `sched_waking` on its target; a migrate that follows moves it (perf sched).
    AtWaking,
    /// At `sched_waking`, nowhere known (Perfetto's compact form).
    Unplaced,
}

/// The state of a machine at an instant of a History.
///
/// ```
/// use wastenot_model::*;
/// let mut state = State::new(2, Carries::WAKEUPS | Carries::PLACEMENT);
/// let task = TaskId::nth(0);
/// let cpu = CpuId(1);
/// let event = Event::Queued { task, on: Some(cpu), how: How::Wakeup, prio: Prio::UNKNOWN };
/// state.apply(&Entry { time: Time(5), cpu: CpuId(0), by: By::UNKNOWN, event }, &mut ());
/// assert_eq!(state.cpu(cpu).waiting, 1);
/// assert_eq!(state.waiting(cpu).collect::<Vec<_>>(), [task]);
/// ```
#[derive(Clone, Debug)]
pub struct State {
    now: Time,
    /// Up to here observers were told that time passed.
    told: Time,
    cpus: Vec<CpuState>,
    tasks: Vec<TaskState>,
    /// Beside each task, apart from it so that a task is one cache line.
    links: Vec<Link>,
    /// Waiting tasks whose CPU is not known, as a queue beside those of the CPUs.
    unplaced: CpuState,
    /// Tasks last touched before the current epoch are unknown: a loss ended theirs.
    epoch: u32,
    /// When rows of some CPU are missing, or a task may wait of which no row tells; in order.
    lacking: Vec<Window>,
    /// Some task was held back since the last loss.
    holds: bool,
    rule: WaitRule,
    changes: Changes,
}

/// Looks at nothing.
impl crate::Observer for () {}

impl TaskState {
    pub(crate) const UNKNOWN: TaskState = TaskState {
        since: Time(0),
        waking: None,
        waker: By { task: None, context: Context::Unknown },
        waker_cpu: CpuId(0),
        prev: None,
        cpu: None,
        mask: None,
        phase: Phase::Unknown,
        origin: Origin::Unknown,
        moves: 0,
        throttled: false,
        migration_disabled: false,
        policy: None,
        nice: None,
    };
}

impl CpuState {
    const UNKNOWN: CpuState = CpuState {
        mode: CpuMode::Unknown,
        since: Time(0),
        waiting: 0,
        silent: false,
        head: NO_TASK,
        tail: NO_TASK,
    };
    /// Whether a task that waits on it surely still waits. Where events were lost it may run
    /// already; on a silent CPU nothing can have started it unseen.
    #[inline]
    pub fn keeps_waiting(&self) -> bool {
        self.mode != CpuMode::Unknown || self.silent
    }
    /// It runs a task.
    #[inline]
    pub fn is_busy(&self) -> bool {
        matches!(self.mode, CpuMode::Busy(_))
    }
    /// How many tasks run or wait on it; `None` when that is not known.
    #[inline]
    pub fn length(&self) -> Option<u32> {
        match self.mode {
            CpuMode::Unknown | CpuMode::Offline => None,
            CpuMode::Idle | CpuMode::Busy(_) => Some(self.waiting + u32::from(self.is_busy())),
        }
    }
    /// It runs its idle task and nothing waits on it.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.mode == CpuMode::Idle && self.waiting == 0
    }
    /// It runs its idle task and something waits on it.
    #[inline]
    pub fn is_waking(&self) -> bool {
        self.mode == CpuMode::Idle && self.waiting > 0
    }
}

impl State {
    /// A machine of `cpus` CPUs of which nothing is known.
    pub fn new(cpus: usize, carries: Carries) -> State {
        let rule = match (carries.has(Carries::WAKEUPS), carries.has(Carries::PLACEMENT)) {
            (true, _) => WaitRule::AtQueued,
            (false, true) => WaitRule::AtWaking,
            (false, false) => WaitRule::Unplaced,
        };
        State {
            now: Time(0),
            told: Time(0),
            cpus: vec![CpuState::UNKNOWN; cpus],
            tasks: Vec::new(),
            links: Vec::new(),
            unplaced: CpuState::UNKNOWN,
            epoch: 0,
            lacking: Vec::new(),
            holds: false,
            rule,
            changes: Changes::default(),
        }
    }
    /// The time of the last event applied.
    pub fn now(&self) -> Time {
        self.now
    }
    /// Whether rows of some CPU are missing at `time`, so that any number of tasks may wait of
    /// which no row tells; and until when that stays so.
    #[inline]
    pub fn lacking(&self, time: Time) -> (bool, Time) {
        if self.lacking.is_empty() {
            return (false, Time::MAX);
        }
        let next = self.lacking.partition_point(|window| window.to <= time);
        match self.lacking.get(next) {
            Some(window) if window.from <= time => (true, window.to),
            Some(window) => (false, window.from),
            None => (false, Time::MAX),
        }
    }
    /// Number of CPUs.
    pub fn cpu_count(&self) -> usize {
        self.cpus.len()
    }
    /// Number of tasks met so far, idle ones not counted.
    pub fn task_count(&self) -> usize {
        self.tasks.len()
    }
    /// One CPU; an unknown one when the machine has no such CPU.
    pub fn cpu(&self, cpu: CpuId) -> &CpuState {
        self.cpus.get(cpu.index()).unwrap_or(&CpuState::UNKNOWN)
    }
    /// Every CPU with its id.
    pub fn cpus(&self) -> impl Iterator<Item = (CpuId, &CpuState)> {
        self.cpus.iter().enumerate().map(|(cpu, state)| (CpuId(cpu as u16), state))
    }
    /// One task; idle tasks and tasks never met are `Unknown`.
    pub fn task(&self, task: TaskId) -> TaskState {
        let index = task.index().filter(|&index| index < self.tasks.len());
        index.map_or(TaskState::UNKNOWN, |index| self.fresh(index))
    }
    /// One task where it lies: looking at a part of it is cheaper than a copy. `None` for idle
    /// tasks, tasks never met, and those of which a loss left nothing sure.
    #[inline]
    pub fn known(&self, task: TaskId) -> Option<&TaskState> {
        let index = task.index()?;
        let is_known = self.links.get(index)?.epoch == self.epoch;
        is_known.then(|| &self.tasks[index])
    }
    /// Who waits on `cpu`, in the order in which they came onto its run queue.
    pub fn waiting(&self, cpu: CpuId) -> impl Iterator<Item = TaskId> + '_ {
        self.queue(self.cpu(cpu).head)
    }
    /// Who has waited on `cpu` longest.
    pub fn first_waiting(&self, cpu: CpuId) -> Option<TaskId> {
        let head = self.cpu(cpu).head;
        (head != NO_TASK).then(|| TaskId::nth(head as usize))
    }
    /// Who waits at a place that the source does not tell.
    pub fn unplaced(&self) -> impl Iterator<Item = TaskId> + '_ {
        self.queue(self.unplaced.head)
    }
    /// How many wait at a place that the source does not tell.
    pub fn unplaced_count(&self) -> u32 {
        self.unplaced.waiting
    }

    fn queue(&self, head: u32) -> impl Iterator<Item = TaskId> + '_ {
        let mut next = head;
        std::iter::from_fn(move || {
            let task = (next != NO_TASK).then(|| TaskId::nth(next as usize))?;
            next = self.links[next as usize].after;
            Some(task)
        })
    }

    /// The task as it is known now: a loss since it was last seen makes it unknown.
    #[inline]
    fn fresh(&self, index: usize) -> TaskState {
        let task = &self.tasks[index];
        if self.links[index].epoch == self.epoch {
            return *task;
        }
        let TaskState { cpu, mask, policy, nice, .. } = *task;
        TaskState { cpu, mask, policy, nice, ..TaskState::UNKNOWN }
    }
}
