//! The recorder's own tasks. Their CPU time is part of the trace.

use wastenot_model::{Carries, History, TaskId};

/// The process that recorded a trace.
#[derive(Clone, Copy, Debug)]
pub struct Recorder<'h> {
    history: &'h History,
    pid: i32,
}

impl<'h> Recorder<'h> {
    /// The recorder of `history`, if the trace names it (note `recorder_pid`) and has processes.
    pub fn of(history: &'h History) -> Option<Recorder<'h>> {
        let head = &history.head;
        let pid = head.source.note("recorder_pid")?.parse().ok()?;
        head.carries.has(Carries::TGID).then_some(Recorder { history, pid })
    }

    /// Whether `task` is a thread of the recorder.
    pub(crate) fn has(&self, task: TaskId) -> bool {
        self.history.task(task).is_some_and(|task| task.pid == Some(self.pid))
    }
}

/// The names of recorder tasks, for traces that do not name the process of the recorder.
const RECORDERS: [&str; 3] = ["trace-cmd", "perf", "wastenot"];

/// Whether `task` is one of the recorder's own: by its process if known, otherwise by its name.
pub fn is_recorders(history: &History, task: TaskId) -> bool {
    match Recorder::of(history) {
        Some(recorder) => recorder.has(task),
        None => RECORDERS.contains(&&*history.task_name(task)),
    }
}

#[cfg(test)]
mod tests {
    use wastenot_model::{Builder, CpuId, Entry, Head, Left, Machine, Sink, Task, Time, Value};

    use super::*;
    use crate::{Options, check};

    /// A recorder's thread runs for 30 ns, another task for 70.
    fn history(notes: &[(&str, &str)], carries: Carries) -> History {
        let mut head = Head::new(Machine::flat(1));
        head.window = wastenot_model::Window { from: Time(0), to: Time(100) };
        head.carries = carries | Carries::PLACEMENT;
        let notes = notes.iter().map(|(key, text)| ((*key).to_owned(), (*text).to_owned()));
        head.source.notes = notes.collect();
        let mut builder = Builder::new(head);
        let name = builder.name("wastenot");
        let ours = builder.task(Task { pid: Some(41), ..Task::new(42, name) });
        let other = builder.task(Task { pid: Some(43), ..Task::new(43, name) });
        let switch = |at, from, to| Entry::switch(Time(at), CpuId(0), from, to, Left::Preempted);
        builder.push(switch(30, ours, other));
        builder.push(switch(99, other, TaskId::idle(CpuId(0))));
        builder.finish()
    }

    /// Its CPU time, and by task whether it is the recorder's.
    fn told(history: &History, options: &Options) -> (Value, Vec<Value>) {
        let report = check(history, options).report(history, options);
        let measure = report.measures.iter().find(|it| it.name == "recorder.cpu_ns");
        let table = report.tables.iter().find(|it| it.name == "tasks").expect("a table");
        let column = table.columns.iter().position(|it| it.key == "recorder").expect("a column");
        let mut rows: Vec<_> = table.rows.iter().map(|row| (&row[1], &row[column])).collect();
        rows.sort_by_key(|(tid, _)| format!("{tid:?}"));
        let marks = rows.into_iter().map(|(_, mark)| mark.clone()).collect();
        (measure.expect("a measure").value.clone(), marks)
    }

    #[test]
    fn what_the_recorder_took_is_told_where_it_is_known_who_it_was() {
        let (noted, all) = ([("recorder_pid", "41")], Options::default());
        let known = history(&noted, Carries::TGID);
        assert_eq!(told(&known, &all), (30u64.into(), vec![true.into(), false.into()]));
        let unknown = (Value::Unknown, vec![Value::Unknown, Value::Unknown]);
        assert_eq!(told(&history(&[], Carries::TGID), &all), unknown);
        assert_eq!(told(&history(&noted, Carries::NONE), &all), unknown);
        // What others took says nothing of it.
        let some = Options { tasks: Some(vec![TaskId::nth(1)]), ..Options::default() };
        assert_eq!(told(&known, &some), (Value::Unknown, vec![false.into()]));
    }
}
