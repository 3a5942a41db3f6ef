//! CPUs whose events end too early, in a trace that does not report this loss.
//!
//! # Result
//! The search uses the same signs as [`Missing`](crate::Missing), but starts from the end. There
//! are four signs:
//!
//! - A task was put on a CPU or ran there, and is on another CPU next, without a migration event.
//! - A task is woken next, without an event that it ran.
//! - A task sleeps and runs next, without a wakeup event.
//! - A task is queued on an idle CPU until the end of the trace.
//!
//! Then an event is missing. It may belong to any CPU without later events, so the events of all
//! these CPUs end too early.
//!
//! # Why it matters
//! A ring buffer that keeps the oldest events stops when it is full, at another time for each CPU.
//! A CPU that was idle in its last event would seem idle from then on, and a task that was queued
//! on this CPU would seem to wait.
//!
//! The search finds nothing if events are missing between two events of a CPU: recorders report
//! such losses.

use super::History;
use super::missing::STARTS_WITHIN;
use crate::{Carries, CpuId, Entry, Event, Left, Loss, LossKind, Missing, Row, TaskId, Time};

/// A CPU whose rows end too early.
struct Early {
    cpu: CpuId,
    /// How many rows there are with its last, and when that came.
    rows: usize,
    last: Time,
}

/// What shows that a row is missing.
#[derive(Clone, Copy)]
struct Sign {
    task: TaskId,
    /// Where the task was put, or ran, and when.
    cpu: CpuId,
    placed: Time,
    next: Next,
    /// When it did that.
    then: Time,
}

/// What a task does next.
#[derive(Clone, Copy)]
enum Next {
    /// Nothing, until the recording ends.
    Nothing,
    /// It is on this CPU.
    On(CpuId),
    /// It is woken, where it was last if that is told.
    Woken(Option<CpuId>),
    /// It is moved away from this CPU.
    From(CpuId),
}

/// How a row leaves a task where it puts it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Runs,
    /// It wants to go on. In the kernel it may be about to sleep, and be woken where it is.
    SwitchedOut,
    Queued,
    /// It may be a sleeping task that is being woken.
    Moved,
    Asleep,
}

impl History {
    /// Marks CPUs of which rows are missing at the end, where other rows show it: a row that events
    /// were lost follows the last one, and a loss says what shows it. For readers, at the end.
    pub fn tell_early_ends(mut self) -> History {
        if self.marks_its_losses() {
            return self;
        }
        let Some((sign, mut found)) = Search::new(&self).run() else { return self };
        if Missing::explains(&self, sign.placed) {
            return self;
        }
        // From the last to the first: so the places before stay what they are.
        found.sort_by_key(|early| std::cmp::Reverse(early.rows));
        let losses: Vec<Loss> = found.iter().map(|early| early.loss(&sign, &self)).collect();
        found.iter().for_each(|early| {
            self.rows.insert(early.rows, Row::pack(&Entry::lost(early.last, early.cpu)));
        });
        self.lost_rows = true;
        losses.into_iter().rev().for_each(|loss| self.lose(loss));
        self
    }
}

impl Early {
    /// What is lost, in words.
    fn loss(&self, sign: &Sign, history: &History) -> Loss {
        let from = history.window().from;
        let at = |time: Time| time.since(from);
        let next = match sign.next {
            Next::Nothing => "had not run",
            Next::On(cpu) => &format!("was on CPU {cpu}"),
            Next::Woken(_) => "had been woken again",
            Next::From(cpu) => &format!("had been moved from CPU {cpu}"),
        };
        let note = format!(
            "events of this CPU may be missing from {} to the end. The task {} was on CPU {} at \
             {}. At {}, this task {next}, but no event explains this",
            at(self.last),
            history.task_label(sign.task),
            sign.cpu,
            at(sign.placed),
            at(sign.then)
        );
        let mut loss = Loss::new(LossKind::Missing, note);
        (loss.cpu, loss.time) = (Some(self.cpu), Some(self.last));
        loss
    }
}

/// Goes through a recording from its end, until the last row of each CPU that has any was seen.
struct Search<'h> {
    history: &'h History,
    moves: bool,
    wakes: bool,
    /// Whether rows of each CPU came, from the end.
    heard: Vec<bool>,
    /// How many have rows that did not come yet.
    left: usize,
    /// What each task does next, and when.
    next: Vec<(Next, Time)>,
    /// Who is queued last on each CPU that was not heard, and does nothing until the end.
    queued: Vec<Option<(TaskId, Time)>>,
    /// What shows it if the task slept before: one that runs may be woken, and again, where it is.
    perhaps: Vec<Option<Sign>>,
    /// What shows that a row is missing; of several the one that reaches latest.
    sign: Option<Sign>,
    /// The last row of each CPU.
    last: Vec<Early>,
}

impl<'h> Search<'h> {
    fn new(history: &'h History) -> Search<'h> {
        let carries = history.head.carries;
        let cpus = history.cpu_count();
        // A CPU without rows is silent, or `Missing`.
        let mut has_rows = vec![false; cpus];
        let mut left = 0;
        for row in history.rows.iter() {
            if left == cpus {
                break;
            }
            if let Some(has @ false) = has_rows.get_mut(row.cpu().index()) {
                *has = true;
                left += 1;
            }
        }
        Search {
            history,
            moves: carries.has(Carries::MIGRATIONS),
            wakes: carries.has(Carries::WAKINGS) || carries.has(Carries::WAKEUPS),
            heard: has_rows.into_iter().map(|has| !has).collect(),
            left,
            next: vec![(Next::Nothing, history.window().to); history.task_count()],
            queued: vec![None; cpus],
            perhaps: vec![None; history.task_count()],
            sign: None,
            last: Vec::new(),
        }
    }

    /// What shows that a row is missing, and the CPUs of which it may be one.
    fn run(mut self) -> Option<(Sign, Vec<Early>)> {
        let mut rows = self.history.len();
        for row in self.history.rows.backwards() {
            if self.left == 0 {
                break;
            }
            let entry = row.unpack();
            self.look(&entry);
            self.hear(&entry, rows);
            self.note(&entry);
            rows -= 1;
        }
        let sign = self.sign?;
        self.last.retain(|early| early.last < sign.then);
        Some((sign, self.last))
    }

    /// Holds where a row puts tasks against what they do next.
    fn look(&mut self, entry: &Entry) {
        match entry.event {
            Event::Switch { cpu, prev, next, left, .. } => {
                match left {
                    _ if prev == next => {}
                    Left::Runnable | Left::Preempted => {
                        self.put(prev, cpu, Stage::SwitchedOut, entry.time);
                    }
                    Left::Dead | Left::Unknown => {}
                    _ => self.put(prev, cpu, Stage::Asleep, entry.time),
                }
                self.put(next, cpu, Stage::Runs, entry.time);
            }
            Event::Queued { task, on: Some(cpu), .. } => {
                self.put(task, cpu, Stage::Queued, entry.time);
            }
            Event::Migrate { task, to, .. } => self.put(task, to, Stage::Moved, entry.time),
            _ => {}
        }
    }

    fn put(&mut self, task: TaskId, cpu: CpuId, stage: Stage, now: Time) {
        let Some(&(next, then)) = task.index().and_then(|index| self.next.get(index)) else {
            return;
        };
        let shows = match next {
            Next::Nothing => {
                if matches!(stage, Stage::Queued | Stage::SwitchedOut)
                    && let Some(queued) = self.queued.get_mut(cpu.index())
                {
                    queued.get_or_insert((task, now));
                }
                false
            }
            Next::On(_) if stage == Stage::Asleep => self.wakes,
            Next::On(other) => self.moves && other != cpu,
            // One that runs cannot be moved before it is switched out.
            Next::From(other) => self.moves && (other != cpu || stage == Stage::Runs),
            Next::Woken(last) => {
                if self.wakes && stage == Stage::Queued {
                    let sign = Sign { task, cpu, placed: now, next, then };
                    self.perhaps[task.ordinal()].get_or_insert(sign);
                }
                self.moves && last.is_some_and(|last| last != cpu)
            }
        };
        if shows {
            self.show(Sign { task, cpu, placed: now, next, then });
        }
    }

    fn show(&mut self, sign: Sign) {
        if self.sign.is_none_or(|known| known.then < sign.then) {
            self.sign = Some(sign);
        }
    }

    /// The last row of a CPU; there are so many with it.
    fn hear(&mut self, entry: &Entry, rows: usize) {
        let cpu = entry.cpu;
        let Some(heard @ false) = self.heard.get_mut(cpu.index()) else { return };
        *heard = true;
        self.left -= 1;
        let idles = match entry.event {
            Event::Lost { .. } => return, // told already
            Event::Cpu { .. } => false,
            Event::Switch { next, .. } => next.is_idle(),
            _ => entry.by.task.is_some_and(TaskId::is_idle),
        };
        self.last.push(Early { cpu, rows, last: entry.time });
        let end = self.history.window().to;
        let waits = self.queued[cpu.index()];
        let waits = waits.filter(|(_, since)| idles && end.since(*since) > STARTS_WITHIN);
        if let Some((task, placed)) = waits {
            self.show(Sign { task, cpu, placed, next: Next::Nothing, then: end });
        }
    }

    /// What tasks do next, for the rows before.
    fn note(&mut self, entry: &Entry) {
        match entry.event {
            Event::Switch { cpu, prev, next, left, .. } => {
                self.settle(prev, !left.is_runnable());
                self.settle(next, false);
                self.then(prev, Next::On(cpu), entry.time);
                self.then(next, Next::On(cpu), entry.time);
            }
            Event::Waking { task, prev, .. } => self.then(task, Next::Woken(prev), entry.time),
            Event::Queued { task, .. } => self.then(task, Next::Woken(None), entry.time),
            Event::Migrate { task, from: Some(from), .. } => {
                self.then(task, Next::From(from), entry.time);
            }
            _ => {}
        }
    }

    /// What was perhaps a sign is one if the task slept.
    fn settle(&mut self, task: TaskId, slept: bool) {
        let perhaps = task.index().and_then(|index| self.perhaps.get_mut(index)?.take());
        if let Some(sign) = perhaps.filter(|_| slept) {
            self.show(sign);
        }
    }

    fn then(&mut self, task: TaskId, next: Next, now: Time) {
        if let Some(known) = task.index().and_then(|index| self.next.get_mut(index)) {
            *known = (next, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Builder, By, Context, Head, How, Machine, Prio, Sink};

    const A: CpuId = CpuId(0);
    const B: CpuId = CpuId(1);

    fn task() -> TaskId {
        TaskId::nth(0)
    }

    /// Two CPUs idle from the start on, then these rows; which CPUs end too early, and when.
    fn early(rows: &[Entry]) -> Vec<(CpuId, Time)> {
        let mut head = Head::new(Machine::flat(2));
        head.carries =
            Carries::WAKINGS | Carries::WAKEUPS | Carries::PLACEMENT | Carries::MIGRATIONS;
        let mut sink = Builder::new(head);
        let name = sink.name("a");
        sink.task(crate::Task::new(7, name));
        [A, B].into_iter().for_each(|cpu| sink.push(sleeps(1, cpu)));
        rows.iter().for_each(|row| sink.push(*row));
        let history = sink.finish().tell_early_ends();
        let lost = history.entries().filter(|it| matches!(it.event, Event::Lost { .. }));
        let lost: Vec<_> = lost.map(|it| (it.cpu, it.time)).collect();
        let told = history.losses().iter().filter(|loss| loss.kind == LossKind::Missing);
        assert_eq!(told.count(), lost.len());
        lost
    }

    fn sleeps(time: u64, cpu: CpuId) -> Entry {
        Entry::switch(Time(time), cpu, task(), TaskId::idle(cpu), Left::Sleeping)
    }

    fn runs(time: u64, cpu: CpuId) -> Entry {
        Entry::switch(Time(time), cpu, TaskId::idle(cpu), task(), Left::Runnable)
    }

    fn by(time: u64, cpu: CpuId, event: Event) -> Entry {
        let by = By { task: Some(TaskId::idle(cpu)), context: Context::Hardirq };
        Entry { time: Time(time), cpu, by, event }
    }

    /// CPU 1 wakes the task and queues it on `on`.
    fn wakes(time: u64, on: CpuId) -> [Entry; 2] {
        let (task, prio) = (task(), Prio::UNKNOWN);
        [
            by(time, B, Event::Waking { task, prev: Some(on), prio }),
            by(time, B, Event::Queued { task, on: Some(on), how: How::Wakeup, prio }),
        ]
    }

    #[test]
    fn a_task_that_is_started_where_it_was_queued_shows_nothing() {
        assert_eq!(early(&[&wakes(5, A)[..], &[runs(6, A)]].concat()), []);
    }

    #[test]
    fn a_task_that_runs_elsewhere_unmoved_shows_that_its_cpu_ends_too_early() {
        let rows = [&wakes(5, A)[..], &[runs(9, B)]].concat();
        assert_eq!(early(&rows), [(A, Time(1))]);
    }

    #[test]
    fn a_task_that_is_woken_again_shows_that_it_ran_where_no_row_is() {
        let rows = [wakes(5, A), wakes(9, A)].concat();
        assert_eq!(early(&rows), [(A, Time(1))]);
        // While it runs it may be woken as often as it likes.
        let rows = [&[runs(3, A)][..], &wakes(5, A), &wakes(9, A)].concat();
        assert_eq!(early(&rows), []);
    }

    #[test]
    fn an_idle_cpu_starts_what_is_queued_on_it_or_ends_too_early() {
        let late = STARTS_WITHIN.0 + 100;
        let rows = [&wakes(5, A)[..], &[by(late, B, Event::Freq { cpu: B, khz: 1 })]].concat();
        assert_eq!(early(&rows), [(A, Time(1))]);
    }
}
