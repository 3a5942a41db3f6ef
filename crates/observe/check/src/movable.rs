//! Movable tasks: only a task that could have moved is evidence of waste.
//!
//! If the source contains affinities, they decide. Otherwise, the names of tasks and the CPUs where
//! they ran decide, and the report states this assumption. Throttling and disabled migration come
//! from State and apply in both cases.

use wastenot_model::{Carries, CpuId, CpuSet, History, Seen, TaskId, TaskState};

/// The reason why a task counts as pinned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pinned {
    /// Its name ends in `/N` or `/N:...` and it was seen only on CPU N: a per-CPU kernel thread.
    PerCpu,
    /// `irq/...`, seen on one CPU only: interrupt threads follow their interrupt.
    Irq,
    /// The task never moved although it often waited while another CPU was idle.
    Probably,
}

/// The assumptions about movable tasks.
#[derive(Clone, Debug)]
pub struct Movable {
    /// Whether the source holds affinities.
    told: bool,
    pinned: Vec<Option<Pinned>>,
    /// The tasks that are pinned according to their names, if the source contains affinities.
    named: Vec<Option<Named>>,
}

impl Movable {
    /// Searches the whole trace for tasks that are pinned by assumption.
    pub fn survey(history: &History) -> Movable {
        if history.head.carries.has(Carries::AFFINITY) {
            let named = history.tasks().map(|(_, task)| Named::of(history.name(task.name)));
            let pinned = vec![None; history.task_count()];
            return Movable { told: true, pinned, named: named.collect() };
        }
        let named = |name: &str| Named::of(name).is_some();
        // None of the others can become pinned, so where they were seen does not matter.
        let mut seen: Vec<Option<Seen>> = history
            .tasks()
            .map(|(_, task)| named(history.name(task.name)).then_some(Seen::Nowhere))
            .collect();
        if seen.iter().any(Option::is_some) {
            Seen::look(history, &mut seen);
        }
        let pinned = history.tasks().zip(&seen).map(|((_, task), &seen)| match seen {
            Some(Seen::On(cpu)) => Named::of(history.name(task.name))?.pinned(cpu),
            _ => None,
        });
        Movable { told: false, pinned: pinned.collect(), named: Vec::new() }
    }

    /// Whether the source holds affinities.
    pub(crate) fn is_told(&self) -> bool {
        self.told
    }

    /// Whether `task`, which may run where `mask` says, serves one CPU or interrupt, so that it is
    /// of no use elsewhere: a kernel thread that is named after the one CPU where it may run, or a
    /// thread of an interrupt. Where the source holds no affinities [`pinned`](Movable::pinned)
    /// says as much.
    #[inline]
    pub fn serves(&self, task: TaskId, mask: Option<&CpuSet>) -> bool {
        match task.index().and_then(|index| *self.named.get(index)?) {
            Some(Named::Irq) => true,
            Some(Named::For(cpu)) => mask.is_some_and(|mask| mask.len() == 1 && mask.contains(cpu)),
            None => false,
        }
    }

    /// Whether `task` in `state` could be moved, as far as known.
    #[inline]
    pub(crate) fn is_movable(&self, task: TaskId, state: &TaskState) -> bool {
        if state.throttled || state.migration_disabled {
            return false;
        }
        self.pinned(task).is_none()
    }

    /// The reason why `task` counts as pinned, if it does.
    #[inline]
    pub fn pinned(&self, task: TaskId) -> Option<Pinned> {
        task.index().and_then(|index| *self.pinned.get(index)?)
    }
    /// The number of tasks that are pinned by assumption.
    pub(crate) fn pinned_count(&self) -> usize {
        self.pinned.iter().filter(|pinned| pinned.is_some()).count()
    }
    /// The same assumptions, with these tasks pinned as well.
    pub(crate) fn with_probably_pinned(&self, tasks: &[TaskId]) -> Movable {
        let mut more = self.clone();
        for index in tasks.iter().filter_map(|task| task.index()) {
            more.pinned[index] = Some(Pinned::Probably);
        }
        more
    }
}

/// What a name says of where its task may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named {
    Irq,
    For(CpuId),
}

impl Named {
    fn of(name: &str) -> Option<Named> {
        if name.starts_with("irq/") {
            return Some(Named::Irq);
        }
        let (_, tail) = name.rsplit_once('/')?;
        let number = tail.split(':').next()?;
        number.parse().ok().map(|cpu| Named::For(CpuId(cpu)))
    }
    /// Whether a task with this name that was seen on `cpu` only is pinned.
    fn pinned(self, cpu: CpuId) -> Option<Pinned> {
        match self {
            Named::Irq => Some(Pinned::Irq),
            Named::For(own) => (own == cpu).then_some(Pinned::PerCpu),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn per_cpu_kernel_threads_are_known_by_their_names() {
        let pinned = |name, cpu| Named::of(name).and_then(|named| named.pinned(CpuId(cpu)));
        assert_eq!(pinned("migration/3", 3), Some(Pinned::PerCpu));
        assert_eq!(pinned("kworker/3:1-events", 3), Some(Pinned::PerCpu));
        assert_eq!(pinned("kworker/3:1H", 3), Some(Pinned::PerCpu));
        assert_eq!(pinned("irq/24-nvme0q1", 9), Some(Pinned::Irq));
        for (name, cpu) in [("migration/3", 4), ("kworker/u8:2", 8), ("make", 0), ("a/", 0)] {
            assert_eq!(pinned(name, cpu), None, "{name} on {cpu}");
        }
    }
}
