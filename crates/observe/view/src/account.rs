//! The critical path of a task, as `wastenot explain` finds it, for the page.
//!
//! Tiles do not contain the necessary data, so the first request reads the events again. Only one
//! account is computed at a time, because each needs all events and other answers must not wait.

use std::sync::TryLockError;

use crate::html;
use serde_json::{Value, json};
use wastenot_check::account::{Account, Question, Step};
use wastenot_model::{TaskId, Window};

use crate::{Events, Recording};

/// Recordings of more events are not read again: that would take minutes, and the memory of all.
const MOST: usize = 20_000_000;
/// Steps of a path that are drawn.
const STEPS: usize = 20_000;

impl Recording {
    /// It can read its events again, where that is possible.
    #[must_use]
    pub fn with_events(self, source: Option<Events>) -> Recording {
        Recording { source, ..self }
    }

    /// Where the time of a task went from one time to another: its account as HTML, and the steps
    /// of the path: CPU or null, from, to, kind, task. Where that is not known, why, and a command
    /// that tells it.
    pub(crate) fn account(&self, task: u32, from: u64, to: u64) -> Value {
        let all = self.tiles.window();
        let [from, to] = [from, to].map(|time| self.time(time).min(all.to));
        let window = Window { from: from.min(to), to };
        let command = self.source.as_ref().zip(self.tid(task)).map(|(source, tid)| {
            format!("{} --task {tid} --from @{} --to @{}", source.explain, window.from, window.to)
        });
        match self.explained(task, window, command.clone()) {
            Ok(value) => value,
            Err(why) => json!({ "why": why, "command": command }),
        }
    }

    fn explained(
        &self,
        task: u32,
        window: Window,
        command: Option<String>,
    ) -> Result<Value, String> {
        if self.is_glance {
            return Err("The trace is still being checked. Ask again after the check.".into());
        }
        let Some(source) = &self.source else {
            return Err("The events of this trace cannot be read again.".into());
        };
        if self.events > MOST {
            let count = self.events;
            return Err(format!(
                "The trace has {count} events, too many to read them again for this page. Run this \
                 command:"
            ));
        }
        let mut kept = match source.kept.try_lock() {
            Ok(kept) => kept,
            Err(TryLockError::Poisoned(kept)) => kept.into_inner(),
            Err(TryLockError::WouldBlock) => {
                return Err("wastenot is still explaining another task. Ask again later.".into());
            }
        };
        let (history, options) = match &mut *kept {
            Some(known) => known,
            none => none.insert((source.read)()?),
        };
        if !history.head.clock.nanoseconds {
            let help = "The trace clock counts cycles, so lengths of time are unknown. Give the \
                clock rate with `--clock-hz`.";
            return Err(help.into());
        }
        let id = TaskId::nth(task as usize);
        if history.task(id).is_none() {
            return Err("The trace does not contain this task.".into());
        }
        let question = Question { tasks: vec![id], window, every: false };
        let account = Account::of(history, &question, options);
        let mut report = account.report(history);
        report.next = command;
        let words = html::first(&report) + &html::rest(&report, Some(self.time(0))).whole();
        let step = |step: &Step| {
            let [from, to] = self.ends(step.window);
            json!([step.cpu.map(|cpu| cpu.0), from, to, step.kind.name(), step.task.index()])
        };
        let path: Vec<Value> = account.path.iter().take(STEPS).map(step).collect();
        Ok(json!({ "words": words, "path": path, "steps": account.path.len() }))
    }

    /// The tid of a task.
    fn tid(&self, task: u32) -> Option<i32> {
        let count = self.head["tasks"].as_u64().filter(|count| u64::from(task) < *count)?;
        let differs = self.tasks.chunks_exact(4).take(count.min(u64::from(task) + 1) as usize);
        let differs = differs.map(|it| i32::from_le_bytes([it[0], it[1], it[2], it[3]]));
        Some(differs.fold(0, i32::wrapping_add))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use wastenot_check::Options;
    use wastenot_model::{Builder, By, Carries, CpuId, Entry, Event, Head, How, Left, Machine};
    use wastenot_model::{History, Prio, Sink, Task, Time};

    use super::*;
    use crate::check;

    /// Task 8 runs on CPU 1, sleeps from 20 to 60 ns, and is woken by task 7 on CPU 0.
    fn history() -> History {
        let mut head = Head::new(Machine::flat(2));
        head.carries = Carries::WAKERS | Carries::CONTEXT | Carries::WAKINGS;
        let mut sink = Builder::new(head);
        let names = ["waker", "<b>"].map(|name| sink.name(name));
        let [a, b] = [(7, 0), (8, 1)].map(|(tid, name)| sink.task(Task::new(tid, names[name])));
        let [c0, c1] = [CpuId(0), CpuId(1)];
        let (idle0, idle1) = (TaskId::idle(c0), TaskId::idle(c1));
        sink.push(Entry::switch(Time(0), c0, idle0, a, Left::Sleeping));
        sink.push(Entry::switch(Time(0), c1, idle1, b, Left::Sleeping));
        sink.push(Entry::switch(Time(20), c1, b, idle1, Left::Sleeping));
        let event = Event::Queued { task: b, on: Some(c1), how: How::Wakeup, prio: Prio::UNKNOWN };
        let by = By::task(a);
        sink.push(Entry { time: Time(60), cpu: c0, by, event });
        sink.push(Entry::switch(Time(62), c1, idle1, b, Left::Sleeping));
        sink.push(Entry::switch(Time(90), c1, b, idle1, Left::Sleeping));
        sink.finish()
    }

    fn recording() -> Recording {
        let (history, options) = (history(), Options::default());
        let (found, content) = check(&history, &options, &mut Vec::new()).expect("memory");
        let report = found.report(&history, &options);
        Recording::new(&history, &options, &found, &report, content)
    }

    fn events(read: impl Fn() -> Result<History, String> + Send + Sync + 'static) -> Events {
        let read = move || Ok((read()?, Options::default()));
        Events::new(Box::new(read), "wastenot explain x".into())
    }

    #[test]
    fn an_account_has_its_words_and_each_step_of_the_path() {
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        let recording = recording().with_events(Some(events(move || {
            counted.fetch_add(1, Ordering::Relaxed);
            Ok(history())
        })));
        let account = recording.account(1, 0, 90);
        let words = account["words"].as_str().expect("words");
        assert!(words.contains("&lt;b&gt;:8") && !words.contains("<b>:8"), "{words}");
        let next = "wastenot explain x --task 8 --from @0.000000000 --to @0.000000090";
        assert!(words.contains(next), "{words}");
        let expected = json!([
            [1, 0, 20, "run", 1],
            [0, 20, 60, "run-other", 0],
            [1, 60, 62, "wake-delay", 1],
            [1, 62, 90, "run", 1]
        ]);
        assert_eq!(account["path"], expected);
        assert!(words.contains("data-from=\"20\" data-to=\"60\""), "{words}");
        assert_eq!(recording.account(1, 0, 20)["path"], json!([[1, 0, 20, "run", 1]]));
        for (from, to) in [(50, 50), (80, 30), (90, u64::MAX), (u64::MAX, u64::MAX)] {
            assert_eq!(recording.account(1, from, to)["path"], json!([]), "{from} to {to}");
        }
        assert_eq!(count.load(Ordering::Relaxed), 1, "events are read once");
    }

    #[test]
    fn where_there_is_no_account_it_is_said_why() {
        let why = |recording: &Recording| {
            let account = recording.account(1, 0, 90);
            assert!(account.get("words").is_none());
            (account["why"].as_str().expect("a sentence").to_owned(), account["command"].clone())
        };
        let mut recording = recording();
        assert!(why(&recording).0.contains("cannot be read again"));
        recording.source = Some(events(|| Err("The file changed.".into())));
        assert_eq!(why(&recording).0, "The file changed.");
        recording.source = Some(events(|| Ok(history())));
        let kept = &recording.source.as_ref().expect("a source").kept;
        let guard = kept.lock().expect("not poisoned");
        assert!(why(&recording).0.contains("Ask again"), "no answer waits for another");
        drop(guard);
        assert_eq!(recording.account(2, 0, 90)["why"], "The trace does not contain this task.");
        recording.is_glance = true;
        assert!(why(&recording).0.contains("still being checked"));
        recording.is_glance = false;
        recording.events = MOST + 1;
        let (why, command) = why(&recording);
        assert!(why.contains("20000001"));
        let command = command.as_str().expect("a command");
        assert_eq!(command, "wastenot explain x --task 8 --from @0.000000000 --to @0.000000090");
    }
}
