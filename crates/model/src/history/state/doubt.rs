//! What cannot be believed where rows of a CPU are missing.
//!
//! A row that nobody wrote may have moved, run, put to sleep or woken any task. So what State
//! believes of a task holds only if the next row of it bears it out: a waiting task is switched in,
//! or moved away, where it waits. And a CPU that idles may have been about to start a task of which
//! no row told that it was queued there: the next switch to such a task tells that.
//!
//! Both need the next row, so a pass ahead of the replay looks for them. What is not borne out is
//! unknown from where it began, as after a loss. What ends the recording unfinished is not either.

use super::{CpuMode, Origin, Phase, State, TaskState};
use crate::history::state::replay::Start;
use crate::{Change, CpuId, Entry, Event, History, Missing, Observer, Span, TaskId, Time};

/// An idle CPU takes at most this long to start what is queued on it.
const STARTS_WITHIN: Span = Span::ms(1);

/// What is unknown from the row on after which it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum What {
    /// Whether this task waits.
    Task(TaskId),
    /// Whether this idle CPU is about to start a task.
    Cpu(CpuId),
}

/// Something that is not borne out, and after how many rows it is to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Doubt {
    pub(super) after: usize,
    pub(super) what: What,
}

/// All that is not borne out, in the order of rows.
#[derive(Debug, Default)]
pub(super) struct Doubts {
    pub(super) all: Vec<Doubt>,
    /// Until then rows are missing, or a task may wait since then of which no row tells.
    pub(super) until: Time,
}

impl Doubts {
    /// Looks through `history`, which begins with `start`; nothing is in doubt if no CPU's data is
    /// missing.
    pub(super) fn of(history: &History, start: &Start, missing: &[Missing]) -> Doubts {
        if missing.is_empty() {
            return Doubts::default();
        }
        let mut pass = Pass::new(history, start, missing);
        for (row, entry) in history.entries().enumerate() {
            if entry.time >= pass.until && pass.rows_missing == usize::MAX {
                pass.rows_missing = row;
            }
            pass.look(row, &entry);
            pass.state.apply(&entry, &mut ());
            pass.note(row + 1, &entry);
        }
        pass.end(history.window().to)
    }
}

impl State {
    /// What is told as in doubt is unknown from here on.
    #[cold]
    pub(super) fn doubt<O: Observer>(&mut self, what: What, observer: &mut O) {
        self.pass(self.now, observer); // the last row may have told of no time
        match what {
            What::Task(task) if self.task(task).phase == Phase::Waiting => self.forget(task),
            What::Cpu(cpu) if self.cpu(cpu).mode == CpuMode::Idle => {
                self.keep_cpu(cpu);
                let state = &mut self.cpus[cpu.index()];
                (state.mode, state.since) = (CpuMode::Unknown, self.now);
            }
            What::Task(_) | What::Cpu(_) => return,
        }
        self.tell_all(observer);
    }
}

/// The last row of a task.
#[derive(Clone, Copy, Default)]
struct Last {
    /// How many rows there were with it.
    after: usize,
    /// The CPU where it came to wait was idle.
    on_idle: bool,
}

struct Pass<'h> {
    history: &'h History,
    state: State,
    /// By CPU, until when its rows are missing.
    missing: Vec<Time>,
    until: Time,
    /// How many rows there are before `until`.
    rows_missing: usize,
    tasks: Vec<Last>,
    /// By CPU the last stretch in which it was idle, in rows.
    idle: Vec<(usize, usize)>,
    /// When it ended.
    ended: Vec<Option<Time>>,
    found: Doubts,
}

impl<'h> Pass<'h> {
    fn new(history: &'h History, start: &Start, missing: &[Missing]) -> Pass<'h> {
        let (cpus, carries) = (history.cpu_count(), history.head.carries);
        let state = State::at(history.window().from, start, cpus, carries, &mut ());
        let mut until = vec![Time(0); cpus];
        for missing in missing {
            until[missing.cpu.index()] = missing.until.unwrap_or(Time::MAX);
        }
        let idle = state.cpus().map(|(_, cpu)| match cpu.mode {
            CpuMode::Idle => (0, usize::MAX),
            _ => (0, 0),
        });
        let idle = idle.collect();
        let last = until.iter().copied().max().unwrap_or_default();
        let tasks = (0..history.task_count()).map(TaskId::nth);
        let mut pass = Pass {
            history,
            state,
            missing: until,
            until: last,
            rows_missing: usize::MAX,
            tasks: vec![Last::default(); history.task_count()],
            idle,
            ended: vec![None; cpus],
            found: Doubts { all: Vec::new(), until: last },
        };
        tasks.for_each(|task| pass.saw(task, 0));
        pass
    }

    /// Holds what State believes against the next row, before that changes State.
    fn look(&mut self, row: usize, entry: &Entry) {
        match entry.event {
            Event::Switch { cpu, prev, next, .. } => {
                if let Some(was) = self.known(prev) {
                    self.must_not_wait(prev, &was, entry.time);
                }
                if next.is_idle() {
                    self.goes_idle(cpu, row + 1, entry.time);
                }
                if prev != next
                    && let Some(was) = self.known(next)
                {
                    self.comes_in(next, &was, cpu, entry.time);
                }
            }
            Event::Waking { task, .. } | Event::Queued { task, .. } => {
                if let Some(was) = self.known(task) {
                    self.must_not_wait(task, &was, entry.time);
                }
            }
            Event::Migrate { task, from, .. } => {
                if let Some(was) = self.known(task) {
                    self.moves(task, &was, from, entry.time);
                }
            }
            _ => {}
        }
    }

    /// A CPU goes idle when nothing is queued on it: who seemed to wait there is gone; or it is
    /// held there.
    fn goes_idle(&mut self, cpu: CpuId, rows: usize, now: Time) {
        let waiting = self.state.waiting(cpu).filter(|task| self.may_lack(self.last(*task)));
        for task in waiting.collect::<Vec<_>>() {
            let was = self.state.task(task);
            self.not_borne_out(task, &was, now);
            self.add(rows, What::Cpu(cpu), now);
        }
    }

    /// Remembers what the row began, once it has happened; there were `rows` with it.
    fn note(&mut self, rows: usize, entry: &Entry) {
        match entry.event {
            Event::Switch { cpu, prev, next, .. } => {
                let stretch = &mut self.idle[cpu.index()];
                if next.is_idle() {
                    *stretch = (rows, usize::MAX);
                } else if stretch.1 == usize::MAX {
                    stretch.1 = rows;
                    self.ended[cpu.index()] = Some(entry.time);
                }
                self.saw(prev, rows);
                self.saw(next, rows);
            }
            Event::Waking { task, .. }
            | Event::Queued { task, .. }
            | Event::Migrate { task, .. }
            | Event::Fork { child: task, .. } => self.saw(task, rows),
            // A quota takes it off its queue, or puts it back: other such rows show nothing.
            Event::Changed { task, what: Change::Throttled(_) } => {
                let known = self.state.task(task);
                let changes = known.phase == Phase::Held || known.origin == Origin::Released;
                if changes && known.since == entry.time {
                    self.saw(task, rows);
                }
            }
            _ => {}
        }
    }

    fn saw(&mut self, task: TaskId, rows: usize) {
        let Some(last) = task.index().and_then(|index| self.tasks.get_mut(index)) else { return };
        let known = self.state.task(task);
        let waits = known.phase == Phase::Waiting;
        let on = known.cpu.filter(|_| waits);
        let on_idle = on.is_some_and(|cpu| self.state.cpu(cpu).mode == CpuMode::Idle);
        *last = Last { after: rows, on_idle };
    }

    /// Who waits at the end may have gone where nothing tells.
    fn end(mut self, to: Time) -> Doubts {
        for task in (0..self.tasks.len()).map(TaskId::nth) {
            if let Some(was) = self.known(task) {
                self.must_not_wait(task, &was, to);
            }
        }
        self.found.all.sort_unstable();
        self.found
    }

    fn known(&self, task: TaskId) -> Option<TaskState> {
        task.index().filter(|&index| index < self.tasks.len())?;
        Some(self.state.task(task))
    }

    /// Whether rows may be missing between the last row of this task and now.
    fn may_lack(&self, last: Last) -> bool {
        last.after <= self.rows_missing
    }

    fn last(&self, task: TaskId) -> Last {
        task.index().map(|index| self.tasks[index]).unwrap_or_default()
    }

    /// A row that no waiting task has: it left the run queue before.
    fn must_not_wait(&mut self, task: TaskId, was: &TaskState, now: Time) {
        if was.phase == Phase::Waiting {
            self.not_borne_out(task, was, now);
        }
    }

    fn comes_in(&mut self, task: TaskId, was: &TaskState, cpu: CpuId, now: Time) {
        if was.phase == Phase::Waiting {
            if was.cpu.is_none() || self.waited_at(task, was, cpu) {
                return;
            }
            self.not_borne_out(task, was, now);
        }
        self.was_queued_unseen(task, cpu, now);
    }

    fn moves(&mut self, task: TaskId, was: &TaskState, from: Option<CpuId>, now: Time) {
        let woken = was.phase == Phase::Sleeping && was.waking.is_some();
        match (was.phase, from) {
            (Phase::Waiting, None) | (Phase::Running | Phase::New, _) => {}
            (Phase::Waiting, Some(from)) if self.waited_at(task, was, from) => {}
            (phase, from) => {
                if phase == Phase::Waiting {
                    self.not_borne_out(task, was, now);
                }
                if let (Some(from), false) = (from, woken) {
                    self.was_queued_unseen(task, from, now);
                }
            }
        }
    }

    /// Whether it waited on `cpu` all the time, as State believes: on one whose rows were missing
    /// it may have run meanwhile.
    fn waited_at(&self, task: TaskId, was: &TaskState, cpu: CpuId) -> bool {
        // A damaged row may name a CPU that is not there: nothing of it can be missing.
        let missing = self.missing.get(cpu.index()).is_some_and(|until| *until > Time(0));
        let lacks = missing && self.may_lack(self.last(task));
        was.cpu == Some(cpu) && !lacks
    }

    fn not_borne_out(&mut self, task: TaskId, was: &TaskState, now: Time) {
        let last = self.last(task);
        if !self.may_lack(last) {
            return;
        }
        self.add(last.after, What::Task(task), now);
        if let (true, Some(cpu)) = (last.on_idle, was.cpu) {
            self.add(last.after, What::Cpu(cpu), now);
        }
        self.state.doubt(What::Task(task), &mut ());
    }

    /// `task` was queued on `cpu` since some time after its last row: if the CPU was idle then, it
    /// was about to start it.
    fn was_queued_unseen(&mut self, task: TaskId, cpu: CpuId, now: Time) {
        let last = self.last(task);
        if !self.may_lack(last) {
            return;
        }
        let (from, to) = self.idle.get(cpu.index()).copied().unwrap_or_default();
        if to > last.after {
            let end = self.ended[cpu.index()].filter(|_| to != usize::MAX).unwrap_or(now);
            let began = Time(end.0.saturating_sub(STARTS_WITHIN.0));
            let late = self.history.rows_until(began).min(to);
            self.add(from.max(last.after).max(late), What::Cpu(cpu), now);
        }
        self.found.until = self.found.until.max(now);
    }

    fn add(&mut self, after: usize, what: What, now: Time) {
        self.found.until = self.found.until.max(now);
        self.found.all.push(Doubt { after, what });
    }
}
