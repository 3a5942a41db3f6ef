//! A situation and the steps from it, as a History.

use wastenot_model::{
    Change, CpuId, CpuMode, CpuSet, Event, History, How, Left, Prio, Sink, Start, TaskId,
};
use wastenot_rota::ir::{Event as Happens, Policy};

use super::annexes::{self, About, Row, Tables};
use super::telling::Telling;
use crate::explore::{Found, Given, Place, Step, Task, Wrong};

/// The way in which a counterexample about a key breaks its claim, in tables.
pub(crate) const KEY: &str = "key";
/// The places of tasks, in tables.
pub(crate) const WAITS: &str = "waits";
pub(crate) const RUNS: &str = "runs";
pub(crate) const AWAY: &str = "away";

impl Found {
    /// The counterexample as a History: the situation is its start, each step takes a microsecond,
    /// and annexes hold the parts that are not events.
    pub(super) fn history(&self, policy: &Policy, claim: &str, text: &str) -> History {
        let tables = self.tables(policy, claim, text);
        let at_first = self.situation_in_words(policy);
        let mut telling = Telling::new(&self.small.machine, &tables, start(self, policy), at_first);
        telling.tasks((0..self.situation.tasks.len()).map(|n| format!("task{n}")));
        for (n, task) in self.situation.tasks.iter().enumerate() {
            let what = Change::Affinity(telling.builder.mask(&mask(task.mask)));
            telling.event(self.cpu, Event::Changed { task: TaskId::nth(n), what });
        }
        for (step, words) in self.steps.iter().zip(self.steps_in_words(policy)) {
            self.tell(policy, step, &mut telling);
            telling.step(Row { words, ..self.row(policy, step) });
        }
        telling.finish()
    }

    fn tables(&self, policy: &Policy, claim: &str, text: &str) -> Tables {
        let about = About {
            policy: policy.name.clone(),
            claim: claim.to_owned(),
            way: self.wrong.map_or(KEY, Wrong::name).to_owned(),
            cpu: self.cpu,
            why: self.why.clone(),
            text: text.to_owned(),
        };
        let named = |queue: usize, group| (policy.queues[queue].name.clone(), group);
        let task = |(n, task): (usize, &Task)| {
            let (place, cpu, queue) = match task.place {
                Place::Waits { queue, group } => (
                    if self.comes(n).is_some() { AWAY } else { WAITS },
                    None,
                    Some(named(queue, group)),
                ),
                Place::Runs(cpu) => (RUNS, Some(cpu), None),
                Place::Away => (AWAY, None, None),
            };
            let (place, allowed, weight) = (place.to_owned(), mask(task.mask), task.weight);
            annexes::Task { place, cpu, queue, allowed, weight, ..annexes::Task::default() }
        };
        let vars = self.situation.vars.iter().zip(self.small.tree.cpus());
        let variables = vars.flat_map(|(values, &cpu)| {
            let names = policy.cpu_vars.iter().map(|var| var.name.clone());
            names.zip(values).map(move |(name, value)| (cpu, name, *value))
        });
        let given = self.steps.iter().find_map(|step| match step {
            Step::Sets { given, .. } => Some(*given),
            _ => None,
        });
        let numbers = given.map(|Given { var, least, ran, now, weight }| {
            [("var", var), ("least", least), ("ran", ran), ("now", now), ("weight", weight)]
        });
        let numbers = numbers.into_iter().flatten();
        Tables {
            about,
            queues: queues(policy),
            tasks: self.situation.tasks.iter().enumerate().map(task).collect(),
            variables: variables.collect(),
            numbers: numbers.map(|(name, value)| (name.to_owned(), value)).collect(),
        }
    }

    /// A step as a row of a table, without its words.
    fn row(&self, policy: &Policy, step: &Step) -> Row {
        let from = policy.idle.as_ref().map_or(0, |balance| balance.from);
        let named = |queue: usize, group| Some((policy.queues[queue].name.clone(), group));
        let mut row = Row { cpu: Some(self.cpu), ..Row::default() };
        match *step {
            Step::Took { queue, group } => row.queue = named(queue, group),
            Step::Read { group, passed } => {
                (row.queue, row.passed) = (named(from, group), Some(passed));
            }
            Step::Tried { group, refused } => {
                (row.queue, row.refused) = (named(from, group), Some(refused));
            }
            Step::Stole { group, task } => (row.queue, row.task) = (named(from, group), Some(task)),
            Step::Moved { by, task, from, into } => {
                (row.cpu, row.task) = (Some(by), Some(task));
                (row.queue, row.into) = (named(from.0, from.1), named(into.0, into.1));
            }
            Step::Sets { event, var, before, after, .. } => {
                row.event = Some(event.name().to_owned());
                row.var = Some(policy.task_vars[var].name.clone());
                (row.before, row.after) = (Some(before), Some(after));
            }
            Step::Woken { task, event, prev, queue, group } => {
                (row.cpu, row.task) = (Some(prev), Some(task));
                row.event = Some(event.name().to_owned());
                row.queue = named(queue, group);
            }
            Step::GivesUp => {}
        }
        Row { kind: kind(step).to_owned(), ..row }
    }

    /// The events of a step.
    fn tell(&self, policy: &Policy, step: &Step, telling: &mut Telling) {
        let cpu = self.cpu;
        match *step {
            Step::Woken { task, event, prev, queue, group } => {
                let (task, prio) = (TaskId::nth(task), Prio::UNKNOWN);
                let on = Some(nominal(self, policy, queue, group));
                let how = match event {
                    Happens::New => How::New,
                    Happens::Wake => How::Wakeup,
                    _ => How::NoSelection,
                };
                if how == How::Wakeup {
                    telling.event(prev, Event::Waking { task, prev: Some(prev), prio });
                }
                telling.event(prev, Event::Queued { task, on, how, prio });
            }
            Step::Moved { by, task, from, into } => {
                let from = Some(nominal(self, policy, from.0, from.1));
                let to = nominal(self, policy, into.0, into.1);
                telling.event(by, Event::Migrate { task: TaskId::nth(task), from, to });
            }
            Step::Stole { task, group } => {
                let queue = policy.idle.as_ref().map_or(0, |balance| balance.from);
                let from = Some(nominal(self, policy, queue, group));
                let task = TaskId::nth(task);
                telling.event(cpu, Event::Migrate { task, from, to: cpu });
                telling.switch(cpu, TaskId::idle(cpu), task, Left::Runnable);
            }
            Step::Took { .. }
            | Step::Read { .. }
            | Step::Tried { .. }
            | Step::Sets { .. }
            | Step::GivesUp => {}
        }
    }
}

/// The name of a kind of step, in tables.
pub(crate) fn kind(step: &Step) -> &'static str {
    match step {
        Step::Took { .. } => "takes",
        Step::Read { .. } => "reads",
        Step::Tried { .. } => "tries",
        Step::Stole { .. } => "steals",
        Step::Moved { .. } => "moves",
        Step::Sets { .. } => "sets",
        Step::Woken { .. } => "puts",
        Step::GivesUp => "sleeps",
    }
}

/// The queues of a policy: the name of each, and the level that has one for each group.
pub(super) fn queues(policy: &Policy) -> Vec<(String, String)> {
    let queues = policy.queues.iter();
    queues.map(|queue| (queue.name.clone(), queue.per.name().to_owned())).collect()
}

pub(crate) fn mask(mask: u32) -> CpuSet {
    (0..32).filter(|bit| mask >> bit & 1 == 1).map(CpuId).collect()
}

fn start(found: &Found, policy: &Policy) -> Start {
    let tasks = || found.situation.tasks.iter().enumerate();
    let runs = |cpu: CpuId| tasks().find(|(_, task)| task.place == Place::Runs(cpu));
    let mode = |&cpu: &CpuId| match runs(cpu) {
        Some((task, _)) => CpuMode::Busy(TaskId::nth(task)),
        None => CpuMode::Idle,
    };
    let waiting = tasks().filter_map(|(n, task)| match task.place {
        Place::Waits { queue, group } if found.comes(n).is_none() => {
            Some((TaskId::nth(n), Some(nominal(found, policy, queue, group))))
        }
        _ => None,
    });
    let asleep = tasks().filter(|&(n, task)| match found.comes(n) {
        Some((event, _)) => event == Happens::Wake,
        None => task.place == Place::Away,
    });
    Start {
        cpus: found.small.tree.cpus().iter().map(mode).collect(),
        waiting: waiting.collect(),
        sleeping: asleep.map(|(n, _)| (TaskId::nth(n), None)).collect(),
        ..Start::default()
    }
}

/// The CPU on which the History shows a task that waits in a queue: a CPU of the group of the
/// queue, and not the one that fails to take the task, if there is another.
fn nominal(found: &Found, policy: &Policy, queue: usize, group: usize) -> CpuId {
    let members = found.small.tree.members(policy.queues[queue].per, group);
    let busy = members.iter().find(|&&cpu| !found.situation.is_idle(cpu));
    let other = members.iter().find(|&&cpu| cpu != found.cpu);
    *busy.or(other).unwrap_or(&members[0])
}
