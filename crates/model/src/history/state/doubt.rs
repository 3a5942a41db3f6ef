//! What cannot be believed where rows of a CPU are missing: from the start to the first row of a
//! CPU whose data is missing, and from each loss to the next row of its CPU. Where no row tells
//! moves, or where new tasks are queued, those are missing all the time.
//!
//! A row that is missing may have moved, run, put to sleep or woken any task. So what State
//! believes of a task holds only if the next row of it bears it out: a waiting task is switched in,
//! or moved away, where it waits. And a CPU that idles may have been about to start a task of which
//! no row told that it was queued there: the next switch to such a task tells that.
//!
//! Both need the next row, so a pass ahead of the replay looks for them. What is not borne out is
//! unknown from where it began, as after a loss. What ends the recording unfinished is not either.

use super::{CpuMode, Origin, Phase, State, TaskState};
use crate::history::state::start::Start;
use crate::{Change, CpuId, Entry, Event, History, Missing, Observer, Span, TaskId, Time, Window};

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
    /// Where rows of each CPU are missing.
    pub(super) gaps: Vec<Gaps>,
    /// When rows are missing, or a task may wait since then of which no row tells; in order.
    pub(super) lacking: Vec<Window>,
}

impl Doubts {
    /// Looks through `history`, which begins with `start`; nothing is in doubt if no CPU's data is
    /// missing and nothing was lost.
    pub(super) fn of(history: &History, start: &Start, missing: &[Missing]) -> Doubts {
        let told = !start.missing.is_empty() || start.unseen_until > Time(0);
        if missing.is_empty()
            && !history.has_lost_rows()
            && !told
            && !history.head.carries.lacks_moves()
            && !history.head.carries.lacks_new()
        {
            return Doubts::default();
        }
        let mut pass = Pass::new(history, start, missing);
        for (row, entry) in history.entries().enumerate() {
            pass.lacks.ends(row, &entry);
            pass.look(row, &entry);
            pass.lacks.begins(row, &entry);
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

/// Where rows are missing, of a CPU or of any: from how many rows on, and up to how many; in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Gaps(Vec<(usize, usize)>);

impl Gaps {
    fn begin(&mut self, rows: usize) {
        self.0.push((rows, usize::MAX));
    }
    fn end(&mut self, rows: usize) {
        if let Some(last) = self.0.last_mut() {
            last.1 = rows;
        }
    }
    /// Whether rows are missing after so many.
    pub(super) fn holds(&self, rows: usize) -> bool {
        self.since(rows).is_some_and(|from| from <= rows)
    }
    /// Whether rows are missing before there are so many.
    pub(super) fn begin_within(&self, rows: usize) -> bool {
        self.0.first().is_some_and(|(from, _)| *from <= rows)
    }
    fn is_open(&self) -> bool {
        self.0.last().is_some_and(|(_, to)| *to == usize::MAX)
    }
    /// From how many rows on rows are missing, if any is since there were so many.
    fn since(&self, rows: usize) -> Option<usize> {
        let later = self.0.partition_point(|(_, to)| *to < rows);
        self.0.get(later).map(|(from, _)| *from)
    }
}

/// What is missing, as far as the pass has come.
#[derive(Debug)]
struct Lacks {
    cpus: Vec<Gaps>,
    any: Gaps,
    /// How many CPUs have an open one.
    open: usize,
    lacking: Vec<Window>,
    /// What a part was told of the whole: the first of `lacking` lasts until then.
    unseen_until: Time,
    /// No row tells moves,
    moves: bool,
    /// or where a new task is queued.
    new: bool,
}

impl Lacks {
    fn new(history: &History, start: &Start, missing: &[Missing]) -> Lacks {
        let cpus = vec![Gaps::default(); history.cpu_count()];
        let mut lacks = Lacks {
            cpus,
            any: Gaps::default(),
            open: 0,
            lacking: Vec::new(),
            unseen_until: Time(0),
            moves: history.head.carries.lacks_moves(),
            new: history.head.carries.lacks_new(),
        };
        let from = history.window().from;
        let missing =
            missing.iter().map(|missing| missing.cpu).chain(start.missing.iter().copied());
        missing.for_each(|cpu| lacks.begin(cpu, 0, from));
        if start.unseen_until > Time(0) && lacks.open == 0 {
            // Before this part; tasks that were queued then may not be seen yet.
            lacks.any.begin(0);
            lacks.any.end(0);
        }
        if start.unseen_until > Time(0) {
            lacks.unseen_until = start.unseen_until;
            if lacks.lacking.is_empty() {
                lacks.lacking.push(Window { from, to: start.unseen_until.max(from) });
            }
        }
        lacks
    }

    /// From how many rows on rows are missing, if any is since there were so many.
    fn since(&self, rows: usize) -> Option<usize> {
        if self.moves { Some(0) } else { self.any.since(rows) }
    }

    /// A loss, the row before which there were so many, begins what is missing of its CPU.
    fn begins(&mut self, row: usize, entry: &Entry) {
        if matches!(entry.event, Event::Lost { .. }) {
            self.begin(entry.cpu, row + 1, entry.time);
        }
    }

    fn begin(&mut self, cpu: CpuId, rows: usize, now: Time) {
        let Some(gaps) = self.cpus.get_mut(cpu.index()).filter(|gaps| !gaps.is_open()) else {
            return;
        };
        gaps.begin(rows);
        self.open += 1;
        if self.open == 1 {
            self.any.begin(rows);
        }
        match self.lacking.last_mut() {
            Some(last) if last.to >= now => last.to = Time::MAX,
            _ => self.lacking.push(Window { from: now, to: Time::MAX }),
        }
    }

    /// The next row of a CPU ends what is missing of it.
    fn ends(&mut self, row: usize, entry: &Entry) {
        if self.open == 0 || matches!(entry.event, Event::Lost { .. }) {
            return;
        }
        let Some(gaps) = self.cpus.get_mut(entry.cpu.index()).filter(|gaps| gaps.is_open()) else {
            return;
        };
        gaps.end(row);
        self.open -= 1;
        if self.open == 0 {
            self.any.end(row);
            let told = if self.lacking.len() == 1 { self.unseen_until } else { Time(0) };
            if let Some(last) = self.lacking.last_mut() {
                last.to = entry.time.max(told);
            }
        }
    }

    /// A task that was seen to wait may do so until then, and no row tells.
    fn reach(&mut self, now: Time) {
        if let Some(last) = self.lacking.last_mut() {
            last.to = last.to.max(now);
        }
    }
}

struct Pass<'h> {
    history: &'h History,
    state: State,
    lacks: Lacks,
    tasks: Vec<Last>,
    /// By CPU the last stretch in which it was idle, in rows.
    idle: Vec<(usize, usize)>,
    /// When it ended.
    ended: Vec<Option<Time>>,
    found: Vec<Doubt>,
}

impl<'h> Pass<'h> {
    fn new(history: &'h History, start: &Start, missing: &[Missing]) -> Pass<'h> {
        let (cpus, carries) = (history.cpu_count(), history.head.carries);
        let state = State::at(history.window().from, start, cpus, carries, &mut ());
        let idle = state.cpus().map(|(_, cpu)| match cpu.mode {
            CpuMode::Idle => (0, usize::MAX),
            _ => (0, 0),
        });
        let idle = idle.collect();
        let tasks = (0..history.task_count()).map(TaskId::nth);
        let mut pass = Pass {
            history,
            state,
            lacks: Lacks::new(history, start, missing),
            tasks: vec![Last::default(); history.task_count()],
            idle,
            ended: vec![None; cpus],
            found: Vec::new(),
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
            // From here on all who wait are unknown: nothing can bear it out.
            Event::Lost { .. } if self.lacks.since(0).is_some() => {
                let cpus = self.state.cpus().flat_map(|(cpu, _)| self.state.waiting(cpu));
                let waiting: Vec<TaskId> = cpus.chain(self.state.unplaced()).collect();
                for task in waiting {
                    let was = self.state.task(task);
                    self.must_not_wait(task, &was, entry.time);
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
        self.found.sort_unstable();
        let Lacks { cpus: gaps, lacking, .. } = self.lacks;
        Doubts { all: self.found, gaps, lacking }
    }

    fn known(&self, task: TaskId) -> Option<TaskState> {
        task.index().filter(|&index| index < self.tasks.len())?;
        Some(self.state.task(task))
    }

    /// Whether rows may be missing between the last row of this task and now.
    fn may_lack(&self, last: Last) -> bool {
        self.lacks.since(last.after).is_some()
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
        self.was_queued_unseen(task, was, cpu, now);
    }

    fn moves(&mut self, task: TaskId, was: &TaskState, from: Option<CpuId>, now: Time) {
        let woken = was.phase == Phase::Sleeping && was.waking.is_some();
        match (was.phase, from) {
            (Phase::Waiting, None) | (Phase::Running | Phase::New, _) => {}
            (Phase::Waiting, _) if was.cpu.is_none() => {}
            (Phase::Waiting, Some(from)) if self.waited_at(task, was, from) => {}
            (phase, from) => {
                if phase == Phase::Waiting {
                    self.not_borne_out(task, was, now);
                }
                if let (Some(from), false) = (from, woken) {
                    self.was_queued_unseen(task, was, from, now);
                }
            }
        }
    }

    /// Whether it waited on `cpu` all the time, as State believes: on one whose rows were missing
    /// it may have run meanwhile.
    fn waited_at(&self, task: TaskId, was: &TaskState, cpu: CpuId) -> bool {
        // A damaged row may name a CPU that is not there: nothing of it can be missing.
        let gaps = self.lacks.cpus.get(cpu.index());
        let lacks = gaps.and_then(|gaps| gaps.since(self.last(task).after));
        was.cpu == Some(cpu) && lacks.is_none()
    }

    fn not_borne_out(&mut self, task: TaskId, was: &TaskState, now: Time) {
        let last = self.last(task);
        // One that may wait anywhere may be about to start on any idle CPU: as long as that is so
        // no more is surely wasted.
        if was.cpu.is_none() || !self.may_lack(last) {
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
    fn was_queued_unseen(&mut self, task: TaskId, was: &TaskState, cpu: CpuId, now: Time) {
        let last = self.last(task);
        let new = matches!(was.phase, Phase::New | Phase::Unknown) && self.lacks.new;
        let lacks = if new { Some(0) } else { self.lacks.since(last.after) };
        let Some(lacks) = lacks else { return };
        let (from, to) = self.idle.get(cpu.index()).copied().unwrap_or_default();
        if to > last.after {
            let end = self.ended[cpu.index()].filter(|_| to != usize::MAX).unwrap_or(now);
            let began = Time(end.0.saturating_sub(STARTS_WITHIN.0));
            let late = self.history.rows_until(began).min(to);
            let after = from.max(last.after).max(lacks).max(late);
            self.found.push(Doubt { after, what: What::Cpu(cpu) });
        }
    }

    fn add(&mut self, after: usize, what: What, now: Time) {
        self.lacks.reach(now);
        self.found.push(Doubt { after, what });
    }
}
