//! Drives a State through a History: the start, every event, the end.

use std::collections::BTreeMap;

use super::doubt::{Doubt, Doubts, Gaps};
use super::past::Past;
use super::{CpuMode, CpuState, Origin, Phase, State, TaskState};
use crate::history::event::Each;
use crate::history::rows::Reader;
use crate::{Carries, CpuId, Entry, Event, History, Missing, Observer, TaskId, Time};

/// What was so when the recording began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// What each CPU did.
    pub cpus: Vec<CpuMode>,
    /// Which tasks waited, and where; in queue order.
    pub waiting: Vec<(TaskId, Option<CpuId>)>,
    /// Which tasks slept, and where they ran last.
    pub sleeping: Vec<(TaskId, Option<CpuId>)>,
    /// CPUs of which neither a switch nor a loss is in the whole recording. Told where this is a
    /// part of one, otherwise the events tell.
    pub silent: Vec<CpuId>,
    /// CPUs of which rows are missing when this part of a recording begins.
    pub missing: Vec<CpuId>,
    /// Until then tasks may wait of which no row tells, as the whole recording shows: 0 if no rows
    /// of it are missing.
    pub unseen_until: Time,
    /// What the whole recording knew of its tasks, where this is a part of one.
    pub past: Option<Vec<Past>>,
}

/// What a silent CPU is taken for of which nothing tells what it did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Silent {
    /// It may be idle, busy with one task, isolated or offline.
    #[default]
    Unknown,
    /// It was idle all the time.
    Idle,
}

impl Start {
    /// What can be said from the events: before its first switch a CPU ran that switch's `prev`;
    /// a CPU without a switch ran the task whose context its events carry. A loss before the first
    /// of these leaves the CPU unknown. It was offline if the first thing told of it is that it
    /// came up, or if the machine says so and no event of it says otherwise. In a recording without
    /// any switch every CPU is unknown. What the head knows
    /// wins; but a CPU whose data is missing is unknown, and not silent.
    pub fn infer(history: &History, silent: Silent) -> Start {
        Start::without(history, silent, &Missing::find(history))
    }

    fn without(history: &History, silent: Silent, missing: &[Missing]) -> Start {
        let cpus = history.cpu_count();
        let mut start = history.head.start.clone().unwrap_or_default();
        let told = start.cpus.len();
        start.cpus.resize(cpus, CpuMode::Unknown);
        let mut first = First::of_each(history);
        if told == 0 && !first.iter().any(|first| first.switched) {
            // Nothing is told of what CPUs run: no silence says anything.
            let any = |first: &First| First { any: first.any, lost: true, ..First::default() };
            first = first.iter().map(any).collect();
        }
        if start.past.is_none() {
            let is_missing = |cpu: &CpuId| missing.iter().any(|missing| missing.cpu == *cpu);
            let is_silent = |cpu: &CpuId| first[cpu.index()].is_silent() && !is_missing(cpu);
            start.silent = history.cpus().filter(is_silent).collect();
        }
        for (index, first) in first.iter().enumerate() {
            let mode = &mut start.cpus[index];
            if index >= told {
                *mode = first.mode();
            }
            let offline = !first.any && !history.head.machine.cpus[index].online;
            if *mode == CpuMode::Unknown && offline {
                *mode = CpuMode::Offline;
            }
        }
        for missing in missing {
            start.cpus[missing.cpu.index()] = CpuMode::Unknown;
        }
        if silent == Silent::Idle {
            for cpu in &start.silent {
                if let Some(mode @ CpuMode::Unknown) = start.cpus.get_mut(cpu.index()) {
                    *mode = CpuMode::Idle;
                }
            }
        }
        start
    }

    /// What `state` knows, as the start of what comes after. Of each of `tasks` tasks, also of one
    /// that it has not met yet, `past` says what is to be remembered; `None` leaves it out.
    pub fn of(
        state: &State,
        tasks: usize,
        mut past: impl FnMut(TaskId, &TaskState) -> Option<Past>,
    ) -> Start {
        let mut start = Start::default();
        for (cpu, known) in state.cpus() {
            start.cpus.push(known.mode);
            start.waiting.extend(state.waiting(cpu).map(|task| (task, Some(cpu))));
            start.silent.extend(known.silent.then_some(cpu));
        }
        start.waiting.extend(state.unplaced().map(|task| (task, None)));
        let mut remembered = Vec::new();
        for task in (0..tasks).map(TaskId::nth) {
            let known = state.task(task);
            let Some(past) = past(task, &known) else { continue };
            if known.phase == Phase::Sleeping {
                start.sleeping.push((task, known.cpu));
            }
            remembered.push(past);
        }
        start.past = Some(remembered);
        start
    }

    /// Each task that it speaks of, some of them more than once.
    pub fn each_task(&self, mut each: impl FnMut(TaskId)) {
        for mode in &self.cpus {
            if let CpuMode::Busy(task) = mode {
                each(*task);
            }
        }
        self.waiting.iter().chain(&self.sleeping).for_each(|(task, _)| each(*task));
        for past in self.past.iter().flatten() {
            each(past.task);
            past.waker.task.into_iter().for_each(&mut each);
        }
    }
}

#[derive(Clone, Copy)]
enum Sight {
    Switch(TaskId),
    Lost,
    /// It went up or down: what comes after tells nothing of the start.
    Changed {
        up: bool,
    },
    Context(Option<TaskId>),
}

/// What the first events of a CPU tell about its start.
#[derive(Clone, Copy, Default)]
struct First {
    switched: bool,
    /// Events of it were lost.
    lost: bool,
    /// Something came before its first switch after which that switch tells nothing of the start.
    broken: bool,
    any: bool,
    /// The first thing told of it is that it came up.
    came_up: bool,
    ran: Option<TaskId>,
}

impl First {
    fn of_each(history: &History) -> Vec<First> {
        let mut all = vec![First::default(); history.cpu_count()];
        let mut open = all.len();
        for entry in history.entries() {
            if open == 0 {
                break; // every CPU has shown what it ran
            }
            let (cpu, seen) = match entry.event {
                Event::Switch { cpu, prev, .. } => (cpu, Sight::Switch(prev)),
                Event::Lost { .. } => (entry.cpu, Sight::Lost),
                Event::Cpu { cpu, up } => (cpu, Sight::Changed { up }),
                _ => (entry.cpu, Sight::Context(entry.by.task)),
            };
            let first = &mut all[cpu.index()];
            let was_open = !first.switched;
            first.see(seen);
            open -= usize::from(was_open && first.switched);
        }
        all
    }

    fn see(&mut self, seen: Sight) {
        match seen {
            Sight::Switch(prev) if !self.switched => {
                self.switched = true;
                if !self.broken {
                    self.ran = Some(prev);
                }
            }
            Sight::Lost if !self.switched => (self.lost, self.broken) = (true, true),
            Sight::Changed { up } if !self.switched => {
                self.came_up |= up && !self.any;
                self.broken = true;
            }
            Sight::Context(task) if !self.switched && !self.broken => self.ran = self.ran.or(task),
            _ => {}
        }
        self.any = true;
    }

    fn mode(&self) -> CpuMode {
        match self.ran {
            Some(task) if task.is_idle() => CpuMode::Idle,
            Some(task) => CpuMode::Busy(task),
            None if self.came_up => CpuMode::Offline,
            None => CpuMode::Unknown,
        }
    }

    fn is_silent(&self) -> bool {
        !self.switched && !self.lost
    }
}

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
