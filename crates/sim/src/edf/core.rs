//! What global EDF decides: which jobs are on CPUs, in zero time, whoever takes the decision.

use wastenot_model::sporadic::{Sporadic, TaskSet};

use super::tournament::{NONE, Tournament};

/// Which of two jobs with one deadline goes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tie {
    /// That of the task that comes first in its set: LITMUS^RT's lower pid.
    #[default]
    First,
    /// That of the task that comes last.
    Last,
    /// The one that runs, as in SchedCAT; of those that wait the first.
    Running,
}

/// What says whose job goes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The earlier deadline.
    #[default]
    Deadline,
    /// The earlier deadline less (m - 1) / m of what the job takes, in whole us: global fair
    /// lateness (Erickson, Anderson, ECRTS 2012).
    FairLateness,
    /// The task that comes first in its set: global fixed priority.
    Fixed,
}

impl Order {
    /// How urgent a job of `task` is that was released then, in us: less goes first. `cpus` run
    /// tasks.
    pub(super) fn urgency(self, task: &Sporadic, released_us: u64, cpus: u32) -> u64 {
        let due_us = released_us + task.deadline_us;
        let cpus = u64::from(cpus);
        match self {
            Order::Deadline => due_us,
            // No C is longer: the sum stays positive.
            Order::FairLateness => due_us + TaskSet::MOST_US - (cpus - 1) * task.wcet_us / cpus,
            Order::Fixed => 0,
        }
    }
}

/// Whose job goes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// By this.
    pub order: Order,
    /// Of equals.
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
    /// Nothing is less urgent, and no deadline later, in us: half a year.
    pub const LATEST_US: u64 = 1 << 43;

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

/// Who waits, and whose job is linked to which CPU. Links are what should run: that it does is the
/// business of whoever asks.
#[derive(Clone, Debug)]
pub struct Core {
    tie: Tie,
    /// By task: the key of its job that waits.
    ready: Tournament,
    /// By CPU: the complement of the key of its link, so that the least is who is displaced first.
    linked: Tournament,
    /// By CPU.
    link: Vec<Option<Key>>,
    /// CPUs without a link, the lowest number last.
    idle: Vec<u32>,
}

/// A job that was linked to a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The CPU.
    pub cpu: u32,
    /// The task whose job it is.
    pub task: u32,
    /// How urgent it is: its deadline, in us.
    pub urgency: u64,
    /// The task whose job had that CPU, and waits again.
    pub displaced: Option<u32>,
}

impl Core {
    /// Nobody waits, nobody is linked.
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
    /// The job of `task` does not wait any more.
    pub fn withdraw(&mut self, task: u32) {
        self.ready.set(task as usize, NONE);
    }
    /// The job that was linked to `cpu` is not any more: of which task.
    pub fn unlink(&mut self, cpu: u32) -> Option<u32> {
        let key = self.link[cpu as usize].take()?;
        self.linked.set(cpu as usize, NONE);
        let at = self.idle.partition_point(|&idle| idle > cpu);
        self.idle.insert(at, cpu);
        Some(key.task(self.tie))
    }
    /// The job of `task`, which may be linked to `cpu`, neither waits nor is linked any more.
    pub fn forget(&mut self, task: u32, cpu: u32) {
        if self.linked(cpu) == Some(task) {
            self.unlink(cpu);
        } else {
            self.withdraw(task);
        }
    }
    /// What was linked to either of two CPUs is linked to the other.
    pub fn exchange(&mut self, a: u32, b: u32) {
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
    /// Links the first that waits to `cpu`, to which nothing is.
    pub fn take(&mut self, cpu: u32) {
        let first = self.ready.least();
        if first != NONE && self.link[cpu as usize].is_none() {
            self.ready.set(Key(first).task(self.tie) as usize, NONE);
            self.idle.retain(|&idle| idle != cpu);
            self.links(cpu, Key(first));
        }
    }
    /// Whose job is linked to `cpu`.
    pub fn linked(&self, cpu: u32) -> Option<u32> {
        self.link[cpu as usize].map(|key| key.task(self.tie))
    }
    /// Links the first that waits, if a CPU has nothing or something less urgent. To be asked until
    /// there is nothing to do.
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

    /// Whether nobody waits who should be linked.
    pub fn is_decided(&self) -> bool {
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
