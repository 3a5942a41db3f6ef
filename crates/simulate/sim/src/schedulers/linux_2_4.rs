//! Linux 2.4 (2.4.21, kernel/sched.c): one queue for all CPUs, and a time slice that is a counter.
//!
//! The runnable task of highest *goodness* runs: what is left of its slice, plus a bonus if it last
//! ran on this CPU, plus a bonus for a low nice value. When all runnable tasks have used up their
//! slices, every task, asleep or not, gets half of what it has left and a new slice: tasks that
//! slept have up to twice as much. A decision looks at every runnable task and a new epoch at every
//! task: the cost grows with their number, which is why 2.6 replaced it.
//!
//! The ticks of the CPUs are not simultaneous: each CPU starts its timer at a different offset
//! within the period (`setup_APIC_timer`), so that tasks that began together do not end their
//! slices together. Alpha is assumed to do the same.
//!
//! Left out: real-time classes, the bonus of one point for threads of one process, and that a child
//! returns the rest of its slice to its parent.

use wastenot_model::policy::{Context, Happening, Tick, Why};
use wastenot_model::{CpuId, Policy, TaskId};

use super::{Make, Scheduler, Settings, Tunable, Values, queued_on};

pub(super) const SCHEDULER: Scheduler = Scheduler {
    name: "linux-2.4",
    about: "one global queue; the task with the highest goodness value runs next; when all tasks \
            have used up their counters, the counters are recalculated",
    source: "Linux 2.4.21 kernel/sched.c",
    groups: false,
    tunables: &[Tunable {
        name: "arch",
        about: "the architecture. `i386`: 100 ticks per second, and a penalty of 15 for a change \
                of CPU. `alpha`: 1024 ticks per second, and a penalty of 20",
        values: Values::Words(&["i386", "alpha"]),
        default: "i386",
    }],
    make: Make::Policy(|settings: &Settings| {
        let arch = if settings.word("arch") == "alpha" { ALPHA } else { I386 };
        let name = settings.label(&SCHEDULER);
        Box::new(Linux24 { name, arch, runnable: Vec::new(), tasks: Vec::new(), cpus: Vec::new() })
    }),
};

/// What differs between architectures.
#[derive(Clone, Copy, Debug)]
struct Arch {
    /// `HZ`.
    hz: u64,
    /// The bonus of a task on the CPU where it last ran (`PROC_CHANGE_PENALTY`).
    penalty: i32,
}

const I386: Arch = Arch { hz: 100, penalty: 15 };
const ALPHA: Arch = Arch { hz: 1024, penalty: 20 };

/// The policy.
#[derive(Debug)]
struct Linux24 {
    name: String,
    arch: Arch,
    /// The runnable tasks, including those that run; the last woken first.
    runnable: Vec<TaskId>,
    tasks: Vec<Task>,
    cpus: Vec<Cpu>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Task {
    /// Ticks left of its slice.
    counter: i32,
    running: bool,
    /// It yields, this once.
    yields: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Cpu {
    current: Option<TaskId>,
    /// It was told to pick its next task, and has not yet.
    told: bool,
}

impl Linux24 {
    fn task(&mut self, task: TaskId) -> &mut Task {
        let index = task.ordinal();
        self.tasks.resize(self.tasks.len().max(index + 1), Task::default());
        &mut self.tasks[index]
    }
    fn counter(&self, task: TaskId) -> i32 {
        self.tasks[task.ordinal()].counter
    }

    /// How much `task` deserves `cpu`; 0 once its slice is used up.
    fn goodness(&self, cx: &Context, task: TaskId, cpu: CpuId) -> i32 {
        let counter = self.counter(task);
        if counter == 0 {
            return 0;
        }
        let view = cx.task(task);
        let stays = if view.cpu == cpu { self.arch.penalty } else { 0 };
        counter + stays + 20 - i32::from(view.nice)
    }

    /// The CPU that a runnable task should get: the one where it was, else the one that is idle for
    /// longest, else the one where it exceeds the goodness of the current task by most; `None` if
    /// it exceeds none.
    fn target(&self, cx: &Context, task: TaskId, prev: CpuId) -> Option<CpuId> {
        let free = |cpu: CpuId| {
            let state = &self.cpus[cpu.index()];
            cx.online.contains(cpu) && state.current.is_none() && !state.told
        };
        if free(prev) && cx.allowed(task, prev) {
            return Some(prev);
        }
        let allowed = || cx.online.iter().filter(|&cpu| cx.allowed(task, cpu));
        let idle = allowed().filter(|&cpu| free(cpu));
        let longest = idle.min_by_key(|cpu| cx.cpus[cpu.index()].idle_since);
        longest.or_else(|| {
            let better = |cpu: CpuId| {
                let state = &self.cpus[cpu.index()];
                let current = state.current.filter(|_| !state.told)?;
                Some(self.goodness(cx, task, cpu) - self.goodness(cx, current, cpu))
            };
            let mut best = (0, None);
            for cpu in allowed() {
                if let Some(by) = better(cpu).filter(|&by| by > best.0) {
                    best = (by, Some(cpu));
                }
            }
            best.1
        })
    }

    fn tell(&mut self, cx: &mut Context, cpu: CpuId) {
        self.cpus[cpu.index()].told = true;
        cx.preempt(cpu);
    }

    /// The task with the highest goodness on `cpu`, and its goodness; the first in the list among
    /// equals.
    fn best(&self, cx: &Context, cpu: CpuId) -> Option<(i32, TaskId)> {
        let mut best: Option<(i32, TaskId)> = None;
        for &task in &self.runnable {
            let state = &self.tasks[task.ordinal()];
            if state.running || !cx.allowed(task, cpu) {
                continue;
            }
            let goodness = if state.yields { -1 } else { self.goodness(cx, task, cpu) };
            if best.is_none_or(|(most, _)| goodness > most) {
                best = Some((goodness, task));
            }
        }
        best
    }

    /// A new epoch: each task gets half of what is left and a new slice.
    fn recalculate(&mut self, cx: &Context) {
        for (task, view) in self.tasks.iter_mut().zip(&cx.tasks) {
            task.counter = task.counter / 2 + self.arch.slice(view.nice);
        }
    }
}

impl Arch {
    /// Ticks of a whole slice, which is about 50 ms long at nice 0 whatever `HZ` is
    /// (`NICE_TO_TICKS`).
    fn slice(self, nice: i8) -> i32 {
        let left = 20 - i32::from(nice);
        1 + match self.hz {
            ..200 => left / 4,
            200..400 => left / 2,
            400..800 => left,
            _ => left * 2,
        }
    }
}

impl Policy for Linux24 {
    fn name(&self) -> String {
        self.name.clone()
    }
    fn init(&mut self, cx: &mut Context) {
        self.cpus = vec![Cpu::default(); cx.cpus.len()];
        cx.set_tick(Tick { staggered: true, ..Tick::hz(self.arch.hz) });
    }

    fn select_cpu(&mut self, cx: &mut Context, task: TaskId, prev: CpuId, _: Why) -> CpuId {
        self.task(task);
        let prev = cx.fallback(task, prev);
        self.target(cx, task, prev).unwrap_or(prev)
    }

    fn enqueue(&mut self, cx: &mut Context, task: TaskId, cpu: CpuId, why: Why) {
        let state = self.task(task);
        (state.running, state.yields) = (false, why == Why::Yield);
        match why {
            Why::Preempted => return, // it never left the list
            Why::Yield => {
                self.runnable.retain(|&other| other != task);
                return self.runnable.push(task);
            }
            _ => {}
        }
        self.runnable.retain(|&other| other != task);
        self.runnable.insert(0, task);
        if let Some(cpu) = self.target(cx, task, cpu) {
            if cx.task(task).cpu != cpu {
                cx.moved(task, cpu);
            }
            self.tell(cx, cpu);
        }
    }

    fn dequeue(&mut self, _: &mut Context, task: TaskId, _: CpuId) {
        self.runnable.retain(|&other| other != task);
    }

    fn dispatch(&mut self, cx: &mut Context, cpu: CpuId) -> Option<TaskId> {
        let state = &mut self.cpus[cpu.index()];
        let before = state.current.take();
        state.told = false;
        let mut best = self.best(cx, cpu);
        if best.is_some_and(|(goodness, _)| goodness == 0) {
            self.recalculate(cx);
            best = self.best(cx, cpu);
        }
        let (_, task) = best?;
        if cx.task(task).cpu != cpu {
            cx.moved(task, cpu);
        }
        let state = self.task(task);
        (state.running, state.yields) = (true, false);
        self.cpus[cpu.index()].current = Some(task);
        // The displaced task may find another CPU.
        let waits = |before: TaskId| !self.tasks[before.ordinal()].running;
        let before = before.filter(|&before| before != task && waits(before));
        if let Some(other) = before.and_then(|before| self.target(cx, before, cpu)) {
            self.tell(cx, other);
        }
        Some(task)
    }

    fn running(&mut self, _: &mut Context, _: CpuId, _: TaskId) {}

    fn stopping(&mut self, _: &mut Context, cpu: CpuId, task: TaskId, runnable: bool) {
        if !runnable {
            self.task(task).running = false;
            self.cpus[cpu.index()].current = None;
            self.runnable.retain(|&other| other != task);
        }
    }

    fn tick(&mut self, cx: &mut Context, cpu: CpuId) {
        let Some(task) = self.cpus[cpu.index()].current else { return };
        let state = self.task(task);
        state.counter = (state.counter - 1).max(0);
        if state.counter == 0 {
            self.tell(cx, cpu);
        }
    }

    /// A child gets half of what its parent has left.
    fn on(&mut self, cx: &mut Context, happening: Happening) {
        match happening {
            Happening::Fork { parent: Some(parent), child } => {
                let left = self.counter(parent);
                self.task(parent).counter = left / 2;
                self.task(child).counter = (left + 1) / 2;
            }
            Happening::Cpu { cpu, up: false } => {
                self.cpus[cpu.index()] = Cpu::default();
                for task in queued_on(cx, cpu) {
                    let to = cx.fallback(task, cpu);
                    cx.moved(task, to);
                    if let Some(cpu) = self.target(cx, task, to) {
                        self.tell(cx, cpu);
                    }
                }
            }
            Happening::Fork { parent: None, child } => {
                self.task(child).counter = self.arch.slice(cx.task(child).nice);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_60_ms_or_40_ms_at_nice_0_and_never_none() {
        assert_eq!([-20, 0, 19].map(|nice| I386.slice(nice)), [11, 6, 1]);
        assert_eq!([-20, 0, 19].map(|nice| ALPHA.slice(nice)), [81, 41, 3]);
    }
}
