//! The tasks of a recording, as a page asks for them.

use std::collections::HashMap;

use wastenot_model::{Carries, Change, Event, History, NameId};

/// Places of texts in a list, in the order in which they come.
#[derive(Default)]
struct Places {
    known: HashMap<NameId, u32>,
    names: Vec<String>,
}

impl Places {
    fn of(&mut self, id: NameId, history: &History) -> u32 {
        *self.known.entry(id).or_insert_with(|| {
            self.names.push(history.name(id).to_owned());
            self.names.len() as u32 - 1
        })
    }
}

/// All tasks in four bytes a number, the lowest first: by how much the tid of each is greater than
/// that of the task before, then the place of each task's name among those that are given, then,
/// where the recording tells them, in the same way of its last cgroup; all ones where that is not
/// told. A head that named each task would be megabytes.
pub(crate) fn of(history: &History) -> (Vec<u8>, Vec<String>, Vec<String>) {
    let (mut names, mut cgroups) = (Places::default(), Places::default());
    let mut numbers = Vec::new();
    let mut last = 0i32;
    for (_, task) in history.tasks() {
        numbers.push(task.tid.wrapping_sub(last) as u32);
        last = task.tid;
    }
    numbers.extend(history.tasks().map(|(_, task)| names.of(task.name, history)));
    if history.head.carries.has(Carries::CGROUPS) {
        let mut of = vec![u32::MAX; history.task_count()];
        for entry in history.entries() {
            let Event::Changed { task, what: Change::Cgroup(name) } = entry.event else { continue };
            if let Some(of) = task.index().and_then(|task| of.get_mut(task)) {
                *of = cgroups.of(name, history);
            }
        }
        if !cgroups.names.is_empty() {
            numbers.extend(of);
        }
    }
    let bytes = numbers.into_iter().flat_map(u32::to_le_bytes).collect();
    (bytes, names.names, cgroups.names)
}
