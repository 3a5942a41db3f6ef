//! The second invariant: tasks that always want to run wait equally long, relative to their weight.
//!
//! At the end of each second, the released module looks at user threads that are not pinned and
//! have a load of at least 950 of 1024. Their weighted waiting times must be within 10 % of the
//! mean. If the mean is below 200 ms, each must be at most 110 % of 200 ms. The module uses loads
//! that are averaged over time, and no trace records these. Here, the load is the weight times the
//! share of the second in which the task ran or waited. The weighted waiting time is the waiting
//! time times the weight, divided by the weight of nice 0.
//!
//! A trace does not distinguish kernel threads from other threads either, so their names decide
//! ([`is_kernels`]).

use wastenot_model::nice::NICE_0;
use wastenot_model::{
    CpuId, CpuMode, Phase, Span, State, Task, TaskId, TaskState, Time, is_kernel_thread,
};

use super::LISTED;
use super::idle::Part;
use super::weights;

/// A task waited for longer, or for less long, than its equals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deficit {
    /// The end of the time that was summed up.
    pub time: Time,
    /// Who.
    pub task: TaskId,
    /// Where it runs, waits or was last.
    pub cpu: CpuId,
    /// For how long it waited.
    pub wait: Span,
    /// The same weighted.
    pub weighted: Span,
    /// The mean of its equals, itself counted.
    pub mean: Span,
}

/// Loads from here on count: of nice 0, 93 % of the time.
const LOAD: u64 = 950;
/// What the mean, of a second, is small below: in thousandths.
const SMALL: u64 = 200;

#[derive(Clone, Debug)]
pub(super) struct Deficits {
    period: Span,
    /// When this period began, and where what was so is added up to.
    from: Time,
    sums: Vec<Sum>,
    /// Tasks with anything to sum up in this period.
    active: Vec<TaskId>,
    count: u64,
    first: Vec<Deficit>,
}

/// Of one task, in this period.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    run_ns: u64,
    wait_ns: u64,
    until: Time,
}

/// A task that wanted to run all the time.
#[derive(Clone, Copy, Debug)]
struct Equal {
    task: TaskId,
    cpu: CpuId,
    wait_ns: u64,
    weighted: u64,
}

impl Deficits {
    pub(super) fn new(period: Span, from: Time) -> Deficits {
        let period = period.max(Span(1));
        let (sums, active) = (Vec::new(), Vec::new());
        Deficits { period, from, sums, active, count: 0, first: Vec::new() }
    }

    pub(super) fn take(&mut self) -> (u64, Vec<Deficit>) {
        (std::mem::take(&mut self.count), std::mem::take(&mut self.first))
    }

    /// `task` was `was` until `now`.
    #[inline]
    pub(super) fn changed(&mut self, now: Time, task: TaskId, was: &TaskState) {
        // In any other phase nothing is summed up, and what comes next begins when that ends.
        if !matches!(was.phase, Phase::Running | Phase::Waiting | Phase::Unknown) {
            return;
        }
        let Some(index) = task.index() else { return };
        if index >= self.sums.len() {
            self.sums.resize(index + 1, Sum::default());
        }
        let sum = &mut self.sums[index];
        let since = was.since.max(sum.until).max(self.from);
        sum.until = now;
        let (span, idle) = (now.since(since).0, sum.run_ns + sum.wait_ns == 0);
        match was.phase {
            Phase::Running => sum.run_ns += span,
            Phase::Waiting => sum.wait_ns += span,
            _ => return,
        }
        if idle && span > 0 {
            self.active.push(task);
        }
    }

    /// So it was up to `to`.
    #[inline]
    pub(super) fn held(&mut self, part: Part<'_>, state: &State, to: Time) {
        let to = to.min(part.scope.window.to);
        let passed = to.since(self.from);
        if passed < self.period {
            return;
        }
        let mut periods = passed.0 / self.period.0;
        self.turn(part, state, 1);
        // All that lie within one stretch are alike.
        periods -= 1;
        if periods > 0 {
            self.turn(part, state, periods);
        }
    }

    /// Brings what goes on up to the end of what was told.
    pub(super) fn pause(&mut self, state: &State) {
        self.sum_up(state, state.now());
    }

    fn sum_up(&mut self, state: &State, now: Time) {
        for (cpu, known) in state.cpus() {
            let running = match known.mode {
                CpuMode::Busy(task) => Some(task),
                _ => None,
            };
            for task in running.into_iter().chain(state.waiting(cpu)) {
                self.changed(now, task, &state.task(task));
            }
        }
    }

    /// Ends this period, and as many that are alike.
    fn turn(&mut self, part: Part<'_>, state: &State, times: u64) {
        let end = self.from + self.period;
        self.sum_up(state, end);
        let active = std::mem::take(&mut self.active);
        let tasks: Vec<Equal> = active
            .iter()
            .filter_map(|&task| {
                let (sum, known) = (self.sums.get(task.index()?)?, state.task(task));
                let weight = weights::of(&known)?;
                let load = (sum.run_ns + sum.wait_ns).saturating_mul(weight) / self.period.0;
                let weighted = sum.wait_ns.saturating_mul(weight) / NICE_0;
                let counts = load >= LOAD && is_free(part, state, task, &known);
                let cpu = known.cpu.unwrap_or(CpuId(0));
                counts.then_some(Equal { task, cpu, wait_ns: sum.wait_ns, weighted })
            })
            .collect();
        for task in &active {
            let index = task.index().expect("idle tasks are not summed up");
            self.sums[index] = Sum { until: end, ..Sum::default() };
        }
        self.judge(&tasks, end, times);
        self.from = end + Span(self.period.0.saturating_mul(times - 1));
    }

    fn judge(&mut self, tasks: &[Equal], time: Time, times: u64) {
        let sum: u128 = tasks.iter().map(|it| u128::from(it.weighted)).sum();
        let Some(mean) = sum.checked_div(tasks.len() as u128) else { return };
        let mean = u64::try_from(mean).unwrap_or(u64::MAX);
        let small = self.period.0 / 1000 * SMALL;
        let (low, high) = match mean < small {
            true => (0, small + small / 10),
            false => (mean - mean / 10, mean + mean / 10),
        };
        for &Equal { task, cpu, wait_ns, weighted } in tasks {
            if (low..=high).contains(&weighted) {
                continue;
            }
            self.count = self.count.saturating_add(times);
            if self.first.len() < LISTED {
                let (wait, weighted, mean) = (Span(wait_ns), Span(weighted), Span(mean));
                self.first.push(Deficit { time, task, cpu, wait, weighted, mean });
            }
        }
    }
}

/// A user thread that may run on every CPU that is up.
fn is_free(part: Part<'_>, state: &State, task: TaskId, known: &TaskState) -> bool {
    let mask = known.mask.and_then(|mask| part.history.mask(mask));
    let mut up = state.cpus().filter(|(_, known)| known.mode != CpuMode::Offline);
    let everywhere = mask.is_none_or(|mask| up.all(|(cpu, _)| mask.contains(cpu)));
    let users =
        part.history.task(task).is_some_and(|it| !is_kernels(it, part.history.name(it.name)));
    everywhere && users && part.scope.has_task(task) && part.movable.is_movable(task, known)
}

/// Whether a task is probably one of the kernel's. Whatever has a `/` in its name counts, too, as
/// file systems' and drivers' threads have: then too few are compared, not too many.
fn is_kernels(task: &Task, name: &str) -> bool {
    task.tid == 2 || name.contains('/') || is_kernel_thread(name)
}
