//! A situation and the steps from it, in words.

use wastenot_model::{CpuId, Span};
use wastenot_rota::ir::{Dimension, Event, Level, Policy};

use super::situation::mask;
use crate::explore::{Found, Given, Place, Situation, Step};

impl Found {
    /// The initial state: a line for each CPU and each task that does not run.
    pub(super) fn situation_in_words(&self, policy: &Policy) -> Vec<String> {
        let cpus = self.small.tree.cpus().iter().map(|&cpu| {
            let mut tasks = self.situation.tasks.iter().enumerate();
            match tasks.find(|(_, task)| task.place == Place::Runs(cpu)) {
                Some((task, _)) => {
                    format!("CPU {cpu} runs task {task}{}", self.nature(task))
                }
                None => format!("CPU {cpu} is idle"),
            }
        });
        let others = (0..self.situation.tasks.len()).filter_map(|n| self.task(policy, n));
        cpus.chain(others).collect()
    }

    /// The initial state of a task that does not run.
    fn task(&self, policy: &Policy, n: usize) -> Option<String> {
        let is = match (self.situation.tasks[n].place, self.comes(n)) {
            (Place::Runs(_), _) => return None,
            (_, Some((Event::New, _))) => "does not exist yet".to_owned(),
            (_, Some((Event::Wake, _))) | (Place::Away, None) => "sleeps".to_owned(),
            (_, Some((_, prev))) => format!("ran on CPU {prev} until now"),
            (Place::Waits { queue, group }, None) => {
                format!("waits in {}", queue_in_words(policy, (queue, group)))
            }
        };
        Some(format!("task {n}{} {is}", self.nature(n)))
    }

    /// The event by which one of the steps puts a task, and the CPU where the task ran before.
    pub(super) fn comes(&self, n: usize) -> Option<(Event, CpuId)> {
        self.steps.iter().find_map(|step| match *step {
            Step::Woken { task, event, prev, .. } if task == n => Some((event, prev)),
            Step::Sets { event, .. } => Some((event, self.cpu)),
            _ => None,
        })
    }

    /// The steps, a line for each.
    pub(super) fn steps_in_words(&self, policy: &Policy) -> Vec<String> {
        let mut now = self.situation.clone();
        let words = self.steps.iter().map(|step| {
            let words = format!("{} {}", self.actor(step), words(policy, &now, step));
            match *step {
                Step::Woken { task, queue, group, .. }
                | Step::Moved { task, into: (queue, group), .. } => {
                    now.tasks[task].place = Place::Waits { queue, group };
                }
                _ => {}
            }
            words
        });
        words.collect()
    }

    /// The CPU or task that takes a step.
    fn actor(&self, step: &Step) -> String {
        match step {
            Step::Moved { by, .. } => format!("CPU {by}"),
            Step::Woken { task, .. } => format!("task {task}"),
            _ => format!("CPU {}", self.cpu),
        }
    }

    /// The affinity and the weight of a task, where they differ from the default.
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

/// The action of a step in the situation `now`.
fn words(policy: &Policy, now: &Situation, step: &Step) -> String {
    let from = policy.idle.as_ref().map_or(0, |balance| balance.from);
    let name = |queue: usize, group: usize| queue_in_words(policy, (queue, group));
    let no_task = |queue, group| no_task(now.waiting(queue, group).next().is_none());
    match *step {
        Step::Took { queue, group } => {
            format!("looks into {}: {}", name(queue, group), no_task(queue, group))
        }
        Step::Read { group, passed } => {
            let answer = if passed { "yes" } else { "no" };
            format!("reads {}: the filter says {answer}", name(from, group))
        }
        Step::Tried { group, refused: false } => {
            format!("locks {}: {}", name(from, group), no_task(from, group))
        }
        Step::Tried { group, refused: true } => {
            format!("locks {}: the re-check fails", name(from, group))
        }
        Step::Stole { group, task } => format!(
            "takes task {task} from {} without checking whether the task may run here",
            name(from, group)
        ),
        Step::Moved { task, from, into, .. } => {
            let (from, into) = (name(from.0, from.1), name(into.0, into.1));
            format!("moves task {task} from {from} to {into}")
        }
        Step::Woken { event, queue, group, .. } => {
            let how = match event {
                Event::New => "is new",
                Event::Wake => "is woken",
                _ => "leaves its CPU",
            };
            format!("{how} and waits in {}", name(queue, group))
        }
        Step::Sets { .. } => sets(policy, step),
        Step::GivesUp => "goes to sleep".to_owned(),
    }
}

/// The change of a key by a handler.
fn sets(policy: &Policy, step: &Step) -> String {
    let Step::Sets { event, var, before, after, least, given } = *step else {
        return String::new();
    };
    let (key, in_event) = (&policy.task_vars[var], event.name());
    let value = |number| quantity(key.dimension, number);
    let name = &key.name;
    if least {
        let behind = value(before.saturating_sub(after));
        let (before, after) = (value(before), value(after));
        return format!(
            "sets `{name}` of task 0 to {after} in `{in_event}`; the least key of its queue is \
             {before}, which is {behind} more"
        );
    }
    let (before, after) = (value(before), value(after));
    let Given { ran, weight, .. } = given;
    let since = match event {
        Event::Stop => {
            format!(", which ran for {} with weight {weight},", quantity(Dimension::Time, ran))
        }
        _ => String::new(),
    };
    format!("sets `{name}` of task 0{since} in `{in_event}` from {before} to {after}")
}

/// A number for people. A time that would lose digits is given in ns.
fn quantity(dimension: Dimension, number: i64) -> String {
    let Dimension::Time = dimension else { return number.to_string() };
    let span = Span(number.unsigned_abs());
    let sign = if number < 0 { "-" } else { "" };
    match Span::parse(&span.to_string()) == Some(span) {
        true => format!("{sign}{span}"),
        false => format!("{number} ns"),
    }
}

/// The words for a queue that holds no task for the CPU that looks into it.
pub(crate) fn no_task(empty: bool) -> &'static str {
    if empty { "empty" } else { "no task in it may run here" }
}

/// `` `ready` of CPU 1 ``
pub(crate) fn queue_in_words(policy: &Policy, (queue, group): (usize, usize)) -> String {
    let kind = &policy.queues[queue];
    match kind.per {
        Level::Machine => format!("`{}`", kind.name),
        Level::Cpu => format!("`{}` of CPU {group}", kind.name),
        level => format!("`{}` of {} {group}", kind.name, level.name()),
    }
}
