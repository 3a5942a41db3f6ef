//! The longest wait of some tasks, also one that no run ended.

use serde::{Deserialize, Serialize};
use wastenot_model::{CpuId, History, Phase, TaskId, TaskReceiver, TaskSpan, TaskState};

/// A wait for a CPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wait {
    /// The task.
    pub task: String,
    /// Where it was queued.
    pub cpu: Option<u16>,
    /// From when on, since the start of the run.
    pub from_ns: u64,
    /// For how long.
    pub ns: u64,
    /// Whether it still waited when the run was over.
    pub is_open: bool,
}

/// Takes the waits of those tasks for which `counts` has true.
pub(crate) struct Longest<'a> {
    history: &'a History,
    counts: Vec<bool>,
    found: Option<(TaskId, Wait)>,
}

impl<'a> Longest<'a> {
    pub(crate) fn new(history: &'a History, counts: Vec<bool>) -> Longest<'a> {
        Longest { history, counts, found: None }
    }

    pub(crate) fn finish(self) -> Option<Wait> {
        let (task, wait) = self.found?;
        Some(Wait { task: self.history.task_label(task), ..wait })
    }
}

impl TaskReceiver for Longest<'_> {
    /// Whether it waits. A task that is moved meanwhile goes on waiting.
    type Seen = bool;

    fn see(&self, is: &TaskState) -> bool {
        is.phase == Phase::Waiting
    }

    fn span(&mut self, span: TaskSpan<'_, bool>) {
        let counts = span.task.index().is_some_and(|it| self.counts.get(it) == Some(&true));
        let ns = span.window.span().0;
        if !span.seen || !counts || self.found.as_ref().is_some_and(|(_, it)| it.ns >= ns) {
            return;
        }
        let from_ns = (span.window.from - self.history.window().from).0;
        let cpu = span.was.cpu.map(|CpuId(cpu)| cpu);
        let is_open = span.next.is_none();
        self.found = Some((span.task, Wait { task: String::new(), cpu, from_ns, ns, is_open }));
    }
}
