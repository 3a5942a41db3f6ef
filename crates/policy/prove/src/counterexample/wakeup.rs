//! A lost wakeup, in words and as a History.

use wastenot_model::{CpuId, CpuMode, Event, History, How, Left, Prio, Start, TaskId};
use wastenot_rota::ir::Policy;

use super::annexes::{self, About, Row, Tables};
use super::situation::{AWAY, mask, queues};
use super::telling::Telling;
use super::words::queue_in_words;
use crate::wakeup::{Lost, Step};

/// The way in which such a counterexample breaks its claim, in tables.
pub(crate) const WAKEUP: &str = "wakeup";

impl Lost {
    /// What is wrong, in one sentence.
    pub(super) fn why(&self) -> String {
        let (cpu, task) = (self.trace.cpu, self.trace.task);
        format!(
            "task {task} waits, CPU {cpu} sleeps although it would take the task, and no wakeup is \
             pending"
        )
    }

    pub(super) fn situation_in_words(&self) -> Vec<String> {
        vec!["every CPU runs another task".to_owned()]
    }

    pub(super) fn steps_in_words(&self, policy: &Policy) -> Vec<String> {
        self.trace.steps.iter().map(|step| in_words(policy, &self.places, step)).collect()
    }

    pub(super) fn history(&self, policy: &Policy, claim: &str, text: &str) -> History {
        let cpus: Vec<CpuId> = (0..self.cpus).map(id).collect();
        let other = |cpu: CpuId| TaskId::nth(self.tasks + cpu.index());
        let start = Start {
            cpus: cpus.iter().map(|&cpu| CpuMode::Busy(other(cpu))).collect(),
            sleeping: (0..self.tasks).map(|task| (TaskId::nth(task), None)).collect(),
            ..Start::default()
        };
        let tables = self.tables(policy, claim, text);
        let at_first = self.situation_in_words();
        let mut telling = Telling::new(&self.machine, &tables, start, at_first);
        let tasks = (0..self.tasks).map(|task| format!("task{task}"));
        telling.tasks(tasks.chain(cpus.iter().map(|cpu| format!("other{cpu}"))));
        let mut runs: Vec<Option<TaskId>> = cpus.iter().map(|&cpu| Some(other(cpu))).collect();
        for (step, words) in self.trace.steps.iter().zip(self.steps_in_words(policy)) {
            self.tell(step, &mut telling, &mut runs);
            telling.step(Row { words, ..self.row(policy, step) });
        }
        telling.finish()
    }

    fn tables(&self, policy: &Policy, claim: &str, text: &str) -> Tables {
        let about = About {
            policy: policy.name.clone(),
            claim: claim.to_owned(),
            way: WAKEUP.to_owned(),
            cpu: id(self.trace.cpu),
            why: self.why(),
            text: text.to_owned(),
        };
        let tasks = self.kinds.iter().map(|kind| annexes::Task {
            place: AWAY.to_owned(),
            cpu: None,
            queue: Some((policy.queues[kind.queue.0].name.clone(), kind.queue.1)),
            allowed: mask(kind.allowed.into()),
            weight: 100,
            woken: mask(kind.woken.into()),
            direct: mask(kind.direct.into()),
        });
        let (variables, numbers) = (Vec::new(), Vec::new());
        Tables { about, queues: queues(policy), tasks: tasks.collect(), variables, numbers }
    }

    /// A step as a row of a table, without its words.
    fn row(&self, policy: &Policy, step: &Step) -> Row {
        let Parts { kind, cpu, task, to, queue, into } = parts(step);
        let named = |queue: usize| {
            let (queue, group) = self.places[queue];
            (policy.queues[queue].name.clone(), group)
        };
        Row {
            kind: kind.to_owned(),
            cpu: cpu.map(id),
            task,
            to: to.map(id),
            queue: queue.map(named),
            into: into.map(named),
            ..Row::default()
        }
    }

    /// The events of a step.
    fn tell(&self, step: &Step, telling: &mut Telling, runs: &mut [Option<TaskId>]) {
        let mut switch = |telling: &mut Telling, cpu: usize, next: Option<TaskId>| {
            let prev = std::mem::replace(&mut runs[cpu], next);
            let idle = TaskId::idle(id(cpu));
            let (prev, next) = (prev.unwrap_or(idle), next.unwrap_or(idle));
            if prev != next {
                telling.switch(id(cpu), prev, next, Left::Sleeping);
            }
        };
        match *step {
            Step::Insert { task, .. } => {
                let (on, prio) = (self.nominal(), Prio::UNKNOWN);
                let event =
                    Event::Queued { task: TaskId::nth(task), on: Some(on), how: How::Wakeup, prio };
                telling.event(on, event);
            }
            Step::Arm { cpu, kicked: false } => switch(telling, cpu, None),
            Step::Take { cpu, task, .. } | Step::StartLocal { cpu, task } => {
                let to = id(cpu);
                if to != self.nominal() {
                    let (task, from) = (TaskId::nth(task), Some(self.nominal()));
                    telling.event(to, Event::Migrate { task, from, to });
                }
                switch(telling, cpu, Some(TaskId::nth(task)));
            }
            _ => {}
        }
    }
}

impl Lost {
    /// The CPU on which the History shows a waiting task: not the one that fails to take it, if
    /// there is another.
    fn nominal(&self) -> CpuId {
        id((0..self.cpus).find(|&cpu| cpu != self.trace.cpu).unwrap_or(self.trace.cpu))
    }
}

/// The actor and the arguments of a step: numbers of CPUs, tasks and queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parts {
    /// The name of its kind, in tables.
    pub(crate) kind: &'static str,
    pub(crate) cpu: Option<usize>,
    pub(crate) task: Option<usize>,
    pub(crate) to: Option<usize>,
    pub(crate) queue: Option<usize>,
    pub(crate) into: Option<usize>,
}

pub(crate) fn parts(step: &Step) -> Parts {
    let of = |kind| Parts { kind, cpu: None, task: None, to: None, queue: None, into: None };
    let on = |kind, cpu| Parts { cpu: Some(cpu), ..of(kind) };
    let both = |kind, cpu, task| Parts { task: Some(task), ..on(kind, cpu) };
    match *step {
        Step::Insert { task, queue } => {
            Parts { task: Some(task), queue: Some(queue), ..of("insert") }
        }
        Step::Move { task, from, into } => {
            Parts { task: Some(task), queue: Some(from), into: Some(into), ..of("move") }
        }
        Step::Claim { task, cpu } => both("claim", cpu, task),
        Step::RunDirect { task, cpu } => both("run-direct", cpu, task),
        Step::LookInVain { task, cpu } => both("look-in-vain", cpu, task),
        Step::Arm { cpu, kicked: true } => on("wake-up", cpu),
        Step::Arm { cpu, kicked: false } => on("end-run", cpu),
        Step::FindNothing { cpu, queue } => Parts { queue: Some(queue), ..on("find-nothing", cpu) },
        Step::Take { cpu, task, queue } => Parts { queue: Some(queue), ..both("take", cpu, task) },
        Step::Sleep { cpu } => on("sleep", cpu),
        Step::SayBusy { cpu } => on("say-busy", cpu),
        Step::Pass { cpu, task, to } => Parts { to: Some(to), ..both("pass", cpu, task) },
        Step::PassInVain { cpu, task, to } => {
            Parts { to: Some(to), ..both("pass-in-vain", cpu, task) }
        }
        Step::PassToNobody { cpu, task } => both("pass-to-nobody", cpu, task),
        Step::StartLocal { cpu, task } => both("start-local", cpu, task),
        Step::KickInVain { cpu } => on("kick-in-vain", cpu),
    }
}

/// A step in words. `places` maps queues of the system to queues of the policy.
pub(crate) fn in_words(policy: &Policy, places: &[(usize, usize)], step: &Step) -> String {
    let words = step.to_string().replace("cpu ", "CPU ");
    // There are fewer than ten queues, so no number is a prefix of another.
    places.iter().enumerate().fold(words, |words, (n, &place)| {
        words.replace(&format!("queue {n}"), &queue_in_words(policy, place))
    })
}

fn id(cpu: usize) -> CpuId {
    CpuId(cpu as u16)
}
