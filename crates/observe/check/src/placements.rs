//! Placements of woken and new tasks: how many went to a busy CPU although an allowed CPU was idle,
//! how often the previous CPU was idle, and how evenly new tasks were spread.
//!
//! # Why it matters
//! Most waste begins with a wakeup onto a busy CPU while another CPU is idle; the balancer has to
//! repair it later. If the *previous* CPU was idle, the choice was wrong in every respect, because
//! its cache was warm, too. This is the case of `wake_affine_idle`, fixed in Linux 5.11 by
//! d8fcb81f1acf. A new task has no previous CPU and no warm cache, so crowding new tasks on a few
//! CPUs has no advantage. If `exec` moves a task, the task already runs. Such a move is a
//! migration, not a placement.

use wastenot_model::{
    CpuId, CpuMode, CpuSet, CpuState, Entry, Event, History, How, Observer, Phase, State, TaskId,
    TaskState,
};

use crate::{Movable, Scope};

/// Counts of one kind of wakeup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Landed {
    /// All wakeups with a known placement.
    pub total: u64,
    /// Wakeups onto an idle CPU.
    pub on_idle: u64,
    /// Onto a busy CPU while no CPU that the task may use was idle.
    pub on_busy_none_idle: u64,
    /// Onto a busy CPU while one that the task may use was idle.
    pub on_busy_some_idle: u64,
    /// The part of these while the previous CPU was idle.
    pub on_busy_prev_idle: u64,
}

impl Landed {
    fn count(&mut self, landing: Landing) {
        self.total += 1;
        match landing {
            Landing::Unknown => {}
            Landing::OnIdle => self.on_idle += 1,
            Landing::NoneIdle => self.on_busy_none_idle += 1,
            Landing::SomeIdle { previous } => {
                self.on_busy_some_idle += 1;
                self.on_busy_prev_idle += u64::from(previous);
            }
        }
    }
    fn add(&mut self, other: &Landed) {
        self.total += other.total;
        self.on_idle += other.on_idle;
        self.on_busy_none_idle += other.on_busy_none_idle;
        self.on_busy_some_idle += other.on_busy_some_idle;
        self.on_busy_prev_idle += other.on_busy_prev_idle;
    }
}

/// The state of the CPU where a woken or new task was queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Landing {
    /// The state of the CPU is unknown.
    Unknown,
    /// On an idle CPU.
    OnIdle,
    /// On a busy CPU while no CPU that the task may use was idle.
    NoneIdle,
    /// On a busy CPU while one that the task may use was idle: its `previous` one, or another.
    SomeIdle {
        /// Whether the previous CPU was idle.
        previous: bool,
    },
}

impl Landing {
    /// Of `task`, which was just queued on `cpu`, while these CPUs are `idle`.
    pub(crate) fn of<I: Iterator<Item = CpuId>>(
        history: &History,
        movable: &Movable,
        state: &State,
        task: TaskId,
        cpu: CpuId,
        idle: impl Fn() -> I,
    ) -> Landing {
        let at = state.cpu(cpu);
        match at.mode {
            CpuMode::Unknown | CpuMode::Offline => Landing::Unknown,
            CpuMode::Idle if at.waiting <= 1 => Landing::OnIdle,
            _ if idle().next().is_none() => Landing::NoneIdle,
            _ => {
                let known = state.task(task);
                let mask = known.mask.and_then(|mask| history.mask(mask));
                let allowed = || idle().filter(|cpu| mask.is_none_or(|mask| mask.contains(*cpu)));
                if !movable.is_movable(task, &known) || allowed().next().is_none() {
                    return Landing::NoneIdle;
                }
                let previous = known.prev.is_some_and(|prev| allowed().any(|cpu| cpu == prev));
                Landing::SomeIdle { previous }
            }
        }
    }
}

/// How many new tasks each CPU got, of those that might have been put on several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spread {
    by_cpu: Vec<u64>,
    /// The CPUs that any of them may use.
    may_use: CpuSet,
}

impl Spread {
    /// Jain's fairness index (Jain, Chiu, Hawe 1984) of the numbers of tasks over the CPUs that
    /// they may use, or over as many CPUs as there are tasks: 1 where all got equally many, 1/n
    /// where one of n got all. `None` without tasks.
    pub fn index(&self) -> Option<f64> {
        let tasks: u64 = self.by_cpu.iter().sum();
        let squares: f64 = self.by_cpu.iter().map(|&n| n as f64 * n as f64).sum();
        let cpus = tasks.min(self.may_use.len() as u64);
        (tasks > 0).then(|| tasks as f64 * tasks as f64 / (cpus as f64 * squares))
    }

    fn add(&mut self, cpu: CpuId, may_use: &CpuSet) {
        if may_use.len() < 2 {
            return; // it could not have been put elsewhere
        }
        self.may_use.insert_all(may_use);
        if self.by_cpu.len() <= cpu.index() {
            self.by_cpu.resize(cpu.index() + 1, 0);
        }
        self.by_cpu[cpu.index()] += 1;
    }
}

/// The placements of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placements {
    /// `sched_wakeup`.
    pub wakeups: Landed,
    /// `sched_wakeup` by [`TaskId::index`].
    pub wakeups_by_task: Vec<Landed>,
    /// `sched_wakeup_new`.
    pub forks: Landed,
    /// The CPUs that got movable new tasks.
    pub spread: Spread,
    /// Wakeups of tasks that were still queued: no CPU was selected.
    pub(crate) no_selection: u64,
}

/// The observer.
#[derive(Debug)]
pub struct Watch<'a> {
    history: &'a History,
    scope: &'a Scope,
    movable: &'a Movable,
    /// The counted CPUs that are idle.
    idle: CpuSet,
    /// Counted CPUs that are not offline.
    online: CpuSet,
    /// The task whose wait began with the current event.
    begun: Option<TaskId>,
    found: Placements,
}

impl<'a> Watch<'a> {
    /// Watches `history` within `scope`.
    pub fn new(history: &'a History, scope: &'a Scope, movable: &'a Movable) -> Watch<'a> {
        Watch {
            history,
            scope,
            movable,
            idle: CpuSet::new(),
            online: scope.cpus().collect(),
            begun: None,
            found: Placements {
                wakeups_by_task: vec![Landed::default(); history.task_count()],
                ..Placements::default()
            },
        }
    }

    /// The placements, after the end of the replay.
    pub fn finish(mut self) -> Placements {
        let found = &mut self.found;
        found.wakeups_by_task.iter().for_each(|landed| found.wakeups.add(landed));
        self.found
    }

    fn landed(&mut self, state: &State, task: TaskId, cpu: CpuId, how: How) {
        if how == How::NoSelection {
            self.found.no_selection += 1;
            return;
        }
        let idle = || self.idle.iter();
        let landing = Landing::of(self.history, self.movable, state, task, cpu, idle);
        if landing == Landing::Unknown {
            return;
        }
        if how == How::Wakeup {
            if let Some(index) = task.index() {
                self.found.wakeups_by_task[index].count(landing);
            }
            return;
        }
        self.found.forks.count(landing);
        let known = state.task(task);
        if self.movable.is_movable(task, &known) {
            let mask = known.mask.and_then(|mask| self.history.mask(mask));
            let may_use = mask.map(|mask| self.online.and(mask));
            self.found.spread.add(cpu, may_use.as_ref().unwrap_or(&self.online));
        }
    }
}

impl Observer for Watch<'_> {
    /// Waits that are there at the start did not begin then.
    fn begun(&mut self, _: &State) {
        self.begun = None;
    }

    #[inline]
    fn task(&mut self, _: &State, task: TaskId, was: &TaskState, now: &TaskState) {
        if now.phase == Phase::Waiting && was.phase != Phase::Waiting {
            self.begun = Some(task);
        }
    }

    #[inline]
    fn cpu(&mut self, _: &State, cpu: CpuId, was: &CpuState, now: &CpuState) {
        match (was.is_idle(), now.is_idle() && self.scope.has_cpu(cpu)) {
            (false, true) => self.idle.insert(cpu),
            (true, false) => self.idle.remove(cpu),
            _ => {}
        }
        match now.mode {
            CpuMode::Offline => self.online.remove(cpu),
            _ if was.mode == CpuMode::Offline && self.scope.has_cpu(cpu) => self.online.insert(cpu),
            _ => {}
        }
    }

    #[inline(always)]
    fn event(&mut self, state: &State, entry: &Entry) {
        let begun = self.begun.take();
        let Event::Queued { task, on: Some(cpu), how, .. } = entry.event else { return };
        let counts = begun == Some(task)
            && self.scope.has_task(task)
            && self.scope.has_cpu(cpu)
            && self.scope.window.holds(state.now());
        if counts {
            self.landed(state, task, cpu, how);
        }
    }
}
