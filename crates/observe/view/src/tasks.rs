//! The tasks of a trace, in the form that the page needs.

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

/// Tasks as [`of`] gives them: their numbers, then names, then cgroups.
pub(crate) type Tasks = (Vec<u8>, Vec<String>, Vec<String>);

/// All tasks in four bytes a number, the lowest first: by how much the tid of each is greater than
/// that of the task before, then the place of each task's name among those that are given, then,
/// where the recording tells them, in the same way of its last cgroup; all ones where that is not
/// told. A head that named each task would be megabytes.
pub(crate) fn of(history: &History) -> Tasks {
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

#[cfg(test)]
mod tests {
    use wastenot_model::{Builder, By, CpuId, Entry, Head, Machine, Sink, Task, TaskId, Time};

    use super::*;

    #[test]
    fn tasks_have_names_tids_and_the_last_cgroup_that_is_told() {
        let mut head = Head::new(Machine::flat(1));
        head.carries = Carries::CGROUPS;
        let mut sink = Builder::new(head);
        let names = ["cc", "</script>", "/a", "/b"].map(|name| sink.name(name));
        let tasks: Vec<TaskId> = [(90, 0), (7, 1), (91, 0)]
            .map(|(tid, name)| sink.task(Task::new(tid, names[name])))
            .to_vec();
        for (task, cgroup) in [(0, 2), (2, 3), (0, 3)] {
            let what = Change::Cgroup(names[cgroup]);
            let event = Event::Changed { task: tasks[task], what };
            sink.push(Entry { time: Time(0), cpu: CpuId(0), by: By::UNKNOWN, event });
        }
        let (bytes, names, cgroups) = of(&sink.finish());
        let numbers =
            bytes.chunks_exact(4).map(|it| i32::from_le_bytes([it[0], it[1], it[2], it[3]]));
        let told: Vec<i32> = numbers.collect();
        assert_eq!(told, [90, -83, 84, 0, 1, 0, 1, -1, 1]);
        assert_eq!((names.join(" "), cgroups.join(" ")), ("cc </script>".into(), "/a /b".into()));
    }
}
