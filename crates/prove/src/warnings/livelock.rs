//! Handlers that take CPUs from tasks without end: what the policy does at one instant, as the
//! interpreter runs it. Tasks are put, begin to run, are interrupted and put again, and no time
//! passes in which one of them gets anything done.

use wastenot_model::policy::{Context, CpuView, Effect, Place, TaskView, View, Why};
use wastenot_model::workload::GroupId;
use wastenot_model::{CpuId, CpuSet, Machine, Policy as _, TaskId, Time};
use wastenot_rota::interpret::Interpreter;
use wastenot_rota::ir::{Event, Policy, Program};

use super::Warning;
use crate::text::interrupting;

/// Machines: one task more than CPUs, so that somebody waits.
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
    CPUS.into_iter().find_map(|cpus| Instant::new(policy, cpus)?.run(policy))
}

/// A machine at one instant: no time passes in it.
struct Instant {
    policy: Interpreter,
    cx: Context,
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
type Seen = (Vec<(Option<TaskId>, bool, bool)>, Vec<Option<(usize, usize, i64)>>, Vec<Vec<i64>>);

impl Instant {
    /// Tasks of the same weight that may run anywhere. `None`: it does not run at all.
    fn new(policy: &Policy, cpus: usize) -> Option<Instant> {
        let program = Program { policies: vec![policy.clone()], partitions: Vec::new() };
        let all = CpuSet::first(cpus);
        let task = |n: usize| TaskView {
            place: Place::Nowhere,
            cpu: CpuId((n % cpus) as u16),
            nice: 0,
            group: GroupId(0),
            mask: 0,
            kthread: false,
            own: false,
            priority: 1.0,
            job: None,
        };
        let view = View {
            now: Time(0),
            cpu: CpuId(0),
            machine: Machine::flat(cpus),
            cpus: vec![CpuView { current: None, idle_since: Time(0), online: true }; cpus],
            idle: all.clone(),
            online: all.clone(),
            tasks: (0..=cpus).map(task).collect(),
            groups: Vec::new(),
            masks: vec![all],
            seed: 1,
        };
        let mut policy = Interpreter::new(program, &[]).ok()?;
        let mut cx = Context::new(view, false);
        policy.init(&mut cx);
        cx.take(&mut Vec::new());
        Some(Instant {
            policy,
            cx,
            kicked: vec![false; cpus],
            interrupted: vec![None; cpus],
            takers: Vec::new(),
            interruptions: 0,
            told: Vec::new(),
        })
    }

    fn run(mut self, policy: &Policy) -> Option<Warning> {
        let tasks = self.cx.tasks.len();
        (0..tasks).for_each(|n| self.place(TaskId::nth(n), Event::New));
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
        let cpus = self.cx.cpus.len();
        let on = if cpus == 1 { "1 CPU".to_owned() } else { format!("{cpus} CPUs") };
        Some(Warning {
            code: "livelock",
            span: policy.handler_spans[taker as usize],
            what: format!(
                "tasks are interrupted for ever at one instant: `{}` takes the CPU from a task",
                taker.name()
            ),
            evidence: format!("on {on}: {}; and so on", self.told[from..to].join("; ")),
            help: "`kick ... preempt` in `new` and `wake` alone",
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
            if std::mem::take(&mut self.kicked[n]) && self.cx.current(cpu).is_none() {
                self.dispatch(cpu);
                return true;
            }
        }
        false
    }

    fn place(&mut self, task: TaskId, event: Event) {
        let prev = self.cx.task(task).cpu;
        self.cx.view_mut().cpu = prev;
        let why = if event == Event::New { Why::New } else { Why::Preempted };
        let cpu = match event {
            Event::New => self.policy.select_cpu(&mut self.cx, task, prev, why),
            _ => prev,
        };
        let view = self.cx.view_mut().task_mut(task);
        (view.place, view.cpu) = (Place::Queued, cpu);
        self.policy.enqueue(&mut self.cx, task, cpu, why);
        self.carry_out(event);
    }

    fn interrupt(&mut self, cpu: CpuId, by: Event) {
        let Some(task) = self.cx.current(cpu) else { return };
        self.interruptions += 1;
        self.told.push(format!("`{}` takes CPU {cpu} from task {}", by.name(), task.ordinal()));
        self.cx.view_mut().cpu = cpu;
        self.policy.stopping(&mut self.cx, cpu, task, true);
        let view = self.cx.view_mut();
        view.cpus[cpu.index()].current = None;
        view.idle.insert(cpu);
        self.carry_out(Event::Stop);
        self.place(task, Event::Preempt);
        self.dispatch(cpu);
    }

    fn dispatch(&mut self, cpu: CpuId) {
        self.cx.view_mut().cpu = cpu;
        let found = self.policy.dispatch(&mut self.cx, cpu);
        self.carry_out(Event::Preempt);
        let Some(task) = found else { return };
        self.told.push(format!("CPU {cpu} begins to run task {}", task.ordinal()));
        let view = self.cx.view_mut();
        (view.task_mut(task).place, view.task_mut(task).cpu) = (Place::Running, cpu);
        view.cpus[cpu.index()].current = Some(task);
        view.idle.remove(cpu);
        self.policy.running(&mut self.cx, cpu, task);
        self.carry_out(Event::Start);
    }

    /// Who is kicked. Timers never expire: no time passes.
    fn carry_out(&mut self, event: Event) {
        let mut effects = Vec::new();
        self.cx.take(&mut effects);
        for effect in effects {
            let Effect::Kick { cpu, preempt } = effect else { continue };
            self.kicked[cpu.index()] = true;
            if preempt && self.cx.current(cpu).is_some() {
                self.interrupted[cpu.index()] = Some(event);
                if event != Event::New && !self.takers.contains(&event) {
                    self.takers.push(event);
                }
            }
        }
    }

    fn seen(&self) -> Seen {
        let cpus = (0..self.kicked.len()).map(|n| {
            let interrupted = self.interrupted[n].is_some();
            (self.cx.cpus[n].current, self.kicked[n], interrupted)
        });
        let waits = |task| self.policy.waits(task).map(|at| (at.queue, at.group, at.key));
        let tasks = (0..self.cx.tasks.len()).map(|n| waits(TaskId::nth(n)));
        let kept = (0..self.kicked.len()).map(|n| self.policy.kept(CpuId(n as u16)).to_vec());
        (cpus.collect(), tasks.collect(), kept.collect())
    }
}
