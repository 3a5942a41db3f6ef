//! The waits of tasks, and the latencies from their wakeups, for each task and CPU.
//!
//! A wait lasts from queueing to running. Waits with an unknown beginning are counted separately.
//! Latencies are measured from `sched_waking` and from `sched_wakeup`.

use wastenot_model::{
    CpuId, History, Length, Observer, Origin, Phase, State, TaskId, TaskState, Time, Window,
};

use crate::{Distribution, Scope};

/// Waits of one task, or on one CPU.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waited {
    /// Every wait that ended in a run within the window.
    pub waits: Distribution,
    /// The run time of tasks.
    pub run_ns: u64,
    /// The number of times that tasks were switched in.
    pub runs: u64,
}

impl Waited {
    /// Whether anything ran.
    pub(crate) fn is_met(&self) -> bool {
        self.runs > 0 || self.run_ns > 0
    }
}

/// The waits and latencies of a trace.
#[derive(Clone, Debug, Default)]
pub struct Waits {
    /// All waits.
    pub all: Waited,
    /// From `sched_waking` to running.
    pub from_waking: Distribution,
    /// From `sched_wakeup` (or `wakeup_new`) to running.
    pub from_wakeup: Distribution,
    /// From being preempted to running again.
    pub preempted: Distribution,
    /// The number of runs after a wait with an unknown beginning.
    pub(crate) unknown_starts: u64,
    /// By task, at [`TaskId::index`].
    pub by_task: Vec<Waited>,
    /// By the CPU on which the task ran after the wait.
    pub by_cpu: Vec<(CpuId, Waited)>,
}

/// The observer.
#[derive(Debug)]
pub struct Watch<'a> {
    scope: &'a Scope,
    /// The start is told: who comes to run comes from a wait.
    begun: bool,
    tasks: Waiters,
    cpus: Waiters,
    found: Waits,
}

/// Waits from which on the last ones are collected.
const OFTEN: u64 = 1000;

/// Tasks or CPUs. The buckets of one distribution fill many cache lines, and those of all of them
/// fit no cache: so the last waits of each are collected side by side, and go to their buckets
/// together.
#[derive(Debug)]
struct Waiters {
    waited: Vec<Waited>,
    /// Of each that waits often.
    recent: Vec<Option<Box<Recent>>>,
}

/// Waits, in ns, that are no part of their distribution yet.
#[derive(Clone, Debug, Default)]
struct Recent {
    waits: [u64; 8],
    kept: usize,
}

impl Waiters {
    fn new(count: usize) -> Waiters {
        Waiters { waited: vec![Waited::default(); count], recent: vec![None; count] }
    }

    /// The `n`th ran for `ns`.
    #[inline]
    fn ran(&mut self, n: usize, ns: u64) {
        if let Some(waited) = self.waited.get_mut(n) {
            waited.run_ns = waited.run_ns.saturating_add(ns);
        }
    }

    /// The `n`th starts to run, after it waited for `wait_ns` if that is known.
    #[inline]
    fn starts(&mut self, n: usize, wait_ns: Option<u64>) {
        self.waited[n].runs += 1;
        let Some(wait_ns) = wait_ns else { return };
        match &mut self.recent[n] {
            Some(recent) if recent.kept < recent.waits.len() => {
                recent.waits[recent.kept] = wait_ns;
                recent.kept += 1;
            }
            _ => self.add_slowly(n, wait_ns),
        }
    }

    #[inline(never)]
    fn add_slowly(&mut self, n: usize, wait_ns: u64) {
        self.settle(n);
        let waits = &mut self.waited[n].waits;
        waits.add(wait_ns);
        if self.recent[n].is_none() && waits.count > OFTEN {
            self.recent[n] = Some(Box::default());
        }
    }

    /// Every wait of the `n`th is part of its distribution.
    fn settle(&mut self, n: usize) {
        let Some(recent) = &mut self.recent[n] else { return };
        for &wait_ns in &recent.waits[..std::mem::take(&mut recent.kept)] {
            self.waited[n].waits.add(wait_ns);
        }
    }

    fn finish(mut self) -> Vec<Waited> {
        (0..self.waited.len()).for_each(|n| self.settle(n));
        self.waited
    }
}

impl<'a> Watch<'a> {
    /// Watches `history` within `scope`.
    pub fn new(history: &History, scope: &'a Scope) -> Watch<'a> {
        Watch {
            scope,
            begun: false,
            tasks: Waiters::new(history.task_count()),
            cpus: Waiters::new(history.cpu_count()),
            found: Waits::default(),
        }
    }

    /// The waits and latencies, after the end of the replay.
    pub fn finish(mut self) -> Waits {
        self.found.by_task = self.tasks.finish();
        let cpus = self.cpus.finish();
        for waited in &cpus {
            self.found.all.waits.merge(&waited.waits);
            self.found.all.run_ns = self.found.all.run_ns.saturating_add(waited.run_ns);
            self.found.all.runs += waited.runs;
        }
        let cpus = cpus.into_iter().enumerate().filter(|(_, waited)| waited.is_met());
        self.found.by_cpu = cpus.map(|(n, waited)| (CpuId(n as u16), waited)).collect();
        self.found
    }

    /// `task` ran on `cpu` in `window`.
    #[inline]
    fn ran(&mut self, task: TaskId, cpu: CpuId, window: Window) {
        if !self.counts(task, cpu) {
            return;
        }
        let ns = self.scope.counted_ns(window.from, window.to);
        if let Some(index) = task.index() {
            self.tasks.ran(index, ns);
        }
        self.cpus.ran(cpu.index(), ns);
    }

    #[inline]
    fn counts(&self, task: TaskId, cpu: CpuId) -> bool {
        self.scope.has_task(task) && self.scope.has_cpu(cpu)
    }

    /// `task`, which `was` so, starts to run on `cpu`.
    #[inline]
    fn starts(&mut self, task: TaskId, cpu: CpuId, was: &TaskState, now: Time) {
        let Some(index) = task.index() else { return };
        let known = match was.origin {
            Origin::Unknown => false,
            // Where a quota is filled unseen, it is told only when the task runs.
            Origin::Released => was.phase == Phase::Waiting && was.since < now,
            _ => was.phase == Phase::Waiting,
        };
        let wait_ns = known.then(|| now.since(was.since).0);
        self.tasks.starts(index, wait_ns);
        self.cpus.starts(cpu.index(), wait_ns);
        let Some(wait_ns) = wait_ns else {
            self.found.unknown_starts += 1;
            return;
        };
        let wait = Length::new(wait_ns);
        match was.origin {
            Origin::Wakeup | Origin::NoSelection | Origin::Waking => {
                if was.origin != Origin::Waking {
                    self.found.from_wakeup.add_length(wait);
                }
                if let Some(waking) = was.waking {
                    self.found.from_waking.add(now.since(waking).0);
                }
            }
            Origin::Fork => self.found.from_wakeup.add_length(wait),
            Origin::Preempted | Origin::Yielded => self.found.preempted.add_length(wait),
            Origin::Released | Origin::Unknown => {}
        }
    }
}

/// The CPU where a task runs, if it runs.
#[inline]
fn runs_on(is: &TaskState) -> Option<CpuId> {
    is.cpu.filter(|_| is.phase == Phase::Running)
}

impl Observer for Watch<'_> {
    fn begun(&mut self, _: &State) {
        self.begun = true;
    }

    #[inline]
    fn task(&mut self, state: &State, task: TaskId, was: &TaskState, now: &TaskState) {
        let (ran, runs) = (runs_on(was), runs_on(now));
        if ran == runs {
            return;
        }
        let time = state.now();
        match (ran, runs) {
            // A run has begun when its task came to run, or before the start.
            (Some(cpu), _) => self.ran(task, cpu, Window { from: was.since, to: time }),
            (None, Some(cpu)) => {
                let counts = self.begun && self.counts(task, cpu);
                if counts && self.scope.window.holds(time) {
                    self.starts(task, cpu, was, time);
                }
            }
            (None, None) => {}
        }
    }

    fn end(&mut self, state: &State) {
        for task in (0..state.task_count()).map(TaskId::nth) {
            let is = state.task(task);
            if let Some(cpu) = runs_on(&is) {
                self.ran(task, cpu, Window { from: is.since, to: state.now() });
            }
        }
    }
}
