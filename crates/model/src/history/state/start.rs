//! The start of a History: the state of each CPU and task, as far as the head and events show it.

use super::past::Past;
use super::{CpuMode, Phase, State, TaskState};
use crate::{CpuId, Event, History, Missing, TaskId, Time};

/// The state of CPUs and tasks when the recording began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// The mode of each CPU.
    pub cpus: Vec<CpuMode>,
    /// The tasks that waited, each with its CPU, in queue order.
    pub waiting: Vec<(TaskId, Option<CpuId>)>,
    /// The tasks that slept, each with the CPU on which it ran last.
    pub sleeping: Vec<(TaskId, Option<CpuId>)>,
    /// CPUs without a switch and without a loss in the whole recording. Only a part of a recording
    /// lists them: otherwise the events show them.
    pub silent: Vec<CpuId>,
    /// CPUs of which rows are missing when this part of a recording begins.
    pub missing: Vec<CpuId>,
    /// Until then tasks may wait of which no row tells, as the whole recording shows: 0 if no rows
    /// of it are missing.
    pub unseen_until: Time,
    /// For a part of a recording: the facts on its tasks that only the whole recording shows.
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

    pub(super) fn without(history: &History, silent: Silent, missing: &[Missing]) -> Start {
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
