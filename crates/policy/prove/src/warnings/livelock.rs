//! Handlers that take CPUs from tasks without end: what the policy does at one instant, as the
//! interpreter runs it. Tasks are put, begin to run, are interrupted and put again, and no time
//! passes in which one of them gets anything done.

use wastenot_model::{CpuId, CpuSet, Machine, Span, TaskId};
use wastenot_rota::interpret::{Forced, QueueOf};
use wastenot_rota::ir::{Event, Policy};

use super::Warning;
use crate::text::interrupting;

/// The CPUs of the machines. There is one task more than CPUs, so that a task waits.
const CPUS: std::ops::RangeInclusive<usize> = 1..=3;
/// Interruptions at one instant after which what repeats is taken to have no end. What ends because
/// something is counted ends before.
const ENOUGH: usize = 1_000;
/// States that are kept to find out what repeats.
const KEPT: usize = 100;

/// A run in which tasks are interrupted for ever, if there is one.
pub(super) fn livelock(policy: &Policy) -> Option<Warning> {
    if interrupting(policy).is_empty() {
        return None;
    }
    CPUS.into_iter().find_map(|cpus| Instant::new(policy, cpus).run(policy))
}

/// A machine at one instant: no time passes in it.
struct Instant {
    forced: Forced,
    cpus: Vec<CpuId>,
    /// By CPU: whether it is to look for its next task, and by whom that was asked of a busy one.
    kicked: Vec<bool>,
    interrupted: Vec<Option<Event>>,
    /// Whose handlers took a CPU from a task, each once.
    takers: Vec<Event>,
    interruptions: usize,
    told: Vec<String>,
}

/// What can be seen of a state: whom CPUs run and who is to be interrupted, where tasks wait, and
/// what is kept of CPUs.
type Seen = (Vec<(Option<TaskId>, bool, bool)>, Vec<Option<(QueueOf, i64)>>, Vec<Vec<i64>>);

impl Instant {
    /// Tasks of the same weight that may run anywhere.
    fn new(policy: &Policy, cpus: usize) -> Instant {
        let tasks = vec![(CpuSet::first(cpus), 0); cpus + 1];
        let mut forced = Forced::new(policy.clone(), Machine::flat(cpus), &tasks);
        forced.kicks();
        Instant {
            forced,
            cpus: CpuSet::first(cpus).iter().collect(),
            kicked: vec![false; cpus],
            interrupted: vec![None; cpus],
            takers: Vec::new(),
            interruptions: 0,
            told: Vec::new(),
        }
    }

    /// One more than CPUs, each last on another one.
    fn tasks(&self) -> impl Iterator<Item = (TaskId, CpuId)> + use<> {
        let all = self.cpus.clone();
        (0..=all.len()).map(move |n| (TaskId::nth(n), all[n % all.len()]))
    }

    fn run(mut self, policy: &Policy) -> Option<Warning> {
        self.tasks().for_each(|(task, prev)| self.place(task, prev, Event::New));
        let mut states: Vec<(Seen, usize)> = Vec::new();
        let mut circle = None;
        while self.interruptions < ENOUGH {
            if circle.is_none() && states.len() < KEPT {
                let seen = self.seen();
                let before = states.iter().find(|(other, _)| *other == seen);
                circle = before.map(|(_, from)| (*from, self.told.len()));
                states.push((seen, self.told.len()));
            }
            if !self.step() {
                return None;
            }
        }
        let (from, to) = circle.filter(|(from, to)| from < to)?;
        let taker = *self.takers.first()?;
        let cpus = self.cpus.len();
        let on = if cpus == 1 { "1 CPU".to_owned() } else { format!("{cpus} CPUs") };
        Some(Warning {
            code: "livelock",
            span: policy.handler_spans[taker as usize],
            what: format!(
                "tasks preempt each other forever, and no time passes: `{}` takes the CPU from a \
                 task",
                taker.name()
            ),
            evidence: format!("on {on}: {}; and so on", self.told[from..to].join("; ")),
            help: "use `kick ... preempt` only in `new` and `wake`",
        })
    }

    /// What the first CPU that has something to do does. Whether there is one.
    fn step(&mut self) -> bool {
        for n in 0..self.kicked.len() {
            let cpu = CpuId(n as u16);
            if let Some(by) = self.interrupted[n].take() {
                self.kicked[n] = false;
                self.interrupt(cpu, by);
                return true;
            }
            if std::mem::take(&mut self.kicked[n]) && self.forced.current(cpu).is_none() {
                self.dispatch(cpu);
                return true;
            }
        }
        false
    }

    fn place(&mut self, task: TaskId, prev: CpuId, event: Event) {
        self.forced.comes(event, task, prev);
        self.carry_out(event);
    }

    fn interrupt(&mut self, cpu: CpuId, by: Event) {
        let Some(task) = self.forced.stops(cpu, Event::Preempt, Span::ZERO) else { return };
        self.interruptions += 1;
        self.told.push(format!("`{}` takes CPU {cpu} from task {}", by.name(), task.ordinal()));
        self.carry_out(Event::Stop);
        self.place(task, cpu, Event::Preempt);
        self.dispatch(cpu);
    }

    fn dispatch(&mut self, cpu: CpuId) {
        if let Some(task) = self.forced.dispatches(cpu) {
            self.told.push(format!("CPU {cpu} begins to run task {}", task.ordinal()));
        }
        self.carry_out(Event::Start);
    }

    /// Who is kicked. Timers never expire: no time passes.
    fn carry_out(&mut self, event: Event) {
        for (cpu, preempt) in self.forced.kicks() {
            self.kicked[cpu.index()] = true;
            if preempt && self.forced.current(cpu).is_some() {
                self.interrupted[cpu.index()] = Some(event);
                if event != Event::New && !self.takers.contains(&event) {
                    self.takers.push(event);
                }
            }
        }
    }

    fn seen(&self) -> Seen {
        let cpus = self.cpus.iter().map(|&cpu| {
            let n = cpu.index();
            (self.forced.current(cpu), self.kicked[n], self.interrupted[n].is_some())
        });
        let tasks = self.tasks().map(|(task, _)| self.forced.waits_at(task));
        let kept = self.cpus.iter().map(|&cpu| self.forced.kept(cpu).to_vec());
        (cpus.collect(), tasks.collect(), kept.collect())
    }
}
