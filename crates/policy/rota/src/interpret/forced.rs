//! A policy whose caller orders its steps. Events lead it from a fresh machine into a situation;
//! then it goes on one step at a time. The text decides what each step finds.
//!
//! The code is the interpreter's own; only the order of the steps is the caller's choice. So a
//! caller can show what a run never does: reads that are outdated by the time they are used.

use wastenot_model::policy::{Context, CpuView, Place, TaskView, View};
use wastenot_model::workload::GroupId;
use wastenot_model::{CpuId, CpuSet, Machine, Span, TaskId, Time};

use super::balance::Gives;
use super::handler::{self, at};
use super::scheduler::Scheduler;
use super::state::Seen;
use crate::attempt::Places;
use crate::eval::{At, Frame};
use crate::ir::{Event, Num, Policy, QueueAt};

/// A queue of the text, and the group that has it.
pub type QueueOf = (usize, usize);

/// A policy whose caller orders its steps.
#[derive(Clone, Debug)]
pub struct Forced {
    pub(super) scheduler: Scheduler,
    pub(super) cx: Context,
}

/// What an idle CPU reads about a candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// Whether the candidate passed the filter.
    pub passed: bool,
    /// The values that the re-check remembers from the candidate.
    pub seen: Vec<i64>,
}

/// What an idle CPU finds in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// A task that it takes.
    Task(TaskId),
    /// No task that may run there.
    Nobody,
    /// A task, but the re-check refuses it.
    Refused,
}

/// What became of a task that a handler placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placed {
    /// It waits, and this idle CPU, if any, was woken for it.
    Waits(QueueOf, Option<CpuId>),
    /// It was given to an idle CPU.
    Runs(CpuId),
    /// The handler placed it nowhere.
    Nowhere,
}

impl Forced {
    /// `policy` on a machine whose CPUs are all idle and whose tasks are all asleep. Each task has
    /// the CPUs on which it may run, at least one, and its nice value.
    pub fn new(policy: Policy, machine: Machine, tasks: &[(CpuSet, i8)]) -> Forced {
        let all = CpuSet::first(machine.len());
        let cpu = CpuView { current: None, idle_since: Time(0), online: true };
        let mut masks = vec![all.clone()];
        masks.extend(tasks.iter().map(|(mask, _)| mask.clone()));
        let task = |(n, (mask, nice)): (usize, &(CpuSet, i8))| TaskView {
            place: Place::Asleep,
            cpu: mask.iter().next().unwrap_or(CpuId(0)),
            nice: *nice,
            group: GroupId(0),
            mask: n as u32 + 1,
            kthread: false,
            own: false,
            priority: 1.0,
            job: None,
            command: 0,
        };
        let view = View {
            now: Time(0),
            cpu: CpuId(0),
            cpus: vec![cpu; machine.len()],
            machine,
            idle: all.clone(),
            online: all.clone(),
            tasks: tasks.iter().enumerate().map(task).collect(),
            groups: Vec::new(),
            commands: Vec::new(),
            masks,
            scan: Span::ZERO,
            seed: 1,
        };
        let mut cx = Context::new(view, false);
        let params = policy.params.iter().map(|param| param.value).collect();
        let mut scheduler = Scheduler::new(policy, params, &all, &mut cx);
        (0..tasks.len()).for_each(|n| _ = scheduler.state.task(TaskId::nth(n)));
        Forced { scheduler, cx }
    }

    /// `task` runs on `cpu`, regardless of the text.
    pub(super) fn runs(&mut self, task: TaskId, cpu: CpuId) {
        let view = self.cx.view_mut();
        (view.task_mut(task).place, view.task_mut(task).cpu) = (Place::Running, cpu);
        view.cpus[cpu.index()].current = Some(task);
        view.idle.remove(cpu);
        self.scheduler.state.cpus[cpu.index()].current = Some(task);
        self.scheduler.state.idle.remove(cpu);
    }

    /// `task` waits in a queue, behind all other tasks there, regardless of the text.
    pub fn waits(&mut self, task: TaskId, (queue, group): QueueOf) {
        self.cx.view_mut().task_mut(task).place = Place::Queued;
        self.scheduler.insert(&mut self.cx, task, queue, group);
    }

    /// Sets the idle flags of these CPUs and clears all others.
    pub(super) fn flags(&mut self, cpus: CpuSet) {
        self.scheduler.state.idle = cpus;
    }

    /// Where `task` waits, if it does.
    pub fn queue(&self, task: TaskId) -> Option<QueueOf> {
        self.waits_at(task).map(|(at, _)| at)
    }

    /// The same, and by which key.
    pub fn waits_at(&self, task: TaskId) -> Option<(QueueOf, i64)> {
        let (queue, group, entry) = self.scheduler.state.tasks.get(task.ordinal())?.at?;
        Some(((queue, group), entry.key))
    }

    /// Whether `cpu` runs no task.
    pub fn is_idle(&self, cpu: CpuId) -> bool {
        self.cx.is_idle(cpu)
    }

    /// Whether `task` may run on `cpu`.
    pub fn may(&self, task: TaskId, cpu: CpuId) -> bool {
        self.scheduler.state.may(&self.cx, task, cpu)
    }

    /// Where `cpu` looks in an attempt.
    pub fn looks(&self, cpu: CpuId) -> Looks<'_> {
        Looks { scheduler: &self.scheduler, view: &self.cx, cpu }
    }

    /// What `cpu` finds in a queue that it takes from.
    pub fn takes(&mut self, cpu: CpuId, (queue, group): QueueOf) -> Found {
        let first = self.scheduler.state.first(&self.cx, queue, group, cpu);
        self.given(cpu, first).map_or(Found::Nobody, Found::Task)
    }

    /// The candidates of `cpu` on the `nth` level of `balance idle`; none beyond the last level.
    pub fn candidates(&self, cpu: CpuId, nth: usize) -> Vec<usize> {
        self.looks(cpu).candidates(nth)
    }

    /// `cpu` reads what the filter needs from a candidate, and the values to remember.
    pub fn reads(&mut self, cpu: CpuId, group: usize, remember: &[Num]) -> Read {
        let Some(balance) = self.scheduler.policy.idle.clone() else {
            return Read { passed: false, seen: Vec::new() };
        };
        self.scheduler.frame.me = Some(at(&self.scheduler.state, cpu));
        let (mut looking, _) = self.scheduler.looking(&self.cx);
        let passed = looking.passes(&balance, group);
        let seen = remember.iter().map(|num| looking.key(num)).collect();
        Read { passed, seen }
    }

    /// Those of `groups` that pass the filter now, in the order in which `cpu` would try them.
    pub fn order(&mut self, cpu: CpuId, groups: &[usize]) -> Vec<usize> {
        let Some(balance) = self.scheduler.policy.idle.clone() else { return Vec::new() };
        self.scheduler.frame.me = Some(at(&self.scheduler.state, cpu));
        let (mut looking, _) = self.scheduler.looking(&self.cx);
        looking.passing(&balance, groups, cpu)
    }

    /// `cpu` locks the queue of a candidate and takes a task that it may have, given the values
    /// that it remembers. An unchecked steal takes the first task.
    pub fn tries(&mut self, cpu: CpuId, group: usize, seen: Vec<i64>) -> Found {
        let Some(balance) = self.scheduler.policy.idle.clone() else { return Found::Nobody };
        let unchecked = self.scheduler.policy.protocol.unchecked;
        let there = self.scheduler.state.first(&self.cx, balance.from, group, cpu);
        self.scheduler.frame.me = Some(at(&self.scheduler.state, cpu));
        self.scheduler.frame.seen = seen;
        let (mut looking, _) = self.scheduler.looking(&self.cx);
        looking.frame.other = Some(At { level: looking.per(balance.from), group });
        let first = match unchecked {
            true => self.waiting((balance.from, group)).first().copied(),
            false => looking.first(&balance, group, &[cpu]).map(|(task, _)| task),
        };
        self.scheduler.frame.seen.clear();
        match self.given(cpu, first) {
            Some(task) => Found::Task(task),
            None if there.is_some() => Found::Refused,
            None => Found::Nobody,
        }
    }

    /// The tasks in a queue, first to last.
    pub fn waiting(&self, (queue, group): QueueOf) -> Vec<TaskId> {
        let queue = &self.scheduler.state.queues[queue][group];
        queue.iter().map(|entry| TaskId::nth(entry.task as usize)).collect()
    }

    /// `task`, if any, leaves its queue and begins to run on `cpu`.
    fn given(&mut self, cpu: CpuId, task: Option<TaskId>) -> Option<TaskId> {
        let task = task?;
        self.scheduler.state.remove(task, true);
        self.starts(task, cpu);
        Some(task)
    }

    /// `by` moves the next task from one queue into another, as a regular balance does. `None`:
    /// `by` leads no balance that would move one.
    pub fn pulls(&mut self, by: CpuId, from: QueueOf, into: QueueOf) -> Option<TaskId> {
        (0..self.scheduler.policy.periodic.len()).find_map(|n| self.pulls_by(n, by, from, into))
    }

    fn pulls_by(&mut self, n: usize, by: CpuId, from: QueueOf, into: QueueOf) -> Option<TaskId> {
        let (per, tree) = (&self.scheduler.per, &self.scheduler.state.tree);
        let periodic = &self.scheduler.policy.periodic[n];
        let leads = periodic
            .leader
            .is_none_or(|level| tree.members(level, tree.group(level, by)).first() == Some(&by));
        let balance = periodic.balance.clone();
        let own = tree.group(per[balance.from], by);
        let queue = balance.into.unwrap_or(balance.from);
        let to = (queue, tree.group(per[queue], by));
        let leader = at(&self.scheduler.state, by).group;
        let mut looked = self.scheduler.pulled_from[n][leader].iter().flatten();
        let looks = looked.any(|&group| (balance.from, group) == from);
        if !leads || !looks || to != into {
            return None;
        }
        let cpus = tree.members(per[queue], to.1).to_vec();
        self.scheduler.frame.me = Some(At { level: per[balance.from], group: own });
        let (mut looking, _) = self.scheduler.looking(&self.cx);
        if !looking.passes(&balance, from.1) {
            return None;
        }
        let Gives { task, .. } = looking.gives(&balance, from.1, &cpus);
        let found = task?;
        self.scheduler.pull_one(&mut self.cx, by, &balance, found, (from.1, to.1));
        Some(found.0)
    }

    /// The handler of `event` places `task`, which was last on `prev`. The CPUs in `found` have
    /// their idle flag set when the handler looks, those in `woken` after it has put the task.
    pub fn places(
        &mut self,
        (event, task): (Event, TaskId),
        prev: CpuId,
        (found, woken): (CpuSet, CpuSet),
    ) -> Placed {
        let view = self.cx.view_mut();
        (view.cpu, view.task_mut(task).cpu) = (prev, prev);
        self.flags(found.clone());
        // A CPU in `woken` and not in `found` goes to sleep in between.
        self.scheduler.state.meanwhile = woken.iter().filter(|&cpu| !found.contains(cpu)).collect();
        let decision = self.scheduler.handle(&self.cx, event, task, (prev, prev), 0);
        self.scheduler.state.meanwhile = CpuSet::new();
        let Some(placed) = decision.placed else { return Placed::Nowhere };
        let left = self.scheduler.state.idle.clone();
        let woken: CpuSet = woken.iter().filter(|&cpu| left.contains(cpu)).collect();
        self.flags(woken.clone());
        let named = self.scheduler.named(&self.cx, task, placed, prev);
        let view = self.cx.view_mut().task_mut(task);
        (view.place, view.cpu) = (Place::Queued, named);
        self.scheduler.place(&mut self.cx, task, &decision);
        match placed {
            handler::Placed::Cpu(cpu) => Placed::Runs(cpu),
            handler::Placed::Queue { queue, group, .. } => {
                let left = &self.scheduler.state.idle;
                let claimed = woken.iter().find(|&cpu| !left.contains(cpu));
                Placed::Waits((queue, group), claimed)
            }
        }
    }

    /// The policy.
    pub fn policy(&self) -> &Policy {
        &self.scheduler.policy
    }
}

/// Where a CPU of a policy looks.
#[derive(Clone, Copy, Debug)]
pub struct Looks<'f> {
    pub(super) scheduler: &'f Scheduler,
    pub(super) view: &'f View,
    pub(super) cpu: CpuId,
}

impl Places for Looks<'_> {
    fn own(&self, queue: &QueueAt) -> QueueOf {
        let Scheduler { state, per, .. } = self.scheduler;
        let frame: Frame = Frame { me: Some(at(state, self.cpu)), ..Frame::default() };
        let seen = Seen { view: self.view, state, task: None, ran: 0 };
        (queue.queue, frame.queue(&seen, queue, per[queue.queue]))
    }
    fn candidates(&self, level: usize) -> Vec<usize> {
        let Scheduler { state, stolen_from, .. } = self.scheduler;
        let levels = stolen_from.get(at(state, self.cpu).group);
        levels.and_then(|levels| levels.get(level)).cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WS: &str = include_str!("../../../../../policies/work-stealing.rota");

    fn forced(text: &str, masks: &[&[u16]]) -> Forced {
        let policy = crate::compile(text).expect("it compiles").policies.remove(0);
        let mask = |cpus: &&[u16]| (cpus.iter().map(|&cpu| CpuId(cpu)).collect(), 0);
        let tasks: Vec<(CpuSet, i8)> = masks.iter().map(mask).collect();
        Forced::new(policy, Machine::flat(2), &tasks)
    }

    #[test]
    fn what_was_read_may_be_old_when_it_is_used() {
        let mut forced = forced(WS, &[&[0, 1], &[0, 1]]);
        let task = TaskId::nth;
        forced.waits(task(0), (0, 0));
        assert_eq!(forced.candidates(CpuId(1), 0), [0]);
        assert!(forced.reads(CpuId(1), 0, &[]).passed);
        assert_eq!(forced.takes(CpuId(0), (0, 0)), Found::Task(task(0)));
        assert!(!forced.is_idle(CpuId(0)) && forced.is_idle(CpuId(1)));
        assert_eq!(forced.tries(CpuId(1), 0, Vec::new()), Found::Nobody);
        forced.waits(task(1), (0, 0));
        assert_eq!(forced.tries(CpuId(1), 0, Vec::new()), Found::Task(task(1)));
        assert_eq!(forced.queue(task(1)), None);
    }

    #[test]
    fn a_steal_takes_what_may_run_there_unless_it_is_unchecked() {
        let unchecked = "unsafe protocol { steal: unchecked }\n    prove";
        for (text, found) in [
            (WS.to_owned(), Found::Nobody),
            (WS.replacen("prove", unchecked, 1), Found::Task(TaskId::nth(0))),
        ] {
            let mut forced = forced(&text, &[&[0]]);
            forced.waits(TaskId::nth(0), (0, 0));
            assert_eq!(forced.tries(CpuId(1), 0, Vec::new()), found);
        }
    }

    #[test]
    fn a_handler_finds_those_who_say_that_they_are_idle() {
        let one = |cpu: u16| -> CpuSet { [CpuId(cpu)].into_iter().collect() };
        let wakes = |found: CpuSet, woken: CpuSet| {
            let mut forced = forced(WS, &[&[0, 1]]);
            forced.places((Event::Wake, TaskId::nth(0)), CpuId(0), (found, woken))
        };
        assert_eq!(wakes(one(1), CpuSet::new()), Placed::Runs(CpuId(1)));
        assert_eq!(wakes(CpuSet::new(), one(1)), Placed::Waits((0, 0), Some(CpuId(1))));
        assert_eq!(wakes(CpuSet::new(), CpuSet::new()), Placed::Waits((0, 0), None));
    }
}
