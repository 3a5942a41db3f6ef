//! The state of one policy: its queues, its CPUs, and the variables of tasks. And what stays as it
//! is: the candidates of each CPU.

use wastenot_model::policy::View;
use wastenot_model::{CpuId, CpuSet, TaskId, Time, nice};

use super::queue::{Entry, Queue};
use crate::Tree;
use crate::eval::{Exact, Leaf, Look};
use crate::ir::{self, Balance, Level};

/// Queues, CPUs and tasks of one policy.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) tree: Tree,
    /// By queue of the text, then by group of its level.
    pub(super) queues: Vec<Vec<Queue>>,
    /// How many tasks wait in all queues of one name.
    pub(super) waiting: Vec<usize>,
    /// CPUs that sleep and that were not yet kicked: the protocol's idle flags.
    pub(super) idle: CpuSet,
    /// Where the current handler has put its task: expressions see it there, although it is
    /// inserted only after the handler.
    pub(super) put: Option<(usize, usize, i64)>,
    /// CPUs that go to sleep while the handler runs, before its task is in its queue. Only for
    /// policies whose caller orders the steps.
    pub(super) meanwhile: CpuSet,
    /// By CPU number, including CPUs of other partitions.
    pub(super) cpus: Vec<Cpu>,
    /// By ordinal.
    pub(super) tasks: Vec<Task>,
    arrivals: u64,
    /// The initial values of the variables of new tasks.
    initial: Vec<i64>,
}

/// The state of a CPU.
#[derive(Clone, Debug, Default)]
pub(super) struct Cpu {
    /// The task that it runs.
    pub(super) current: Option<TaskId>,
    /// The task that runs there next: its local queue.
    pub(super) next: Option<TaskId>,
    pub(super) vars: Vec<i64>,
}

/// The state of a task.
#[derive(Clone, Debug, Default)]
pub(super) struct Task {
    pub(super) vars: Vec<i64>,
    /// How long it may run, in ns, once it starts; `None`: as long as it wants.
    pub(super) slice: Option<i64>,
    /// Since when it runs.
    pub(super) since: Time,
    /// Where it waits: queue, group, place.
    pub(super) at: Option<(usize, usize, Entry)>,
    /// It is about to end.
    pub(super) ends: bool,
}

impl State {
    pub(super) fn new(policy: &ir::Policy, tree: Tree, view: &View) -> State {
        let queues =
            policy.queues.iter().map(|queue| vec![Queue::default(); tree.count(queue.per)]);
        let first = |vars: &[ir::Variable]| vars.iter().map(|var| var.value).collect::<Vec<i64>>();
        let cpu = Cpu { vars: first(&policy.cpu_vars), ..Cpu::default() };
        State {
            queues: queues.collect(),
            waiting: vec![0; policy.queues.len()],
            idle: tree.cpus().iter().copied().filter(|&cpu| view.online.contains(cpu)).collect(),
            put: None,
            meanwhile: CpuSet::new(),
            cpus: vec![cpu; view.cpus.len()],
            tasks: Vec::new(),
            arrivals: 0,
            initial: first(&policy.task_vars),
            tree,
        }
    }

    pub(super) fn task(&mut self, task: TaskId) -> &mut Task {
        let index = task.ordinal();
        if self.tasks.len() <= index {
            let new = Task { vars: self.initial.clone(), ..Task::default() };
            self.tasks.resize(index + 1, new);
        }
        &mut self.tasks[index]
    }

    /// `task` waits from now on, under the current value of its key.
    pub(super) fn insert(
        &mut self,
        view: &View,
        task: TaskId,
        queue: usize,
        group: usize,
        key: i64,
    ) {
        self.arrivals += 1;
        let (arrival, weight) = (self.arrivals, nice::scx_weight(view.task(task).nice));
        let entry = Entry { key, arrival, task: task.ordinal() as u32, weight };
        self.queues[queue][group].insert(entry);
        self.waiting[queue] += 1;
        self.task(task).at = Some((queue, group, entry));
    }

    /// `task` no longer waits; `taken`: because it runs next.
    pub(super) fn remove(&mut self, task: TaskId, taken: bool) {
        if let Some((queue, group, entry)) = self.task(task).at.take() {
            self.queues[queue][group].remove(&entry, taken);
            self.waiting[queue] -= 1;
        }
    }

    /// The first task of a queue that may run on `cpu`.
    pub(super) fn first(
        &self,
        view: &View,
        queue: usize,
        group: usize,
        cpu: CpuId,
    ) -> Option<TaskId> {
        let waiting = self.queues[queue][group].iter();
        let mut tasks = waiting.map(|entry| TaskId::nth(entry.task as usize));
        tasks.find(|&task| self.may(view, task, cpu))
    }

    /// Whether `task` may run on `cpu` now, and this policy has that CPU.
    pub(super) fn may(&self, view: &View, task: TaskId, cpu: CpuId) -> bool {
        self.tree.has(cpu) && view.online.contains(cpu) && view.allowed(task, cpu)
    }

    /// The idle CPU nearest to `near` that passes.
    pub(super) fn nearest_idle(
        &self,
        by: &[Level],
        near: CpuId,
        pass: impl Fn(CpuId) -> bool,
    ) -> Option<CpuId> {
        if self.idle.is_empty() {
            return None;
        }
        let pass = |cpu: &&CpuId| self.idle.contains(**cpu) && pass(**cpu);
        let narrow = by.iter().filter(|&&level| level < Level::Machine);
        let groups = std::iter::once(&Level::Cpu).chain(narrow);
        let groups = groups.map(|&level| self.tree.members(level, self.tree.group(level, near)));
        let mut groups = groups.chain([self.tree.cpus()]);
        groups.find_map(|cpus| cpus.iter().find(pass).copied())
    }
}

/// The policy's current state, as expressions read it.
pub(super) struct Seen<'s> {
    pub(super) view: &'s View,
    pub(super) state: &'s State,
    /// The task at hand.
    pub(super) task: Option<TaskId>,
    /// For how long that task ran.
    pub(super) ran: i64,
}

impl Seen<'_> {
    /// The weight of the task that was just put into a queue.
    fn put(&self, queue: usize, group: usize) -> Option<i64> {
        let here = |put: &(usize, usize, i64)| (put.0, put.1) == (queue, group);
        self.state.put.filter(here).map(|(.., weight)| weight)
    }
    fn task(&self) -> TaskId {
        self.task.expect("the type checker accepts a task only in handlers that have a task")
    }
    /// The task that a CPU runs.
    fn runs(&self, cpu: CpuId) -> Option<TaskId> {
        let state = &self.state.cpus[cpu.index()];
        state.current.or(state.next)
    }
}

impl Look for Seen<'_> {
    type Domain = Exact;

    fn tree(&self) -> &Tree {
        &self.state.tree
    }
    fn allowed(&self, cpu: CpuId) -> bool {
        self.state.may(self.view, self.task(), cpu)
    }
    // Callers name the leaf: what is left of it there is one arm.
    #[inline(always)]
    fn read(&self, leaf: Leaf) -> i64 {
        let queue = |queue: usize, group: usize| &self.state.queues[queue][group];
        let weight = |task| nice::scx_weight(self.view.task(task).nice);
        match leaf {
            Leaf::Queued(at, group) => {
                queue(at, group).len() as i64 + i64::from(self.put(at, group).is_some())
            }
            Leaf::QueuedWeight(at, group) => {
                queue(at, group).weight() + self.put(at, group).unwrap_or(0)
            }
            Leaf::MinKey(at, group) => queue(at, group).key_min(),
            Leaf::Running(cpu) => i64::from(self.runs(cpu).is_some()),
            Leaf::RunningWeight(cpu) => self.runs(cpu).map_or(0, weight),
            Leaf::CpuVar(var, cpu) => self.state.cpus[cpu.index()].vars[var],
            Leaf::TaskVar(var) => self.state.tasks[self.task().ordinal()].vars[var],
            Leaf::Weight => weight(self.task()),
            Leaf::Job => i64::from(self.view.task(self.task()).job.unwrap_or(0)),
            Leaf::Ran => self.ran,
            Leaf::Now => self.view.now.0 as i64,
        }
    }
}

/// For each CPU of a policy and each level of the balance: the candidate groups, in the order of
/// their numbers, starting from the CPU's own group.
pub(super) type Candidates = Vec<Vec<Vec<usize>>>;

/// The candidates of each CPU.
pub(super) fn candidates(tree: &Tree, balance: &Balance, per: Level) -> Candidates {
    let count = tree.count(per);
    let at = |cpu: CpuId, n: usize| {
        let own = tree.group(per, cpu);
        let mut groups: Vec<usize> = tree.victims(cpu, per, &balance.levels, n).collect();
        groups.sort_unstable_by_key(|group| (group + count - own) % count);
        groups
    };
    let of = |&cpu: &CpuId| (0..balance.levels.len()).map(|n| at(cpu, n)).collect();
    tree.cpus().iter().map(of).collect()
}
