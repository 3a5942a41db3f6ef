//! The scope of a check: the window, the CPUs and the tasks that count.

use wastenot_model::{CpuId, History, TaskId, Time, Window};

use crate::Options;

/// The part of a History that counts.
#[derive(Clone, Debug)]
pub struct Scope {
    /// The counted time, within what was recorded.
    pub window: Window,
    cpus: Vec<bool>,
    tasks: Option<Vec<bool>>,
}

impl Scope {
    /// What `options` ask of `history`.
    pub fn new(history: &History, options: &Options) -> Scope {
        let chosen = |cpu: CpuId| options.cpus.as_ref().is_none_or(|set| set.contains(cpu));
        let cpus = history.cpus().map(chosen).collect();
        let tasks = options.tasks.as_ref().map(|chosen| {
            let mut tasks = vec![false; history.task_count()];
            for index in chosen.iter().filter_map(|task| task.index()) {
                if let Some(task) = tasks.get_mut(index) {
                    *task = true;
                }
            }
            tasks
        });
        Scope { window: options.counted(history), cpus, tasks }
    }
    /// Whether `cpu` counts.
    #[inline]
    pub fn has_cpu(&self, cpu: CpuId) -> bool {
        self.cpus.get(cpu.index()).copied().unwrap_or(false)
    }
    /// Whether `task` counts.
    #[inline]
    pub fn has_task(&self, task: TaskId) -> bool {
        self.tasks.as_ref().is_none_or(|tasks| {
            task.index().is_some_and(|index| tasks.get(index).copied().unwrap_or(false))
        })
    }
    /// Number of CPUs, counted or not.
    pub(crate) fn cpu_count(&self) -> usize {
        self.cpus.len()
    }
    /// The CPUs that count.
    pub fn cpus(&self) -> impl Iterator<Item = CpuId> + '_ {
        let counted = self.cpus.iter().enumerate().filter(|(_, counted)| **counted);
        counted.map(|(cpu, _)| CpuId(cpu as u16))
    }
    /// Length of the counted part of `[from, to)` in nanoseconds.
    #[inline]
    pub(crate) fn counted_ns(&self, from: Time, to: Time) -> u64 {
        self.window.clip(from, to).map_or(0, |(from, to)| to.0 - from.0)
    }
}
