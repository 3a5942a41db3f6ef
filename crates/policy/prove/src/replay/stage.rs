//! The interpreter in the state to which a run has led it, where a counterexample begins, and the
//! counterexample.

use wastenot_model::{CpuId, CpuSet, TaskId};
use wastenot_rota::interpret::{Forced, Found, Placed};
use wastenot_rota::ir::Event;

use super::Otherwise;
use super::names::Told;
use crate::counterexample::words::{no_task, queue_in_words};

pub(super) struct Stage<'t> {
    pub(super) told: &'t Told<'t>,
    pub(super) forced: Forced,
    /// The initial state.
    begun: Forced,
    /// The number of steps that happened as recorded.
    pub(super) same: usize,
}

impl<'t> Stage<'t> {
    /// A stage in the state to which a run has led.
    pub(super) fn at(told: &'t Told<'t>, forced: Forced) -> Stage<'t> {
        Stage { told, begun: forced.clone(), forced, same: 0 }
    }

    /// A stage in which nothing has happened yet.
    pub(super) fn unled(told: &'t Told<'t>) -> Stage<'t> {
        Stage::at(told, Forced::new(told.policy.clone(), told.small.machine.clone(), &[]))
    }

    /// A copy of the initial state.
    pub(super) fn afresh(&self) -> Forced {
        self.begun.clone()
    }

    /// Counts a step that happened as recorded.
    pub(super) fn as_recorded(&mut self) {
        self.same += 1;
    }

    /// The idle CPUs except `cpu`.
    pub(super) fn idle_but(&self, cpu: Option<CpuId>) -> CpuSet {
        let idle = |other: &CpuId| self.forced.is_idle(*other) && Some(*other) != cpu;
        self.told.cpus().into_iter().filter(idle).collect()
    }

    /// `` `ready` of CPU 1 ``
    pub(super) fn queue(&self, at: (usize, usize)) -> String {
        queue_in_words(self.told.policy, at)
    }

    /// The words for a queue that holds no task for the CPU that looks into it.
    pub(super) fn no_task(&self, at: (usize, usize)) -> &'static str {
        no_task(self.forced.waiting(at).is_empty())
    }

    /// The queue of a candidate.
    fn balanced(&self, group: usize) -> (usize, usize) {
        (self.told.policy.idle.as_ref().map_or(0, |balance| balance.from), group)
    }

    /// The answer of the filter about a candidate, in words.
    pub(super) fn says(&self, cpu: CpuId, group: usize, passed: bool) -> String {
        let queue = self.queue(self.balanced(group));
        let answer = if passed { "yes" } else { "no" };
        format!("CPU {cpu} reads {queue}: the filter says {answer}")
    }

    /// The result of a try of a candidate, in words.
    pub(super) fn tried(&self, cpu: CpuId, group: usize, found: Found) -> String {
        let at = self.balanced(group);
        let queue = self.queue(at);
        match found {
            Found::Task(task) => format!("CPU {cpu} takes task {} from {queue}", task.ordinal()),
            Found::Nobody => format!("CPU {cpu} locks {queue}: {}", self.no_task(at)),
            Found::Refused => format!("CPU {cpu} locks {queue}: the re-check fails"),
        }
    }

    /// Puts a task into the recorded queue, while `cpu` is in an attempt. The handler finds an idle
    /// CPU if there is one: the nearest, or another one if only that leads to the recorded queue.
    pub(super) fn wakes(
        &mut self,
        (event, task): (Event, usize),
        prev: CpuId,
        at: (usize, usize),
        cpu: CpuId,
    ) -> Result<(), Otherwise> {
        let idle = self.idle_but(Some(cpu));
        let alone = idle.iter().map(|cpu| [cpu].into_iter().collect::<CpuSet>());
        let choices: Vec<CpuSet> = std::iter::once(idle.clone()).chain(alone).collect();
        let mut first = None;
        for choice in choices {
            let mut forced = self.forced.clone();
            let to = (event, TaskId::nth(task));
            let placed = forced.places(to, prev, (choice.clone(), choice));
            if matches!(placed, Placed::Waits(queue, _) if queue == at) {
                self.forced = forced;
                return Ok(());
            }
            first.get_or_insert((placed, forced));
        }
        let Some((placed, forced)) = first else { return Ok(()) };
        self.forced = forced;
        Err(self.placed(task, placed).into())
    }

    /// The result of a put, in words.
    pub(super) fn placed(&self, task: usize, placed: Placed) -> String {
        match placed {
            Placed::Waits(at, None) => format!("task {task} waits in {}", self.queue(at)),
            Placed::Waits(at, Some(cpu)) => {
                format!("task {task} waits in {}, and CPU {cpu} is woken", self.queue(at))
            }
            Placed::Runs(cpu) => format!("task {task} is given to CPU {cpu}"),
            Placed::Nowhere => format!("task {task} is not put anywhere"),
        }
    }

    /// Periodic balancing makes the recorded move of a task.
    pub(super) fn pulls(
        &mut self,
        (by, task): (CpuId, usize),
        from: (usize, usize),
        into: (usize, usize),
    ) -> Result<(), Otherwise> {
        match self.forced.pulls(by, from, into) {
            Some(moved) if moved == TaskId::nth(task) => Ok(()),
            Some(moved) => {
                let (moved, from) = (moved.ordinal(), self.queue(from));
                Err(format!("CPU {by} moves task {moved} from {from}").into())
            }
            None => {
                let (from, into) = (self.queue(from), self.queue(into));
                Err(format!("CPU {by} moves no task from {from} to {into}").into())
            }
        }
    }

    /// A task that waits and that `cpu` may run.
    pub(super) fn wanted(&self, cpu: CpuId) -> Option<usize> {
        let wanted = |task: &usize| {
            let task = TaskId::nth(*task);
            self.forced.queue(task).is_some() && self.forced.may(task, cpu)
        };
        (0..self.told.situation.tasks.len()).find(wanted)
    }
}
