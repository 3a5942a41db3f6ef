//! Tasks that used a CPU while tasks of the path waited for it.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use wastenot_model::{CpuId, History, Span, TaskId, Window};

use super::watch::Is;
use super::{Ground, Kind, Step};

/// Tasks of one name that ran on a CPU while a task of the path waited for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meanwhile {
    /// The first of them.
    pub task: TaskId,
    /// How many they are.
    pub tasks: usize,
    /// For how long they ran, meanwhile.
    pub ns: u64,
}

impl Meanwhile {
    /// Of the waits on `path`, by name; longest first.
    pub(super) fn of(history: &History, ground: &Ground, path: &[Step]) -> Vec<Meanwhile> {
        // By CPU, in order and without overlaps.
        let mut waits: BTreeMap<CpuId, Vec<Window>> = BTreeMap::new();
        let is_wait = |step: &&Step| matches!(step.kind, Kind::Wait | Kind::WaitOther);
        for step in path.iter().filter(is_wait) {
            if let Some(cpu) = step.cpu {
                waits.entry(cpu).or_default().push(step.window);
            }
        }
        let mut found: BTreeMap<&str, Meanwhile> = BTreeMap::new();
        for (task, known) in history.tasks() {
            let segments = ground.life(task).into_iter().flat_map(|life| &life.segments);
            let ns = segments.fold(0u64, |sum, segment| match segment.is {
                Is::Running(cpu) => sum.saturating_add(common(waits.get(&cpu), segment.window)),
                _ => sum,
            });
            if ns > 0 {
                let new = Meanwhile { task, tasks: 0, ns: 0 };
                let all = found.entry(history.name(known.name)).or_insert(new);
                (all.tasks, all.ns) = (all.tasks + 1, all.ns.saturating_add(ns));
            }
        }
        let mut found: Vec<Meanwhile> = found.into_values().collect();
        found.sort_by_key(|it| Reverse(it.ns));
        found
    }

    /// Which tasks they are, in a word or two.
    pub(super) fn who(&self, history: &History) -> String {
        match self.tasks {
            1 => history.task_label(self.task),
            many => format!("{} ({many} tasks)", history.task_name(self.task)),
        }
    }

    /// What ran longest, in a sentence.
    pub(super) fn sentence(all: &[Meanwhile], history: &History) -> String {
        let [first, others @ ..] = all else { return String::new() };
        let one = |it: &Meanwhile| format!("for {}", Span(it.ns));
        let mut text =
            format!(" During these waits, {} used the CPU {}", first.who(history), one(first));
        for second in others.iter().take(1) {
            text += &format!(", {} {}", second.who(history), one(second));
        }
        text + "."
    }
}

/// How much of `window` is in `waits`.
fn common(waits: Option<&Vec<Window>>, window: Window) -> u64 {
    let all = waits.map_or(&[][..], |all| all);
    let first = all.partition_point(|it| it.to <= window.from);
    let within = all[first..].iter().map_while(|it| it.clip(window.from, window.to));
    within.fold(0, |sum, (from, to)| sum + (to - from).0)
}
