//! Taking tasks from the queues of other CPUs: candidates, the choice among them, the task that
//! moves.

use wastenot_model::policy::{Context, Note, View};
use wastenot_model::{CpuId, CpuSet, TaskId};

use super::handler::at;
use super::queueing::ANYWHERE;
use super::scheduler::Scheduler;
use super::state::{Seen, State};
use crate::Tree;
use crate::eval::{At, Frame};
use crate::ir::{Balance, Bool, Choose, Level};

/// A CPU that looks at candidates, and the state that it reads.
pub(super) struct Looking<'s> {
    view: &'s View,
    state: &'s State,
    per: &'s [Level],
    pub(super) frame: &'s mut Frame,
}

impl Looking<'_> {
    /// The level of a queue.
    pub(super) fn per(&self, queue: usize) -> Level {
        self.per[queue]
    }

    pub(super) fn holds(&mut self, condition: &Bool, task: Option<TaskId>) -> bool {
        if let Bool::Const(value) = condition {
            return *value;
        }
        let seen = Seen { view: self.view, state: self.state, task, ran: 0 };
        self.frame.bool(&seen, self.per, condition)
    }

    pub(super) fn key(&mut self, key: &crate::ir::Num) -> i64 {
        let seen = Seen { view: self.view, state: self.state, task: None, ran: 0 };
        self.frame.num(&seen, self.per, key)
    }

    /// Whether a group passes the filter.
    pub(super) fn passes(&mut self, balance: &Balance, group: usize) -> bool {
        self.frame.other = Some(At { level: self.per[balance.from], group });
        self.holds(&balance.filter, None)
    }

    /// The groups that pass the filter, best first. `cpu` is the CPU that decides.
    pub(super) fn passing(
        &mut self,
        balance: &Balance,
        groups: &[usize],
        cpu: CpuId,
    ) -> Vec<usize> {
        let mut passing: Vec<(i128, Level, usize, usize)> = Vec::new();
        for (order, &group) in groups.iter().enumerate() {
            if let Some((rank, distance)) = self.rank(balance, group, cpu) {
                passing.push((rank, distance, order, group));
            }
        }
        passing.sort_unstable();
        passing.into_iter().map(|(.., group)| group).collect()
    }

    /// How good a candidate is, the best least; `None` if it does not pass the filter.
    pub(super) fn rank(
        &mut self,
        balance: &Balance,
        group: usize,
        cpu: CpuId,
    ) -> Option<(i128, Level)> {
        if !self.passes(balance, group) {
            return None;
        }
        let tree = &self.state.tree;
        let first = tree.members(self.per[balance.from], group)[0];
        Some(match &balance.choose {
            Choose::Any => (0, Level::Cpu),
            Choose::Best { key, greatest, near } => {
                let distance = if *near { tree.distance(cpu, first) } else { Level::Cpu };
                let key = i128::from(self.key(key));
                (if *greatest { -key } else { key }, distance)
            }
        })
    }

    /// What a chosen queue gives: no task if none are wanted or if the filter fails by now.
    pub(super) fn gives(&mut self, balance: &Balance, group: usize, cpus: &[CpuId]) -> Gives {
        self.frame.other = Some(At { level: self.per[balance.from], group });
        let count = self.key(&balance.count);
        let wanted = count >= 1 && self.holds(&balance.filter, None);
        let task = if wanted { self.first(balance, group, cpus) } else { None };
        Gives { task, count }
    }

    /// The first task of a queue that may run on one of `cpus` and passes `recheck`.
    pub(super) fn first(
        &mut self,
        balance: &Balance,
        group: usize,
        cpus: &[CpuId],
    ) -> Option<(TaskId, CpuId)> {
        let queue = &self.state.queues[balance.from][group];
        let mut entry = queue.after(None);
        while let Some(next) = entry {
            let task = TaskId::nth(next.task as usize);
            let cpu = cpus.iter().find(|&&cpu| self.state.may(self.view, task, cpu));
            if let Some(&cpu) = cpu
                && self.holds(&balance.recheck, Some(task))
            {
                return Some((task, cpu));
            }
            entry = queue.after(Some(&next));
        }
        None
    }
}

/// What a queue gives to a regular balance now.
pub(super) struct Gives {
    /// The next task, and the CPU on which it may run.
    pub(super) task: Option<(TaskId, CpuId)>,
    /// How many tasks the text would take.
    pub(super) count: i64,
}

impl Scheduler {
    pub(super) fn looking<'s>(
        &'s mut self,
        view: &'s View,
    ) -> (Looking<'s>, &'s crate::ir::Policy) {
        let Scheduler { state, per, frame, policy, .. } = self;
        (Looking { view, state, per, frame }, policy)
    }

    /// A task for `cpu`, which found none in its own queues: one attempt on each level.
    pub(super) fn steal(&mut self, cx: &mut Context, cpu: CpuId) -> Option<TaskId> {
        let balance = self.policy.idle.take()?; // put back below
        let stolen = self.steal_by(cx, cpu, &balance);
        self.policy.idle = Some(balance);
        stolen
    }

    fn steal_by(&mut self, cx: &mut Context, cpu: CpuId, balance: &Balance) -> Option<TaskId> {
        if self.state.waiting[balance.from] == 0 {
            self.note(cx, cpu, balance, (None, &[]), || "no task waits".into());
            return None;
        }
        let own = at(&self.state, cpu);
        self.frame.me = Some(own);
        for level in 0..balance.levels.len() {
            let groups = std::mem::take(&mut self.stolen_from[own.group][level]);
            let stolen = self.steal_at(cx, cpu, balance, &groups);
            self.stolen_from[own.group][level] = groups;
            if stolen.is_some() {
                return stolen;
            }
        }
        None
    }

    /// One attempt at one level.
    fn steal_at(
        &mut self,
        cx: &mut Context,
        cpu: CpuId,
        balance: &Balance,
        groups: &[usize],
    ) -> Option<TaskId> {
        let (mut looking, _) = self.looking(cx);
        let passing = looking.passing(balance, groups, cpu);
        let tries = balance.retry.map_or(usize::MAX, |retry| retry as usize).saturating_add(1);
        let mut tried = passing.iter().take(tries);
        let found = tried.find_map(|&group| Some((self.first_of(cx, cpu, balance, group)?, group)));
        let Some((task, group)) = found else {
            self.note(cx, cpu, balance, (None, groups), || match passing.is_empty() {
                true => "no candidate passed the filter".into(),
                false => format!("failed {}", passing.len().min(tries)),
            });
            return None;
        };
        self.takes(cpu, balance, task, group);
        self.note(cx, cpu, balance, (Some(task), groups), || format!("took from {group}"));
        Some(task)
    }

    /// The task that `cpu` would take from a group now. An unchecked steal looks at no task but the
    /// first.
    pub(super) fn first_of(
        &mut self,
        view: &View,
        cpu: CpuId,
        balance: &Balance,
        group: usize,
    ) -> Option<TaskId> {
        if self.policy.protocol.unchecked {
            return head(view, &self.state, balance.from, group, cpu);
        }
        let (mut looking, _) = self.looking(view);
        looking.frame.other = Some(At { level: looking.per[balance.from], group });
        looking.first(balance, group, &[cpu]).map(|(task, _)| task)
    }

    /// `task` leaves the queue of a group, and is about to run on `cpu`.
    pub(super) fn takes(&mut self, cpu: CpuId, balance: &Balance, task: TaskId, group: usize) {
        let into = balance.into.unwrap_or(balance.from);
        let into = (into, self.state.tree.group(self.per[into], cpu));
        self.rebase(balance, task, group, into);
        self.state.remove(task, true);
    }

    /// The task's distance from the least key of its old queue becomes its distance from that of
    /// `into`.
    fn rebase(&mut self, balance: &Balance, task: TaskId, from: usize, into: (usize, usize)) {
        let Some(var) = balance.rebase else { return };
        let least = |(queue, group): (usize, usize)| self.state.queues[queue][group].key_min();
        let by = least(into).saturating_sub(least((balance.from, from)));
        let var = &mut self.state.task(task).vars[var];
        *var = var.saturating_add(by);
    }

    /// A regular balance, which `leader` does for its group of the victims' level.
    pub(super) fn balance(&mut self, cx: &mut Context, index: usize, leader: CpuId) {
        let balance = self.policy.periodic[index].balance.clone();
        let per = self.per[balance.from];
        let (own, leads) = (self.state.tree.group(per, leader), at(&self.state, leader).group);
        self.frame.me = Some(At { level: per, group: own });
        for level in 0..balance.levels.len() {
            let groups = std::mem::take(&mut self.pulled_from[index][leads][level]);
            let moved = self.pull(cx, leader, &balance, &groups);
            self.note(cx, leader, &balance, (None, &groups), || match moved {
                None => "no candidate passed the filter".into(),
                Some((moved, from)) => format!("moved {moved} from {from}"),
            });
            self.pulled_from[index][leads][level] = groups;
            if moved.is_some_and(|(moved, _)| moved > 0) {
                return;
            }
        }
    }

    /// Tasks move from the chosen candidate into the own queue: how many, and from which group.
    fn pull(
        &mut self,
        cx: &mut Context,
        leader: CpuId,
        balance: &Balance,
        groups: &[usize],
    ) -> Option<(u64, usize)> {
        let into = balance.into.unwrap_or(balance.from);
        let own = self.state.tree.group(self.per[into], leader);
        let cpus = self.state.tree.members(self.per[into], own).to_vec();
        let (mut looking, _) = self.looking(cx);
        let passing = looking.passing(balance, groups, leader);
        let tries = balance.retry.map_or(usize::MAX, |retry| retry as usize).saturating_add(1);
        let mut result = None;
        for &group in passing.iter().take(tries) {
            let (mut moved, mut most) = (0, i64::MAX);
            while moved < most {
                let (mut looking, _) = self.looking(cx);
                let Gives { task, count } = looking.gives(balance, group, &cpus);
                most = most.min(count);
                let Some(found) = task else { break };
                self.pull_one(cx, leader, balance, found, (group, own));
                self.wake(cx, found.0, into, own, ANYWHERE);
                moved += 1;
            }
            result = Some((moved as u64, group));
            if moved > 0 {
                break;
            }
        }
        result
    }

    /// A task moves from the queue of one group into that of another.
    pub(super) fn pull_one(
        &mut self,
        cx: &mut Context,
        leader: CpuId,
        balance: &Balance,
        (task, cpu): (TaskId, CpuId),
        (from, own): (usize, usize),
    ) {
        let into = balance.into.unwrap_or(balance.from);
        self.rebase(balance, task, from, (into, own));
        self.state.remove(task, false);
        self.step(cx, leader, Note::LEFT, Some(task));
        self.insert(cx, task, into, own);
        if cx.task(task).cpu != cpu {
            cx.moved(task, cpu);
        }
    }

    /// Reports the result of looking at the CPUs of `groups`, if an observer wants it.
    fn note(
        &self,
        cx: &mut Context,
        cpu: CpuId,
        balance: &Balance,
        (task, groups): (Option<TaskId>, &[usize]),
        outcome: impl FnOnce() -> String,
    ) {
        let (tree, per) = (&self.state.tree, self.per[balance.from]);
        let what = if balance.into.is_some() { "balance" } else { "idle balance" };
        cx.note(|_| Note::new(cpu, what, task, considered(tree, per, groups), outcome()));
    }
}

fn considered(tree: &Tree, per: Level, groups: &[usize]) -> CpuSet {
    groups.iter().flat_map(|&group| tree.members(per, group)).copied().collect()
}

/// The first task of a queue, if it can run on `cpu`. An unchecked steal looks at no other task.
fn head(view: &View, state: &State, queue: usize, group: usize, cpu: CpuId) -> Option<TaskId> {
    let first = state.queues[queue][group].after(None)?;
    let task = TaskId::nth(first.task as usize);
    state.may(view, task, cpu).then_some(task)
}
