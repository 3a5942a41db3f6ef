//! The marks of violations in pictures. A mark shows when and where a task waited while a CPU that
//! it may use was idle, and the idle time of that CPU.
//!
//! # Result
//! For each counted violation, the result contains the stretches in which any CPU that the task may
//! use was idle, with the CPU where the task waited. Their sum equals
//! [`Sum::idle_ns`](super::violations::Sum), for each task and in total. So a picture shows the
//! same time as the figures.

use wastenot_model::{CpuId, TaskId, Window};

/// A task waited here while a CPU that it may use was idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waited {
    /// The task.
    pub task: TaskId,
    /// The CPU.
    pub cpu: CpuId,
    /// The window.
    pub window: Window,
}

/// All marks of a picture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Waits, in the order of their ends.
    pub waited: Vec<Waited>,
    /// The idle stretches of CPUs during these waits, by CPU and time, joined if they touch.
    pub idle: Vec<(CpuId, Window)>,
    /// The number of stretches in `idle` that are already joined.
    joined: usize,
}

/// Stretches of idle CPUs that come in before they are joined again.
const LOOSE: usize = 1 << 16;

impl Marks {
    /// `task` waited while these CPUs were idle; `places` says where it waited in a window, part
    /// by part.
    pub(crate) fn add<P: Iterator<Item = (CpuId, Window)>>(
        &mut self,
        task: TaskId,
        idle: &[(CpuId, Window)],
        places: impl Fn(Window) -> P,
    ) {
        self.add_waits(task, idle.iter().map(|(_, stretch)| *stretch).collect(), places);
        self.idle.extend(idle);
        if self.idle.len() > self.joined + LOOSE.max(self.joined) {
            self.settle();
        }
    }

    /// `task` waited while CPUs were idle in these stretches.
    pub(crate) fn add_waits<P: Iterator<Item = (CpuId, Window)>>(
        &mut self,
        task: TaskId,
        mut stretches: Vec<Window>,
        places: impl Fn(Window) -> P,
    ) {
        stretches.sort_unstable_by_key(|stretch| (stretch.from, stretch.to));
        stretches.dedup_by(join);
        for (cpu, window) in stretches.into_iter().flat_map(places) {
            self.waited.push(Waited { task, cpu, window });
        }
    }

    /// Joins what touches: many tasks wait while one CPU is idle.
    pub(crate) fn settle(&mut self) {
        self.idle.sort_unstable_by_key(|(cpu, window)| (*cpu, window.from, window.to));
        self.idle.dedup_by(|next, kept| next.0 == kept.0 && join(&mut next.1, &mut kept.1));
        self.joined = self.idle.len();
    }
}

/// Adds `next`, which does not begin before, where the two touch.
fn join(next: &mut Window, kept: &mut Window) -> bool {
    let joins = next.from <= kept.to;
    if joins {
        kept.to = kept.to.max(next.to);
    }
    joins
}
