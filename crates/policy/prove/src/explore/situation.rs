//! Who runs where and who waits where, at one instant, on a small machine.

use wastenot_model::CpuId;

/// Where a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// In a queue of a group.
    Waits {
        /// Which queue of the policy.
        queue: usize,
        /// Whose.
        group: usize,
    },
    /// On a CPU.
    Runs(CpuId),
    /// Asleep, or not there yet.
    Away,
}

/// A task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Task {
    /// Where it is.
    pub place: Place,
    /// On which CPUs it may run: bit n is CPU n.
    pub mask: u32,
    /// Its weight.
    pub weight: i64,
}

impl Task {
    /// Whether it may run on `cpu`.
    pub fn allowed(&self, cpu: CpuId) -> bool {
        self.mask >> cpu.0 & 1 == 1
    }
}

/// All tasks, and what the policy keeps of CPUs. Tasks in a queue stand there in the order of their
/// numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Situation {
    /// The tasks.
    pub tasks: Vec<Task>,
    /// `vars[cpu][var]`
    pub vars: Vec<Vec<i64>>,
}

impl Situation {
    /// Whether `cpu` runs no task.
    pub fn is_idle(&self, cpu: CpuId) -> bool {
        self.tasks.iter().all(|task| task.place != Place::Runs(cpu))
    }
    /// Who waits in a queue.
    pub fn waiting(&self, queue: usize, group: usize) -> impl Iterator<Item = usize> + '_ {
        let here = Place::Waits { queue, group };
        (0..self.tasks.len()).filter(move |&task| self.tasks[task].place == here)
    }
    /// A task that waits in some queue and may run on `cpu`: with an idle `cpu`, a violation.
    pub fn wanted_by(&self, cpu: CpuId) -> Option<usize> {
        let waits = |task: &Task| matches!(task.place, Place::Waits { .. }) && task.allowed(cpu);
        self.tasks.iter().position(waits)
    }
}
