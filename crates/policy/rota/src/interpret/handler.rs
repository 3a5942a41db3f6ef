//! Runs handlers: statements, one after the other.

use wastenot_model::policy::View;
use wastenot_model::{CpuId, TaskId};

use super::state::{Seen, State};
use crate::eval::{At, Frame};
use crate::ir::{Level, Num, Place, Stmt};

/// What a handler decided for its task.
#[derive(Clone, Debug, Default)]
pub(super) struct Decision {
    /// Where the task goes; `None` only from handlers that do not place it.
    pub(super) placed: Option<Placed>,
    /// How long the task may run, in ns; `None`: as long as it wants.
    pub(super) slice: Option<i64>,
    /// CPUs that must look for their next task, and whether the task that runs there is
    /// interrupted.
    pub(super) kicks: Vec<(CpuId, bool)>,
}

/// Where a task goes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Placed {
    /// It waits in the queue of a group; an idle CPU in group `wake`, around its last CPU, is
    /// woken.
    Queue { queue: usize, group: usize, wake: At },
    /// It runs next on a claimed CPU.
    Cpu(CpuId),
}

/// Runs the statements of one event.
pub(super) struct Handler<'s> {
    pub(super) view: &'s View,
    pub(super) state: &'s mut State,
    pub(super) frame: &'s mut Frame,
    /// The level of each queue.
    pub(super) per: &'s [Level],
    pub(super) task: TaskId,
    pub(super) ran: i64,
    pub(super) decision: Decision,
    /// Claimed CPUs to which no task or kick was sent yet.
    pub(super) claimed: Vec<CpuId>,
}

impl Handler<'_> {
    /// Runs `body` and returns the decision. A CPU that was claimed and not used looks for work
    /// again.
    pub(super) fn handle(mut self, body: &[Stmt]) -> Decision {
        self.run(body);
        self.state.put = None;
        let unused = std::mem::take(&mut self.claimed);
        self.decision.kicks.extend(unused.into_iter().map(|cpu| (cpu, false)));
        self.decision
    }

    fn run(&mut self, body: &[Stmt]) {
        for stmt in body {
            self.step(stmt);
        }
    }

    fn step(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Claim { slot, within, near, by } => {
                let near = self.cpu(near);
                let found = self.claim(*within, near, by);
                self.frame.set_slot(*slot, found);
            }
            Stmt::Pick { slot, set, item, key, greatest } => {
                let per = self.per;
                let (seen, frame) = self.look();
                let found = frame.pick(&seen, per, (set, *item, key, *greatest));
                self.frame.set_slot(*slot, found);
            }
            Stmt::Let(slot, value) => {
                let value = self.num(value);
                self.frame.set_local(*slot, value);
            }
            Stmt::SetTask(var, value) => {
                let value = self.num(value);
                self.state.task(self.task).vars[*var] = value;
            }
            Stmt::SetCpu { var, cpu, value, add } => {
                let (cpu, value) = (self.cpu(cpu), self.num(value));
                let var = &mut self.state.cpus[cpu.index()].vars[*var];
                *var = if *add { var.saturating_add(value) } else { value };
            }
            Stmt::Put(put) => {
                let per = self.per[put.queue.queue];
                let (seen, frame) = self.look();
                let group = frame.queue(&seen, &put.queue, per);
                self.decision.slice = put.slice.as_ref().map(|slice| self.num(slice));
                let prev = self.cpu(&Place::Prev);
                let wake = At { level: put.wake, group: self.state.tree.group(put.wake, prev) };
                let queue = put.queue.queue;
                self.decision.placed = Some(Placed::Queue { queue, group, wake });
                self.state.put = Some((queue, group, self.num(&Num::Weight)));
                let meanwhile = std::mem::take(&mut self.state.meanwhile);
                for cpu in meanwhile.iter() {
                    self.state.idle.insert(cpu);
                }
            }
            Stmt::Run { slot, slice, .. } => {
                let cpu = self.cpu(&Place::Slot(*slot));
                self.decision.slice = slice.as_ref().map(|slice| self.num(slice));
                self.decision.placed = Some(Placed::Cpu(cpu));
                self.claimed.retain(|&claimed| claimed != cpu);
            }
            Stmt::Kick { cpu, preempt } => {
                let cpu = self.cpu(cpu);
                self.decision.kicks.push((cpu, *preempt));
                self.claimed.retain(|&claimed| claimed != cpu);
            }
            Stmt::If { condition, then, otherwise } => {
                let per = self.per;
                let (seen, frame) = self.look();
                match frame.bool(&seen, per, condition) {
                    true => self.run(then),
                    false => self.run(otherwise),
                }
            }
        }
    }

    /// Claims the idle CPU nearest to `near` that the task may use.
    fn claim(&mut self, within: Option<Level>, near: CpuId, by: &[Level]) -> Option<CpuId> {
        let (state, tree) = (&*self.state, &self.state.tree);
        let root = within.map(|level| (level, tree.group(level, near)));
        let inside = |cpu| root.is_none_or(|(level, group)| tree.group(level, cpu) == group);
        let may = |cpu| inside(cpu) && state.may(self.view, self.task, cpu);
        let found = state.nearest_idle(by, near, may)?;
        self.state.idle.remove(found);
        self.claimed.push(found);
        Some(found)
    }

    fn look(&mut self) -> (Seen<'_>, &mut Frame) {
        let (task, ran) = (Some(self.task), self.ran);
        (Seen { view: self.view, state: self.state, task, ran }, self.frame)
    }
    fn num(&mut self, num: &Num) -> i64 {
        let per = self.per;
        let (seen, frame) = self.look();
        frame.num(&seen, per, num)
    }
    fn cpu(&mut self, place: &Place) -> CpuId {
        let (seen, frame) = self.look();
        frame.cpu(&seen, place)
    }
}

/// A CPU of a policy as a place.
pub(super) fn at(state: &State, cpu: CpuId) -> At {
    At { level: Level::Cpu, group: state.tree.group(Level::Cpu, cpu) }
}
