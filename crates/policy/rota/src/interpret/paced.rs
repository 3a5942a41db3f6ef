//! The same policy, step by step: what other CPUs do between two steps of one CPU, it sees too
//! late.
//!
//! A put inserts its task, and then wakes an idle CPU. An idle CPU says that it is idle, looks into
//! one queue after the other, and tries those in which it saw a task ([`Progress`], as the explorer
//! has it). Each step reads the state of its own moment, so what was read may be outdated when it
//! is used, and faults that need this show in a run.

use wastenot_model::policy::{Context, Note, Steps, View, Went, Why};
use wastenot_model::{CpuId, TaskId};

use super::Interpreter;
use super::forced::Looks;
use super::handler::{Decision, Placed, at};
use super::scheduler::{PUTS, Scheduler};
use crate::attempt::{Next, Progress};
use crate::ir::{Event, Level};

/// What a CPU has begun.
#[derive(Debug)]
pub(super) enum Begun {
    /// A put of a task, in a partition.
    Put { task: TaskId, part: usize, decision: Decision, step: usize },
    /// An attempt to find a task.
    Look(Attempt),
    /// It took a task, and more may wait.
    Took,
}

/// An attempt to find a task, and how far it is.
#[derive(Debug, Default)]
pub(super) struct Attempt {
    progress: Progress,
    /// The groups that passed the filter, by how good each was when it was read.
    ranks: Vec<((i128, Level), usize)>,
}

impl Steps for Interpreter {
    fn puts(&mut self, cx: &mut Context, task: TaskId, cpu: CpuId, why: Why) {
        let (part, decision) = match self.decision(task).take() {
            Some(decided) if matches!(why, Why::New | Why::Wakeup { .. }) => decided,
            _ => self.decide(cx, event_of(why), task, (cpu, cpu)),
        };
        // A CPU that is claimed for a task is given the task in the same step, as the explorer has
        // it: so it is never claimed twice.
        let is_given = matches!(decision.placed, Some(Placed::Cpu(_)))
            && self.parts[part].puts(cx, task, &decision, 0);
        let here = cx.cpu;
        self.begin(here, Begun::Put { task, part, decision, step: usize::from(is_given) });
    }

    fn looks(&mut self, cx: &mut Context, cpu: CpuId) {
        if cx.online.contains(cpu) {
            self.of(cpu).says_idle(cpu);
            self.begin(cpu, Begun::Look(Attempt::default()));
        }
    }

    fn goes_on(&mut self, cx: &mut Context, cpu: CpuId) -> Went {
        let Some(begun) = self.begun.get_mut(cpu.index()).and_then(Option::take) else {
            return Went::Over;
        };
        match begun {
            Begun::Put { task, mut part, mut decision, step } => {
                if step == 0 && !self.parts[part].keeps(cx, task, &decision) {
                    // Its CPUs went off, or its affinity changed, after the decision.
                    let at = cx.task(task).cpu;
                    (part, decision) = self.decide(cx, Event::Preempt, task, (at, at));
                }
                if !self.parts[part].puts(cx, task, &decision, step) || step + 1 == PUTS {
                    return Went::Over;
                }
                self.begin(cpu, Begun::Put { task, part, decision, step: step + 1 });
                Went::On
            }
            Begun::Look(mut attempt) => match self.of(cpu).looks_on(cx, cpu, &mut attempt) {
                Went::On => {
                    self.begin(cpu, Begun::Look(attempt));
                    Went::On
                }
                Went::Found(task) => {
                    if cx.task(task).cpu != cpu {
                        cx.moved(task, cpu);
                    }
                    self.begin(cpu, Begun::Took);
                    Went::Found(task)
                }
                Went::Over => Went::Over,
            },
            Begun::Took => {
                let scheduler = self.of(cpu);
                if !scheduler.policy.protocol.no_chain {
                    scheduler.pass_on(cx);
                }
                Went::Over
            }
        }
    }
}

/// The handler that places a task.
pub(super) fn event_of(why: Why) -> Event {
    match why {
        Why::New => Event::New,
        Why::Wakeup { .. } => Event::Wake,
        Why::Yield => Event::Yield,
        Why::Preempted | Why::Displaced | Why::Exec | Why::Requeued => Event::Preempt,
    }
}

impl Interpreter {
    fn begin(&mut self, cpu: CpuId, begun: Begun) {
        let count = self.part_of.len();
        self.begun.resize_with(count, || None);
        self.begun[cpu.index()] = Some(begun);
    }
}

impl Scheduler {
    /// `cpu` sets its idle flag before it looks, unless the protocol is wrong or it was given a
    /// task.
    fn says_idle(&mut self, cpu: CpuId) {
        if !self.policy.protocol.no_rescan && self.state.cpus[cpu.index()].next.is_none() {
            self.state.idle.insert(cpu);
        }
    }

    /// Whether a decision is still one: a CPU that may run the task is where it leads.
    fn keeps(&self, view: &View, task: TaskId, decision: &Decision) -> bool {
        match decision.placed {
            Some(Placed::Cpu(cpu)) => self.state.may(view, task, cpu),
            Some(Placed::Queue { queue, group, .. }) => {
                let mut looks = self.looks[queue][group].iter();
                // A queue from which no CPU ever takes is a fault of the text.
                self.looks[queue][group].is_empty()
                    || looks.any(|cpu| self.state.may(view, task, cpu))
            }
            None => false,
        }
    }

    /// The next step of an attempt of `cpu`.
    fn looks_on(&mut self, cx: &mut Context, cpu: CpuId, attempt: &mut Attempt) -> Went {
        if !cx.online.contains(cpu) {
            return Went::Over;
        }
        if let Some(task) = self.state.cpus[cpu.index()].next.take() {
            self.state.idle.remove(cpu);
            return Went::Found(task);
        }
        let looks = Looks { scheduler: self, view: cx, cpu };
        let found = match attempt.progress.next(&self.policy, &looks) {
            Next::Takes((queue, group)) => {
                let first = self.state.first(cx, queue, group, cpu);
                match first {
                    Some(task) => self.state.remove(task, true),
                    None => attempt.progress.took_none(),
                }
                first
            }
            Next::Reads(groups) => {
                let group = groups[0];
                let read = self.reads(cx, cpu, group);
                attempt.ranks.extend(read.as_ref().map(|(rank, _)| (*rank, group)));
                attempt.progress.read(group, read.map(|(_, seen)| seen));
                None
            }
            Next::Tries(passed) => {
                let of = |group: usize| attempt.ranks.iter().find(|(_, it)| *it == group);
                let best = passed.iter().map(|(group, _)| *group).min_by_key(|group| of(*group));
                let group = best.unwrap_or_default();
                attempt.ranks.retain(|(_, it)| *it != group);
                let seen = attempt.progress.tries(group);
                self.tries(cx, cpu, group, seen)
            }
            Next::Sleeps => {
                self.state.idle.insert(cpu);
                self.arm(cx, cpu, None);
                self.step(cx, cpu, Note::FAILED, None);
                return Went::Over;
            }
        };
        match found {
            None => Went::On,
            Some(task) => {
                self.state.idle.remove(cpu);
                self.step(cx, cpu, Note::TAKE, Some(task));
                Went::Found(task)
            }
        }
    }

    /// How good a candidate is, and what the re-check remembers of it, if it passes.
    fn reads(
        &mut self,
        view: &View,
        cpu: CpuId,
        group: usize,
    ) -> Option<((i128, Level), Vec<i64>)> {
        let balance = self.policy.idle.take()?; // put back below
        self.frame.me = Some(at(&self.state, cpu));
        let (mut looking, _) = self.looking(view);
        let read = looking
            .rank(&balance, group, cpu)
            .map(|rank| (rank, balance.remembered().iter().map(|num| looking.key(num)).collect()));
        self.policy.idle = Some(balance);
        read
    }

    /// `cpu` tries a candidate under its lock: the task that it takes.
    fn tries(
        &mut self,
        cx: &mut Context,
        cpu: CpuId,
        group: usize,
        seen: Vec<i64>,
    ) -> Option<TaskId> {
        let balance = self.policy.idle.take()?; // put back below
        self.frame.me = Some(at(&self.state, cpu));
        self.frame.seen = seen;
        let first = self.first_of(cx, cpu, &balance, group);
        self.frame.seen.clear();
        if let Some(task) = first {
            self.takes(cpu, &balance, task, group);
        }
        self.policy.idle = Some(balance);
        first
    }
}
