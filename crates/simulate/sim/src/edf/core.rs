//! What global EDF decides, in zero time: which jobs are on CPUs. The callers decide when to ask.

use wastenot_model::sporadic::{Sporadic, TaskSet};

use super::tournament::{NONE, Tournament};

/// Tie-breaking: which of two jobs with equal deadlines goes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tie {
    /// The job of the task that comes first in its set: LITMUS^RT's lower pid.
    #[default]
    First,
    /// The job of the task that comes last in its set.
    Last,
    /// The job that runs, as in SchedCAT; among waiting jobs, that of the first task.
    Running,
}

/// What orders the jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Earliest deadline first.
    #[default]
    Deadline,
    /// Earliest (deadline - (m - 1) / m of the job's C) first, in whole us: global fair lateness
    /// (Erickson, Anderson, ECRTS 2012).
    FairLateness,
    /// The task that comes first in its set goes first: global fixed priority.
    Fixed,
}

impl Order {
    /// The urgency of a job of `task` that was released at `released_us`, in us: a smaller value
    /// goes first. `cpus` CPUs run tasks.
    pub(super) fn urgency(self, task: &Sporadic, released_us: u64, cpus: u32) -> u64 {
        let due_us = released_us + task.deadline_us;
        let cpus = u64::from(cpus);
        match self {
            Order::Deadline => due_us,
            // No C is longer, so the sum stays positive.
            Order::FairLateness => due_us + TaskSet::MOST_US - (cpus - 1) * task.wcet_us / cpus,
            Order::Fixed => 0,
        }
    }
}

/// Which job goes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// The order of urgency.
    pub order: Order,
    /// The tie-breaking rule.
    pub tie: Tie,
}

impl Rule {
    /// Earliest deadline first.
    pub fn edf(tie: Tie) -> Rule {
        Rule { order: Order::Deadline, tie }
    }
}

/// The priority of a job: its urgency, then its task. Less goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key(u64);

impl Key {
    /// Bits that hold the task.
    pub(super) const TASK_BITS: u32 = 20;
    pub(super) const TASKS: u64 = (1 << Key::TASK_BITS) - 1;
    /// No urgency and no deadline is greater, in us: half a year.
    pub(crate) const LATEST_US: u64 = 1 << 43;

    fn new(urgency: u64, task: u32, tie: Tie) -> Key {
        debug_assert!(urgency <= Key::LATEST_US && u64::from(task) <= Key::TASKS);
        let task = u64::from(task);
        Key(urgency << Key::TASK_BITS | if tie == Tie::Last { Key::TASKS - task } else { task })
    }
    fn urgency(self) -> u64 {
        self.0 >> Key::TASK_BITS
    }
    fn task(self, tie: Tie) -> u32 {
        let task = self.0 & Key::TASKS;
        (if tie == Tie::Last { Key::TASKS - task } else { task }) as u32
    }
}

/// The jobs that wait, and the job that is linked to each CPU. A link states what should run; the
/// callers make it run.
#[derive(Clone, Debug)]
pub struct Core {
    tie: Tie,
    /// By task: the key of its waiting job.
    ready: Tournament,
    /// By CPU: the complement of the key of its link, so that the minimum is displaced first.
    linked: Tournament,
    /// By CPU: the key of its link.
    link: Vec<Option<Key>>,
    /// CPUs without a link, the lowest number last.
    idle: Vec<u32>,
}

/// A job that was linked to a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The CPU.
    pub cpu: u32,
    /// The task of the job.
    pub task: u32,
    /// How urgent the job is: its deadline, in us.
    pub(crate) urgency: u64,
    /// The task whose job was linked to that CPU before, and waits again.
    pub displaced: Option<u32>,
}

impl Core {
    /// No job waits, and no job is linked.
    pub fn new(tasks: usize, cpus: u32, tie: Tie) -> Core {
        Core {
            tie,
            ready: Tournament::new(tasks),
            linked: Tournament::new(cpus as usize),
            link: vec![None; cpus as usize],
            idle: (0..cpus).rev().collect(),
        }
    }
    /// A job of `task` waits from now on.
    pub fn ready(&mut self, task: u32, urgency: u64) {
        self.ready.set(task as usize, Key::new(urgency, task, self.tie).0);
    }
    /// The job of `task` waits no longer.
    fn withdraw(&mut self, task: u32) {
        self.ready.set(task as usize, NONE);
    }
    /// Unlinks the job that is linked to `cpu`, and returns its task.
    pub(crate) fn unlink(&mut self, cpu: u32) -> Option<u32> {
        let key = self.link[cpu as usize].take()?;
        self.linked.set(cpu as usize, NONE);
        let at = self.idle.partition_point(|&idle| idle > cpu);
        self.idle.insert(at, cpu);
        Some(key.task(self.tie))
    }
    /// The job of `task`, which may be linked to `cpu`, is neither waiting nor linked any more.
    pub fn forget(&mut self, task: u32, cpu: u32) {
        if self.linked(cpu) == Some(task) {
            self.unlink(cpu);
        } else {
            self.withdraw(task);
        }
    }
    /// Exchanges the links of two CPUs.
    pub(crate) fn exchange(&mut self, a: u32, b: u32) {
        self.link.swap(a as usize, b as usize);
        for cpu in [a, b] {
            let key = self.link[cpu as usize];
            self.linked.set(cpu as usize, key.map_or(NONE, |key| !key.0));
            let at = self.idle.partition_point(|&idle| idle > cpu);
            match (key, self.idle.get(at) == Some(&cpu)) {
                (None, false) => self.idle.insert(at, cpu),
                (Some(_), true) => drop(self.idle.remove(at)),
                _ => {}
            }
        }
    }
    /// Links the first waiting job to `cpu`, which has no link.
    pub fn take(&mut self, cpu: u32) {
        let first = self.ready.least();
        if first != NONE && self.link[cpu as usize].is_none() {
            self.ready.set(Key(first).task(self.tie) as usize, NONE);
            self.idle.retain(|&idle| idle != cpu);
            self.links(cpu, Key(first));
        }
    }
    /// The task whose job is linked to `cpu`.
    pub fn linked(&self, cpu: u32) -> Option<u32> {
        self.link[cpu as usize].map(|key| key.task(self.tie))
    }
    /// Links the first waiting job if a CPU has no link or a less urgent one. Call it until it
    /// returns `None`.
    pub fn decide(&mut self) -> Option<Link> {
        let first = self.ready.least();
        if first == NONE {
            return None;
        }
        let first = Key(first);
        let (cpu, displaced) = match self.idle.last() {
            Some(&cpu) => {
                self.idle.pop();
                (cpu, None)
            }
            None => self.displaced_by(first).map(|(cpu, key)| (cpu, Some(key)))?,
        };
        let (task, urgency) = (first.task(self.tie), first.urgency());
        self.ready.set(task as usize, NONE);
        let displaced = displaced.map(|key| {
            let task = key.task(self.tie);
            self.ready.set(task as usize, key.0);
            task
        });
        self.links(cpu, first);
        Some(Link { cpu, task, urgency, displaced })
    }

    /// Whether no waiting job should be linked.
    pub(crate) fn is_decided(&self) -> bool {
        let first = self.ready.least();
        first == NONE || self.idle.is_empty() && self.displaced_by(Key(first)).is_none()
    }

    fn links(&mut self, cpu: u32, key: Key) {
        self.linked.set(cpu as usize, !key.0);
        self.link[cpu as usize] = Some(key);
    }

    /// The CPU whose link is least urgent, if it is less urgent than `first`.
    fn displaced_by(&self, first: Key) -> Option<(u32, Key)> {
        let last = Key(!self.linked.least());
        let loses = match self.tie {
            Tie::Running => first.urgency() < last.urgency(),
            Tie::First | Tie::Last => first < last,
        };
        if !loses {
            return None;
        }
        let cpu = self.linked.leaf_of_least();
        Some((cpu as u32, last))
    }
}
