//! A counterexample as a History, which can be drawn and checked like any other, and in words.

use wastenot_model::report::Unit;
use wastenot_model::{
    Annex, Builder, By, Carries, Change, Clock, Context, CpuId, CpuMode, CpuSet, Entry, Event,
    Head, History, How, Left, Prio, Sink, Source, Start, Table, TaskId, Time, Value, Window,
};
use wastenot_rota::ir::{Level, Policy};

use crate::explore::{Found, Place, Step};

/// Every step takes so long: a microsecond, in ns.
const STEP_NS: u64 = 1_000;

impl Found {
    /// What it begins with, a line for each CPU and each task that waits.
    pub fn situation_in_words(&self, policy: &Policy) -> Vec<String> {
        let cpus = self.small.tree.cpus().iter().map(|&cpu| {
            let mut tasks = self.situation.tasks.iter().enumerate();
            match tasks.find(|(_, task)| task.place == Place::Runs(cpu)) {
                Some((task, _)) => {
                    format!("CPU {cpu} runs task {task}{}", self.nature(task))
                }
                None => format!("CPU {cpu} is idle"),
            }
        });
        let tasks = self.situation.tasks.iter().enumerate();
        let others = tasks.filter_map(|(n, task)| match task.place {
            Place::Waits { queue, group } => Some(format!(
                "task {n}{} waits in {}",
                self.nature(n),
                self.queue(policy, queue, group)
            )),
            Place::Away => Some(format!("task {n}{} sleeps", self.nature(n))),
            Place::Runs(_) => None,
        });
        cpus.chain(others).collect()
    }

    /// What happens, a line for each step.
    pub fn steps_in_words(&self, policy: &Policy) -> Vec<String> {
        let steps = self.steps.iter();
        steps.map(|step| format!("{} {}", self.actor(step), self.step(policy, step))).collect()
    }

    /// As a History: the situation is its start, each step takes a microsecond, and the annex
    /// `steps` says what was done that is no event.
    pub fn history(&self, policy: &Policy) -> History {
        Telling::new(self, policy).tell()
    }

    /// Who does a step.
    fn actor(&self, step: &Step) -> String {
        match step {
            Step::Moved { by, .. } => format!("CPU {by}"),
            Step::Woken { task, .. } => format!("task {task}"),
            _ => format!("CPU {}", self.cpu),
        }
    }

    fn step(&self, policy: &Policy, step: &Step) -> String {
        let from = policy.idle.as_ref().map_or(0, |balance| balance.from);
        match step {
            Step::Took { queue, group } => {
                format!(
                    "takes from {}: nobody there may run here",
                    self.queue(policy, *queue, *group)
                )
            }
            Step::Read { group, passed } => format!(
                "reads {}: the filter says {}",
                self.queue(policy, from, *group),
                if *passed { "yes" } else { "no" }
            ),
            Step::Tried { group, refused: false } => {
                format!("locks {}: nobody there may run here", self.queue(policy, from, *group))
            }
            Step::Tried { group, refused: true } => {
                format!("locks {}: the re-check says no", self.queue(policy, from, *group))
            }
            Step::Stole { group, task } => format!(
                "takes task {task} from {}, and does not ask whether it may run here",
                self.queue(policy, from, *group)
            ),
            Step::Moved { task, from: group, into, .. } => {
                let balance = policy.periodic.first().map(|periodic| &periodic.balance);
                let (from, to) = balance.map_or((0, 0), |it| (it.from, it.into.unwrap_or(it.from)));
                format!(
                    "moves task {task} from {} to {}",
                    self.queue(policy, from, *group),
                    self.queue(policy, to, *into)
                )
            }
            Step::Woken { queue, group, .. } => {
                format!("is woken and waits in {}", self.queue(policy, *queue, *group))
            }
            Step::GivesUp => "goes to sleep".to_owned(),
        }
    }

    /// `` `ready` of CPU 1 ``
    fn queue(&self, policy: &Policy, queue: usize, group: usize) -> String {
        let kind = &policy.queues[queue];
        match kind.per {
            Level::Machine => format!("`{}`", kind.name),
            Level::Cpu => format!("`{}` of CPU {group}", kind.name),
            level => format!("`{}` of {} {group}", kind.name, level.name()),
        }
    }

    /// Affinity and weight, where they are not as usual.
    fn nature(&self, task: usize) -> String {
        let task = &self.situation.tasks[task];
        let all = (1 << self.small.tree.cpus().len()) - 1;
        let mut nature = Vec::new();
        if task.mask != all {
            nature.push(format!("only on {}", mask(task.mask)));
        }
        if self.situation.tasks.iter().any(|other| other.weight != task.weight) {
            nature.push(format!("weight {}", task.weight));
        }
        if nature.is_empty() { String::new() } else { format!(" ({})", nature.join(", ")) }
    }
}

fn mask(mask: u32) -> CpuSet {
    (0..32).filter(|bit| mask >> bit & 1 == 1).map(CpuId).collect()
}

/// A History on its way.
struct Telling<'f> {
    found: &'f Found,
    policy: &'f Policy,
    builder: Builder,
    now: Time,
    steps: Table,
}

impl<'f> Telling<'f> {
    fn new(found: &'f Found, policy: &'f Policy) -> Telling<'f> {
        let mut head = Head::new(found.small.machine.clone());
        head.clock = Clock { name: "steps".into(), nanoseconds: true };
        let all = Carries::ALL.iter().fold(Carries::NONE, |all, (carry, ..)| all | *carry);
        head.carries = all.without(Carries::FREQ | Carries::LOSSES);
        head.source = Source {
            format: "prove".into(),
            name: format!("{}: {}", policy.name, found.why),
            kernel: None,
            notes: vec![("policy".into(), policy.name.clone())],
        };
        head.window = Window { from: Time(0), to: Time(0) };
        head.start = Some(start(found, policy));
        let columns = [
            ("time_ns", "time", Unit::At),
            ("cpu", "CPU", Unit::None),
            ("task", "task", Unit::None),
            ("step", "step", Unit::None),
        ];
        let steps = Table::new("steps", "Steps", &columns);
        Telling { found, policy, builder: Builder::new(head), now: Time(STEP_NS), steps }
    }

    fn tell(mut self) -> History {
        for n in 0..self.found.situation.tasks.len() {
            let name = self.builder.name(&format!("task{n}"));
            self.builder.task(wastenot_model::Task::new(n as i32 + 1, name));
        }
        for (n, task) in self.found.situation.tasks.iter().enumerate() {
            let what = Change::Affinity(self.builder.mask(&mask(task.mask)));
            self.push(self.found.cpu, Event::Changed { task: TaskId::nth(n), what });
        }
        for step in &self.found.steps {
            self.step(step);
            let cpu = match step {
                Step::Moved { by, .. } => *by,
                _ => self.found.cpu,
            };
            let task = match step {
                Step::Moved { task, .. } | Step::Woken { task, .. } | Step::Stole { task, .. } => {
                    Value::from(*task)
                }
                _ => Value::Unknown,
            };
            let words = self.found.step(self.policy, step);
            self.steps.push(vec![self.now.into(), cpu.into(), task, words.into()]);
            self.now.0 += STEP_NS;
        }
        // What follows from the last step is seen for as long as all before.
        let last = Time(self.now.0 * 2);
        self.builder.head().window.to = last;
        self.builder.annex(Annex { table: self.steps });
        self.builder.finish()
    }

    fn step(&mut self, step: &Step) {
        let cpu = self.found.cpu;
        match *step {
            Step::Woken { task, prev, queue, group } => {
                let (task, prio) = (TaskId::nth(task), Prio::UNKNOWN);
                self.push(prev, Event::Waking { task, prev: Some(prev), prio });
                let on = Some(self.nominal(queue, group));
                self.push(prev, Event::Queued { task, on, how: How::Wakeup, prio });
            }
            Step::Moved { by, task, from, into } => {
                let balance = self.policy.periodic.first().map(|periodic| &periodic.balance);
                let Some((here, there)) = balance.map(|it| (it.from, it.into.unwrap_or(it.from)))
                else {
                    return;
                };
                let (from, to) = (Some(self.nominal(here, from)), self.nominal(there, into));
                self.push(by, Event::Migrate { task: TaskId::nth(task), from, to });
            }
            Step::Stole { task, group } => {
                let queue = self.policy.idle.as_ref().map_or(0, |balance| balance.from);
                let from = Some(self.nominal(queue, group));
                let task = TaskId::nth(task);
                self.push(cpu, Event::Migrate { task, from, to: cpu });
                let (prev, prio) = (TaskId::idle(cpu), Prio::UNKNOWN);
                let (prev_prio, next_prio, left) = (prio, prio, Left::Runnable);
                let event = Event::Switch { cpu, prev, next: task, left, prev_prio, next_prio };
                self.push(cpu, event);
            }
            Step::Took { .. } | Step::Read { .. } | Step::Tried { .. } | Step::GivesUp => {}
        }
    }

    fn push(&mut self, cpu: CpuId, event: Event) {
        let by = By { task: None, context: Context::Task };
        self.builder.push(Entry { time: self.now, cpu, by, event });
    }

    fn nominal(&self, queue: usize, group: usize) -> CpuId {
        nominal(self.found, self.policy, queue, group)
    }
}

fn start(found: &Found, policy: &Policy) -> Start {
    let tasks = || found.situation.tasks.iter().enumerate();
    let runs = |cpu: CpuId| tasks().find(|(_, task)| task.place == Place::Runs(cpu));
    let mode = |&cpu: &CpuId| match runs(cpu) {
        Some((task, _)) => CpuMode::Busy(TaskId::nth(task)),
        None => CpuMode::Idle,
    };
    let waiting = tasks().filter_map(|(n, task)| match task.place {
        Place::Waits { queue, group } => {
            Some((TaskId::nth(n), Some(nominal(found, policy, queue, group))))
        }
        _ => None,
    });
    let asleep = tasks().filter(|(_, task)| task.place == Place::Away);
    Start {
        cpus: found.small.tree.cpus().iter().map(mode).collect(),
        waiting: waiting.collect(),
        sleeping: asleep.map(|(n, _)| (TaskId::nth(n), None)).collect(),
        ..Start::default()
    }
}

/// Where a task that waits in a queue is told to wait: on a CPU whose it is, and which is not the
/// one that it waits for in vain, if there is another.
fn nominal(found: &Found, policy: &Policy, queue: usize, group: usize) -> CpuId {
    let members = found.small.tree.members(policy.queues[queue].per, group);
    let busy = members.iter().find(|&&cpu| !found.situation.is_idle(cpu));
    let other = members.iter().find(|&&cpu| cpu != found.cpu);
    *busy.or(other).unwrap_or(&members[0])
}
