//! Tasks as they are once overheads are theirs.

use wastenot_model::sporadic::{Sporadic, TaskSet};

use super::Overheads;
use crate::number::{Budget, Exact, Halt, Interval, Number, decide};

/// Where scheduling decisions are made, and so which overheads a job is charged for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accounting {
    /// Every CPU for itself, under locks; timers fire on any CPU.
    Shared,
    /// The same, with one CPU that takes all interrupts and runs no task.
    SharedDedicated,
    /// One CPU decides for all others, who send it messages, and takes all interrupts.
    MessagePassing,
}

impl Accounting {
    /// Whether a CPU interrupts another when it took a decision for it.
    pub(super) fn interrupts(self, cpus: u32) -> bool {
        cpus > 1 || self != Accounting::Shared
    }
}

/// Why no tasks are left once overheads are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TooMuch {
    /// Interrupts alone take all of a CPU.
    #[error("interrupts alone use more than the whole CPU")]
    Interrupts,
    /// A timer may be late by more than a task's period or deadline.
    #[error(
        "task {task}: a release may be delayed by more than the period or the deadline of the task"
    )]
    Latency {
        /// Counted from 1.
        task: usize,
    },
    /// What a job takes with overheads is longer than a number may be.
    #[error(
        "task {task}: with overheads, a job executes for longer than the longest possible period"
    )]
    Long {
        /// Counted from 1.
        task: usize,
    },
    /// No more than that: what a job takes with overheads is too close to a whole number, and too
    /// many fractions would have to be added up.
    #[error("with overheads, an execution time is too close to a whole number for an exact result")]
    Close,
}

/// Adds to each task's C what others' releases, the tick, preemptions and decisions take of its
/// time, and takes from its T and D by how much its release may be late. `cpus` are those that run
/// tasks; nobody sends interrupts if one takes them itself. Whether overheads were measured where
/// they are asked for, [`Overheads::beyond`] tells.
///
/// # Errors
/// Nothing is left for tasks.
pub fn inflate(
    tasks: &TaskSet,
    cpus: u32,
    overheads: &Overheads,
    accounting: Accounting,
) -> Result<TaskSet, TooMuch> {
    let quick =
        |budget: &mut Budget| worked_out::<Interval>(tasks, cpus, overheads, accounting, budget);
    let exact =
        |budget: &mut Budget| worked_out::<Exact>(tasks, cpus, overheads, accounting, budget);
    let all = decide(&mut Budget::once(), quick, exact).unwrap_or(Err(TooMuch::Close))?;
    let mut inflated = Vec::with_capacity(tasks.len());
    for (n, (task, wcet_us, late_us)) in all.into_iter().enumerate() {
        let long = TooMuch::Long { task: n + 1 };
        let wcet_us =
            u64::try_from(wcet_us).ok().filter(|&it| it < TaskSet::MOST_US).ok_or(long)?;
        let left = |us: u64| (i128::from(us) - late_us).try_into().ok().filter(|&us: &u64| us > 0);
        let late = TooMuch::Latency { task: n + 1 };
        let period_us = left(task.period_us).ok_or(late)?;
        let deadline_us = left(task.deadline_us).ok_or(late)?;
        inflated.push(Sporadic { wcet_us, period_us, deadline_us, ..task });
    }
    // All numbers were looked at above.
    let tasks = TaskSet::new(inflated).map_err(|_| TooMuch::Interrupts)?;
    Ok(tasks)
}

/// Each task with its C in us, rounded up, and by how much it may be late, rounded up.
type Costs = Vec<(Sporadic, i128, i128)>;

fn worked_out<N: Number>(
    tasks: &TaskSet,
    cpus: u32,
    overheads: &Overheads,
    accounting: Accounting,
    budget: &mut Budget,
) -> Result<Result<Costs, TooMuch>, Halt> {
    let count = tasks.len() as u64;
    let dedicated = accounting != Accounting::Shared;
    let passing = accounting == Accounting::MessagePassing;
    let [schedule, switch, tick, release, latency] = [
        &overheads.schedule,
        &overheads.switch,
        &overheads.tick,
        &overheads.release,
        &overheads.latency,
    ]
    .map(|curve| curve.us::<N>(count));
    let ticks = tick.clone() / N::whole(overheads.quantum_us.max(1).into());
    let releases = match dedicated {
        true => N::whole(0),
        false => {
            let rates = tasks.iter().map(|task| N::ratio(1, task.period_us.into()));
            release.clone() * N::sum(rates, budget)?
        }
    };
    let left = N::whole(1) - ticks.clone() - releases.clone();
    if !N::whole(0).below(&left)? {
        return Ok(Err(TooMuch::Interrupts));
    }
    // What interrupts take of a job beyond their share: those that are about to come.
    let mut about = tick + latency.clone() * ticks;
    if !dedicated {
        about = about + N::whole(count.into()) * release.clone() + latency.clone() * releases;
    }
    let about = about / left.clone() * N::whole(2);
    let decisions = N::whole(if passing { 3 } else { 2 }) * (schedule + switch);
    let mut once = about;
    if accounting.interrupts(cpus) {
        once = once + overheads.ipi.us(count);
    }
    if dedicated {
        once = once + release;
    }
    let mut scaled = decisions;
    if passing {
        scaled = scaled + overheads.handler.us(count);
        once = once + overheads.request.us(count);
    }
    let late = latency.ceil()?;
    let others = Largest::of(tasks);
    budget.spend(tasks.len() * left.length())?;
    let mut costs = Vec::with_capacity(tasks.len());
    for (n, task) in tasks.iter().enumerate() {
        let cold = overheads.cache_load.us::<N>(task.wss_kb.into());
        let mut own = N::whole(task.wcet_us.into()) + cold + scaled.clone();
        if let Some(size) = others.preempting(n, accounting) {
            own = own + overheads.cache_delay.us(size.into());
        }
        costs.push((*task, (own / left.clone() + once.clone()).ceil()?, late));
    }
    Ok(Ok(costs))
}

/// The two largest working sets, in KiB, of as many tasks as there are.
pub(super) struct Largest {
    first: Option<u32>,
    of: usize,
    second: Option<u32>,
}

impl Largest {
    pub(super) fn of(tasks: &TaskSet) -> Largest {
        let mut largest = Largest { first: None, of: 0, second: None };
        for (n, task) in tasks.iter().enumerate() {
            let size = Some(task.wss_kb);
            if size > largest.first {
                largest = Largest { first: size, of: n, second: largest.first };
            } else {
                largest.second = largest.second.max(size);
            }
        }
        largest
    }
    /// The largest of those that may run while a job of this task does not: of all others, if there
    /// are any. Who is sent messages is charged with its own, too.
    pub(super) fn preempting(&self, task: usize, who: Accounting) -> Option<u32> {
        let own = who == Accounting::MessagePassing;
        if task == self.of && !own { self.second } else { self.first }
    }
}
