//! Balancing: a CPU whose queue is clearly shorter than another's takes tasks from it.
//!
//! Two levels, the siblings of a core and the cores of the machine, are balanced between groups: of
//! one CPU each, of one core each. Only the number of runnable tasks counts, not which tasks they
//! are.

use wastenot_model::policy::Context;
use wastenot_model::{CpuId, Span, TaskId, Time};

use super::Linux26;

/// How much longer another queue must be, in percent.
const PERCENT: usize = 125;
/// How much longer a queue must be for a woken task to leave it: half as much more.
pub(super) const PASSIVE_PERCENT: usize = 137;
/// The interval between two balancings while busy; idle CPUs balance at each tick.
const BUSY: Span = Span::ms(200);
/// After this many failed balancings even cache-hot tasks are taken; after two more, a running
/// task.
const NICE_TRIES: u32 = 1;

/// When a CPU balances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// At a tick of a CPU that has something to do.
    Busy,
    /// At a tick of an idle CPU.
    Idle,
    /// When there is nothing left to do.
    NewlyIdle,
}

/// How a CPU balances.
#[derive(Debug)]
pub(super) struct Balancing {
    levels: Vec<Level>,
    next: Time,
}

#[derive(Debug)]
struct Level {
    /// The CPU's own group is the first.
    groups: Vec<Vec<CpuId>>,
    /// How often balancing failed since a task was last pulled.
    failed: u32,
}

impl Balancing {
    pub(super) fn of(cx: &Context, cpu: CpuId) -> Balancing {
        let machine = &cx.machine;
        let core = |cpu| machine.sharing(cpu, |cpu| cpu.core).iter().collect::<Vec<CpuId>>();
        let own = core(cpu);
        let mut levels = Vec::new();
        if own.len() > 1 {
            let others = own.iter().filter(|&&other| other != cpu).map(|&other| vec![other]);
            let groups = std::iter::once(vec![cpu]).chain(others).collect();
            levels.push(Level { groups, failed: 0 });
        }
        let mut groups = vec![own];
        for other in (0..machine.len()).map(|cpu| CpuId(cpu as u16)) {
            if !groups.iter().any(|core| core.contains(&other)) {
                groups.push(core(other));
            }
        }
        levels.push(Level { groups, failed: 0 });
        Balancing { levels, next: Time(0) }
    }

    /// The CPUs of its core, itself included.
    pub(super) fn siblings(&self) -> &[CpuId] {
        self.levels.last().map_or(&[], |level| &level.groups[0])
    }
}

impl Linux26 {
    /// `cpu` balances: it checks whether it should take tasks from others.
    pub(super) fn balance(&mut self, cx: &mut Context, cpu: CpuId, when: When) {
        let balancing = &mut self.queue(cpu).balancing;
        if when == When::Busy {
            if cx.now < balancing.next {
                return;
            }
            balancing.next = cx.now + BUSY;
        }
        let mut levels = std::mem::take(&mut balancing.levels);
        for level in &mut levels {
            if self.balance_level(cx, cpu, level, when) && when == When::NewlyIdle {
                break;
            }
        }
        self.queue(cpu).balancing.levels = levels;
    }

    /// Takes tasks from the busiest group; returns whether any came.
    fn balance_level(
        &mut self,
        cx: &mut Context,
        cpu: CpuId,
        level: &mut Level,
        when: When,
    ) -> bool {
        let Some((busiest, surplus)) = self.busiest(&level.groups) else {
            level.failed = 0;
            return false;
        };
        let longest = busiest.iter().rev().max_by_key(|cpu| self.queues[cpu.index()].len());
        let (Some(&from), 1..) = (longest, surplus) else { return false };
        let hot_too = when == When::NewlyIdle || level.failed > NICE_TRIES;
        if self.pull(cx, from, cpu, surplus, hot_too) > 0 {
            level.failed = 0;
            return true;
        }
        level.failed += 1;
        // Two tasks share a core while a whole core is idle: the idle core takes the running one.
        let idle = level.groups[0].iter().all(|cpu| self.queues[cpu.index()].len() == 0);
        if when == When::Idle && idle && level.failed > NICE_TRIES + 2 {
            level.failed = 0;
            if let Some(task) = self.queues[from.index()].current {
                self.tasks.push(task, cpu);
                cx.preempt(from);
            }
        }
        false
    }

    /// The group with the most tasks per CPU, if they are clearly more than in the first group; and
    /// half of the difference.
    fn busiest<'a>(&self, groups: &'a [Vec<CpuId>]) -> Option<(&'a [CpuId], usize)> {
        let sum = |group: &[CpuId]| -> usize {
            group.iter().map(|cpu| self.queues[cpu.index()].len()).sum()
        };
        let (own, others) = groups.split_first()?;
        let mut busiest: Option<(&[CpuId], usize)> = None;
        for group in others {
            let load = sum(group);
            // By average, compared without division.
            if busiest.is_none_or(|(other, most)| load * other.len() > most * group.len()) {
                busiest = Some((group, load));
            }
        }
        let (busiest, most) = busiest?;
        let (there, here) = (most * own.len(), sum(own) * busiest.len());
        (100 * there > PERCENT * here).then(|| (busiest, (there - here) / (2 * busiest.len())))
    }

    /// Moves up to `most` tasks that wait on `from`, the expired ones first.
    fn pull(
        &mut self,
        cx: &mut Context,
        from: CpuId,
        to: CpuId,
        most: usize,
        hot_too: bool,
    ) -> usize {
        let queue = &self.queues[from.index()];
        let arrays = [&queue.arrays[1 - queue.active], &queue.arrays[queue.active]];
        let waiting = arrays.into_iter().flat_map(|array| array.tail_first());
        let movable = waiting
            .filter(|&task| cx.allowed(task, to) && (hot_too || !self.tasks.is_hot(task, cx.now)));
        let chosen: Vec<TaskId> = movable.take(most).collect();
        for &task in &chosen {
            self.queue(from).take(task);
            cx.moved(task, to);
            self.add(cx, task, to);
        }
        chosen.len()
    }
}
