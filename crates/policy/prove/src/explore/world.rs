//! A policy on a small machine, and what expressions see of a situation there.

use std::borrow::Cow;
use std::sync::OnceLock;

use wastenot_model::CpuId;
use wastenot_rota::Tree;
use wastenot_rota::eval::{At, Domain, Exact, Frame, Leaf, Look, widen};
use wastenot_rota::ir::{Level, Policy};

use super::placed::Placings;
use super::situation::{Place, Situation, Task};
use crate::Small;

/// On so many CPUs at most it is kept where handlers put tasks.
const KEPT: usize = 8;

/// A policy on a small machine: what does not change from situation to situation.
#[derive(Clone, Debug)]
pub struct World<'p> {
    /// The policy.
    pub policy: &'p Policy,
    /// The machine.
    pub small: &'p Small,
    /// The level of each queue.
    pub per: Vec<Level>,
    params: Vec<i64>,
    /// Where handlers put tasks, by affinity, once that is asked.
    placings: Vec<OnceLock<Placings>>,
}

impl<'p> World<'p> {
    /// `policy` with its default parameters on a machine.
    pub fn new(policy: &'p Policy, small: &'p Small) -> World<'p> {
        let per = policy.queues.iter().map(|queue| queue.per).collect();
        let params = policy.params.iter().map(|param| param.value).collect();
        let cpus = small.tree.cpus().len();
        let placings = vec![OnceLock::new(); if cpus > KEPT { 0 } else { 1 << cpus }];
        World { policy, small, per, params, placings }
    }
    /// The CPUs, ascending from 0.
    pub fn cpus(&self) -> &'p [CpuId] {
        self.small.tree.cpus()
    }
    /// The groups.
    pub fn tree(&self) -> &'p Tree {
        &self.small.tree
    }
    /// What names stand for before anything is bound.
    pub fn frame<D: Domain>(&self) -> Frame<D> {
        Frame::new(self.params.clone())
    }
    /// The same in what `cpu` dispatches or balances.
    pub(crate) fn frame_at<D: Domain>(&self, cpu: CpuId) -> Frame<D> {
        let me = At { level: Level::Cpu, group: self.tree().group(Level::Cpu, cpu) };
        Frame { me: Some(me), here: Some(cpu), ..self.frame() }
    }
    /// The CPUs of the group of a level that a place is in; all, if it is no matter in which.
    pub(crate) fn inside(&self, near: At, level: Option<Level>) -> Vec<CpuId> {
        let tree = self.tree();
        let inside = |cpu: &CpuId| {
            level.is_none_or(|level| tree.group(level, *cpu) == widen(tree, near, level).group)
        };
        self.cpus().iter().copied().filter(inside).collect()
    }
    /// Where tasks with an affinity are put, as `of` works it out; once, if it is kept.
    pub(super) fn placings(&self, mask: u32, of: fn(&Self, u32) -> Placings) -> Cow<'_, Placings> {
        match self.placings.get(mask as usize) {
            Some(kept) => Cow::Borrowed(kept.get_or_init(|| of(self, mask))),
            None => Cow::Owned(of(self, mask)),
        }
    }
    /// A situation as expressions see it, about one task or none.
    pub fn look<'a>(&'a self, situation: &'a Situation, task: Option<usize>) -> Looking<'a> {
        Looking { tree: self.tree(), situation, task }
    }
    /// The variables of CPUs as they begin.
    pub fn vars(&self) -> Vec<Vec<i64>> {
        let vars = self.policy.cpu_vars.iter().map(|var| var.value).collect();
        vec![vars; self.cpus().len()]
    }
}

/// What expressions see of a situation. Keys and times are not part of it: where a balance reads
/// them nothing is shown by looking at situations (`unseen`).
#[derive(Clone, Copy, Debug)]
pub struct Looking<'a> {
    tree: &'a Tree,
    situation: &'a Situation,
    task: Option<usize>,
}

impl Looking<'_> {
    fn task(&self) -> Option<&Task> {
        self.situation.tasks.get(self.task?)
    }
    /// The task that a CPU runs.
    fn runs(&self, cpu: CpuId) -> Option<&Task> {
        self.situation.tasks.iter().find(|task| task.place == Place::Runs(cpu))
    }
}

impl Look for Looking<'_> {
    type Domain = Exact;

    fn tree(&self) -> &Tree {
        self.tree
    }
    fn allowed(&self, cpu: CpuId) -> bool {
        self.task().is_some_and(|task| task.allowed(cpu))
    }
    fn read(&self, leaf: Leaf) -> i64 {
        match leaf {
            Leaf::Queued(queue, group) => self.situation.waiting(queue, group).count() as i64,
            Leaf::QueuedWeight(queue, group) => {
                let tasks = self.situation.waiting(queue, group);
                tasks.map(|task| self.situation.tasks[task].weight).sum()
            }
            Leaf::Running(cpu) => i64::from(self.runs(cpu).is_some()),
            Leaf::RunningWeight(cpu) => self.runs(cpu).map_or(0, |task| task.weight),
            Leaf::CpuVar(var, cpu) => self.situation.vars[cpu.index()][var],
            Leaf::Weight => self.task().map_or(100, |task| task.weight),
            Leaf::MinKey(..) | Leaf::TaskVar(_) | Leaf::Job | Leaf::Ran | Leaf::Now => 0,
        }
    }
}
