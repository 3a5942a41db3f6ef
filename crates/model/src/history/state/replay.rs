//! Drives a State through a History: the start, every event, the end.

use std::collections::BTreeMap;

use super::doubt::{Doubt, Doubts, Gaps};
use super::past::Past;
use super::start::{Silent, Start};
use super::{CpuMode, CpuState, Origin, Phase, State, TaskState};
use crate::history::event::Each;
use crate::history::rows::Reader;
use crate::{Carries, CpuId, Entry, History, Missing, Observer, TaskId, Time};

impl State {
    /// The state at `time` of a machine of `cpus` CPUs, of which `start` is known.
    pub fn at<O: Observer>(
        time: Time,
        start: &Start,
        cpus: usize,
        carries: Carries,
        observer: &mut O,
    ) -> State {
        let mut state = State::new(cpus, carries);
        (state.now, state.told) = (time, time);
        for cpu in &start.silent {
            if let Some(cpu) = state.cpus.get_mut(cpu.index()) {
                cpu.silent = true;
            }
        }
        let past = start.past.as_deref().unwrap_or_default();
        let known: BTreeMap<TaskId, &Past> = past.iter().map(|past| (past.task, past)).collect();
        let past = |task: TaskId| known.get(&task).copied();
        for (index, &mode) in start.cpus.iter().enumerate().take(state.cpus.len()) {
            state.cpus[index].mode = mode;
            state.cpus[index].since = state.now;
            if let CpuMode::Busy(task) = mode {
                let here = Some(CpuId(index as u16));
                state.place(task, Phase::Running, here, past(task));
            }
        }
        for &(task, cpu) in &start.waiting {
            state.place(task, Phase::Waiting, cpu, past(task));
        }
        for &(task, cpu) in &start.sleeping {
            state.place(task, Phase::Sleeping, cpu, past(task));
        }
        for (&task, past) in &known {
            // The others are in the lists of the start.
            if !matches!(past.phase, Phase::Running | Phase::Waiting | Phase::Sleeping) {
                state.place(task, past.phase, past.cpu, Some(past));
            }
        }
        state.tell_tasks(observer);
        for (cpu, now) in state.cpus() {
            observer.cpu(&state, cpu, &CpuState::UNKNOWN, now);
        }
        observer.begun(&state);
        state
    }

    /// Lets `history` end and tells so.
    pub fn finish<O: Observer>(&mut self, end: Time, observer: &mut O) {
        self.pass(end, observer);
        observer.end(self);
    }

    fn place(&mut self, task: TaskId, phase: Phase, cpu: Option<CpuId>, past: Option<&Past>) {
        let cpus = self.cpus.len();
        let Some(index) = self.meet(task) else { return };
        let was = &self.tasks[index];
        if was.phase != Phase::Unknown || cpu.is_some_and(|cpu| cpu.index() >= cpus) {
            // Told twice, or of a CPU that is not there: the first telling holds.
            if let (Phase::Running, Some(cpu)) = (phase, cpu) {
                self.cpus[cpu.index()].mode = CpuMode::Unknown;
            }
            return;
        }
        self.keep_task(index);
        let known = &mut self.tasks[index];
        (known.phase, known.since, known.cpu) = (phase, self.now, cpu);
        known.origin = Origin::Unknown;
        if let Some(past) = past {
            past.recall(known, cpus);
        }
        if phase == Phase::Waiting {
            self.want(index, cpu);
        }
    }
}

/// Drives `observer` through the whole History. A window (`--from`, `--to`) is the observer's
/// business: it changes what is counted, never State.
pub fn replay<O: Observer>(history: &History, silent: Silent, observer: &mut O) -> State {
    let mut replay = Replay::begin(history, silent, observer);
    replay.go(history.len(), observer);
    replay.state.finish(history.window().to, observer);
    replay.state
}

/// A replay that stops where it is told to.
#[derive(Clone, Debug)]
pub struct Replay<'h> {
    history: &'h History,
    /// What is known so far.
    pub state: State,
    doubts: std::iter::Peekable<std::vec::IntoIter<Doubt>>,
    gaps: Vec<Gaps>,
    /// So many rows were applied.
    rows: usize,
    left: Reader<'h>,
}

impl<'h> Replay<'h> {
    /// The start is told.
    pub fn begin<O: Observer>(history: &'h History, silent: Silent, observer: &mut O) -> Self {
        let missing = Missing::find(history);
        let start = Start::without(history, silent, &missing);
        let (cpus, carries) = (history.cpu_count(), history.head.carries);
        let mut state = State::at(history.window().from, &start, cpus, carries, observer);
        let Doubts { all, gaps, lacking } = Doubts::of(history, &start, &missing);
        state.lacking = lacking;
        Replay {
            history,
            state,
            doubts: all.into_iter().peekable(),
            gaps,
            rows: 0,
            left: history.rows.iter(),
        }
    }

    /// What is known now, as the start of the part that begins at `from`; `past` as in
    /// [`Start::of`].
    pub fn start(&self, from: Time, past: impl FnMut(TaskId, &TaskState) -> Option<Past>) -> Start {
        let gaps = self.gaps.iter().enumerate();
        let missing = gaps.filter(|(_, gaps)| gaps.holds(self.rows));
        let (hidden, until) = self.state.lacking(from);
        let before = self.gaps.iter().any(|gaps| gaps.begin_within(self.rows));
        Start {
            missing: missing.map(|(cpu, _)| CpuId(cpu as u16)).collect(),
            unseen_until: match (hidden, before) {
                (true, _) => until,
                (false, true) => from,
                (false, false) => Time(0),
            },
            ..Start::of(&self.state, self.history.task_count(), past)
        }
    }

    /// Goes on until so many rows of the History were applied, and what is in doubt after the last
    /// of them is told.
    pub fn go<O: Observer>(&mut self, rows: usize, observer: &mut O) {
        let mut applying = Applying { state: &mut self.state, observer };
        while let Some(doubt) = self.doubts.next_if(|doubt| doubt.after <= rows) {
            let next = doubt.after - std::mem::replace(&mut self.rows, doubt.after);
            self.left.by_ref().take(next).for_each(|row| row.with(&mut applying));
            applying.state.doubt(doubt.what, applying.observer);
        }
        let next = rows - std::mem::replace(&mut self.rows, rows);
        if rows == self.history.len() {
            // Counts no rows.
            return self.left.by_ref().for_each(|row| row.with(&mut applying));
        }
        self.left.by_ref().take(next).for_each(|row| row.with(&mut applying));
    }
}

/// Applies entries as they are unpacked.
struct Applying<'s, 'o, O> {
    state: &'s mut State,
    observer: &'o mut O,
}

impl<O: Observer> Each for Applying<'_, '_, O> {
    #[inline(always)]
    fn entry(&mut self, entry: &Entry) {
        self.state.apply(entry, self.observer);
    }
    #[inline(never)]
    fn rare(&mut self, entry: &Entry) {
        self.state.apply(entry, self.observer);
    }
}
