//! The interpreter: it makes a program a [`wastenot_model::Policy`] of the simulator.
//!
//! sched_ext's calls become the events of the text. `select_cpu` runs the handler of `new` or
//! `wake`, and `enqueue` carries out its decision; `enqueue` of the task that ran runs `preempt` or
//! `yield`; `stopping` runs `stop`, and `block` or `exit`. A displaced task is treated as
//! preempted. As a [`Policy`], every decision takes no time and reads the current state, so faults
//! that need an outdated value do not appear; in [`Steps`](wastenot_model::policy::Steps) they do.

mod balance;
mod forced;
mod handler;
mod led;
mod paced;
mod params;
mod queue;
mod queueing;
mod scheduler;
mod state;
mod timers;

pub use forced::{Forced, Found, Looks, Placed, QueueOf, Read};
pub use params::Error;

use wastenot_model::policy::{Context, Family, Happening, Place, Tick, View, Why};
use wastenot_model::{CpuId, Policy, TaskId};

use self::handler::Decision;
use self::paced::event_of;
use self::scheduler::Scheduler;
use crate::ir::{Event, Program};
use crate::partitions;

/// The tick rate of a kernel configured for 250 Hz, for policies that want ticks.
const HZ: u64 = 250;

/// The policies, each on its CPUs.
#[derive(Debug)]
pub struct Interpreter {
    name: String,
    /// The changed parameters, as they follow the policy's name.
    set: String,
    program: Program,
    params: Vec<Vec<i64>>,
    /// One scheduler for each partition.
    parts: Vec<Scheduler>,
    /// By CPU number.
    part_of: Vec<usize>,
    /// By ordinal of a task that is about to be queued: its partition, and the decision.
    decided: Vec<Option<(usize, Decision)>>,
    /// By CPU number: what it has begun and not ended.
    begun: Vec<Option<paced::Begun>>,
}

/// Where a task waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waits {
    /// In which partition.
    pub part: usize,
    /// In which queue of its policy.
    pub queue: usize,
    /// Of which group of the partition.
    pub group: usize,
    /// Its key in that queue.
    pub key: i64,
}

impl Interpreter {
    /// Runs `program` with these parameters changed from its defaults: `("slice", "5ms")`.
    pub fn new(program: Program, params: &[(String, String)]) -> Result<Interpreter, Error> {
        let values = params::of(&program, params)?;
        let names: Vec<&str> = program.policies.iter().map(|it| it.name.as_str()).collect();
        let name = names.join("+");
        let set = params.iter().map(|(param, value)| format!(" {param}={value}")).collect();
        let (parts, part_of, decided, begun) = Default::default();
        Ok(Interpreter { name, set, program, params: values, parts, part_of, decided, begun })
    }

    /// Renames the program if it has several policies: the name of one is not the name of all.
    #[must_use]
    pub fn called(mut self, name: &str) -> Interpreter {
        if self.program.policies.len() > 1 {
            self.name = name.to_owned();
        }
        self
    }

    /// The partition of `task`: the one whose rule matches its group or its command. If it can run
    /// on none of that partition's CPUs, the first partition that has a CPU for it.
    fn part(&self, view: &View, task: TaskId) -> usize {
        if self.parts.len() == 1 {
            return 0;
        }
        let of = view.task(task);
        let group = view.groups.get(of.group.index()).map_or("", |group| group.name.as_str());
        let command = view.commands.get(of.command as usize).map_or("", String::as_str);
        let named = partitions::named(&self.program, group, command);
        if self.parts[named].may(view, task) {
            return named;
        }
        self.parts.iter().position(|part| part.may(view, task)).unwrap_or(named)
    }

    /// Where `task` waits, if it does.
    pub fn waits(&self, task: TaskId) -> Option<Waits> {
        self.parts.iter().enumerate().find_map(|(part, scheduler)| {
            let (queue, group, entry) = scheduler.state.tasks.get(task.ordinal())?.at?;
            Some(Waits { part, queue, group, key: entry.key })
        })
    }

    /// The values of the variables of `cpu`, in the policy's order.
    pub fn kept(&self, cpu: CpuId) -> &[i64] {
        let part = self.part_of.get(cpu.index()).and_then(|part| self.parts.get(*part));
        part.map_or(&[], |part| &part.state.cpus[cpu.index()].vars)
    }

    /// The values of the variables of a task, in the policy's order.
    pub fn kept_of(&self, task: TaskId) -> &[i64] {
        let kept = |part: &'_ Scheduler| task.ordinal() < part.state.tasks.len();
        let part = self.parts.iter().find(|part| kept(part));
        part.map_or(&[], |part| &part.state.tasks[task.ordinal()].vars)
    }

    fn of(&mut self, cpu: CpuId) -> &mut Scheduler {
        &mut self.parts[self.part_of[cpu.index()]]
    }

    /// Runs the handler that decides where `task` goes.
    fn decide(
        &mut self,
        view: &View,
        event: Event,
        task: TaskId,
        at: (CpuId, CpuId),
    ) -> (usize, Decision) {
        let part = self.part(view, task);
        (part, self.parts[part].handle(view, event, task, at, 0))
    }

    /// Places `task`, which was last on `cpu`.
    fn place(&mut self, cx: &mut Context, event: Event, task: TaskId, cpu: CpuId) {
        let (part, decision) = self.decide(cx, event, task, (cpu, cpu));
        if !self.parts[part].place(cx, task, &decision) {
            // A CPU that goes offline meanwhile is not claimed a second time.
            let (part, decision) = self.decide(cx, event, task, (cpu, cpu));
            self.parts[part].place(cx, task, &decision);
        }
    }

    /// `task`, which waits and may not stay there, is placed again.
    fn displace(&mut self, cx: &mut Context, task: TaskId) {
        let cpu = cx.task(task).cpu;
        let to = cx.fallback(task, cpu);
        if to != cpu {
            cx.moved(task, to);
        }
        self.place(cx, Event::Preempt, task, to);
    }

    /// A task must not wait where it may no longer run.
    fn affinity_changed(&mut self, cx: &mut Context, task: TaskId) {
        let waits = cx.task(task).place == Place::Queued;
        if waits && self.parts.iter_mut().any(|part| part.leave(cx, task)) {
            self.displace(cx, task);
        }
    }

    fn decision(&mut self, task: TaskId) -> &mut Option<(usize, Decision)> {
        let index = task.ordinal();
        self.decided.resize(self.decided.len().max(index + 1), None);
        &mut self.decided[index]
    }

    /// `cpu` went offline.
    fn goes_off(&mut self, cx: &mut Context, cpu: CpuId) {
        for task in self.of(cpu).goes_off(cx, cpu) {
            self.displace(cx, task);
        }
        let stays = |task: &TaskId| {
            let view = cx.task(*task);
            view.place == Place::Queued && view.cpu == cpu
        };
        let left: Vec<TaskId> = (0..cx.tasks.len()).map(TaskId::nth).filter(stays).collect();
        for task in left {
            let part = self.part(cx, task);
            if self.parts[part].state.task(task).at.is_none() {
                // It waits in a partition that no longer has a CPU for it, or is on its way to a
                // CPU.
                let was = self.parts.iter_mut().any(|part| part.leave(cx, task));
                if was {
                    self.displace(cx, task);
                    continue;
                }
            }
            let to = cx.fallback(task, cpu);
            cx.moved(task, to);
        }
        self.parts.iter_mut().for_each(|part| part.pass_on(cx));
    }
}

impl Policy for Interpreter {
    fn name(&self) -> String {
        format!("{}{}", self.name, self.set)
    }

    fn family(&self) -> Family {
        match self.program.partitions.is_empty() {
            true => Family::Other,
            false => Family::Reserving,
        }
    }

    fn init(&mut self, cx: &mut Context) {
        let cpus = partitions::cpus(&self.program, &cx.machine);
        self.part_of = vec![0; cx.cpus.len()];
        for (part, cpus) in cpus.iter().enumerate() {
            cpus.iter().for_each(|cpu| self.part_of[cpu.index()] = part);
            let policy = self.program.partitions.get(part).map_or(0, |it| it.policy);
            let (ir, params) = (&self.program.policies[policy], &self.params[policy]);
            self.parts.push(Scheduler::new(ir.clone(), params.clone(), cpus, cx));
        }
        let ticks = |policy: &crate::ir::Policy| !policy.handlers[Event::Tick as usize].is_empty();
        if self.program.policies.iter().any(ticks) {
            cx.set_tick(Tick::hz(HZ));
        }
    }

    fn select_cpu(&mut self, cx: &mut Context, task: TaskId, prev: CpuId, why: Why) -> CpuId {
        let event = match why {
            Why::New => Event::New,
            Why::Wakeup { .. } => Event::Wake,
            Why::Exec | Why::Preempted | Why::Yield | Why::Displaced | Why::Requeued => {
                return cx.fallback(task, prev);
            }
        };
        let (part, decision) = self.decide(cx, event, task, (prev, cx.cpu));
        let placed = decision.placed;
        *self.decision(task) = Some((part, decision));
        match placed {
            Some(placed) => self.parts[part].named(cx, task, placed, prev),
            None => cx.fallback(task, prev),
        }
    }

    fn enqueue(&mut self, cx: &mut Context, task: TaskId, cpu: CpuId, why: Why) {
        let decided = self.decision(task).take();
        let event = match event_of(why) {
            Event::New | Event::Wake => {
                let placed = decided
                    .is_some_and(|(part, decision)| self.parts[part].place(cx, task, &decision));
                if placed {
                    return;
                }
                Event::Preempt
            }
            event => event,
        };
        self.place(cx, event, task, cpu);
    }

    fn dequeue(&mut self, cx: &mut Context, task: TaskId, _: CpuId) {
        self.parts.iter_mut().any(|part| part.leave(cx, task));
    }

    fn dispatch(&mut self, cx: &mut Context, cpu: CpuId) -> Option<TaskId> {
        let task = self.of(cpu).dispatch(cx, cpu)?;
        if cx.task(task).cpu != cpu {
            cx.moved(task, cpu);
        }
        Some(task)
    }

    fn running(&mut self, cx: &mut Context, cpu: CpuId, task: TaskId) {
        self.of(cpu).running(cx, cpu, task);
    }

    fn stopping(&mut self, cx: &mut Context, cpu: CpuId, task: TaskId, runnable: bool) {
        self.of(cpu).stopping(cx, cpu, task, runnable);
    }

    fn tick(&mut self, cx: &mut Context, cpu: CpuId) {
        self.of(cpu).tick(cx, cpu);
    }

    fn on(&mut self, cx: &mut Context, happening: Happening) {
        match happening {
            Happening::Timer(timer) => {
                self.parts.iter_mut().any(|part| part.expired(cx, timer));
            }
            Happening::Cpu { cpu, up: true } => cx.kick_idle(cpu), // idle once it finds no task
            Happening::Cpu { cpu, up: false } => self.goes_off(cx, cpu),
            Happening::Exit(task) => {
                self.parts.iter_mut().for_each(|part| part.state.task(task).ends = true);
            }
            Happening::Affinity(task) => self.affinity_changed(cx, task),
            _ => {}
        }
    }
}
