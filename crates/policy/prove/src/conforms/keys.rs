//! Keys: a task is put with a key that its handlers can give it. What the log does not tell may be
//! any number: weights, the least keys of queues, variables of CPUs.

use std::collections::HashMap;

use wastenot_model::CpuId;
use wastenot_rota::ir::{Event, Policy, Stmt, Visitor, visit_block};
use wastenot_rota::step_log::{QueueNumber, Step, What};

use super::model::{Model, Part};
use super::numbers::Known;
use super::stays::sooner;
use super::{Conformance, Rule};
use crate::explore::range::Range;

/// A task that a policy has seen.
#[derive(Default)]
struct Task {
    /// What its variables can be; `None`: nothing is known.
    vars: Option<Vec<Range>>,
    /// The event that placed it last.
    event: u64,
    /// Where it waits.
    queue: Option<QueueNumber>,
    /// When it began to run, at the earliest and at the latest.
    since: Option<Range>,
    /// Until then another CPU may write its key, since it moved the task.
    written: u64,
}

/// Checks the key of each task that is put. With several partitions the log does not tell which
/// policy handles a task before it is put: then keys are not judged.
pub(super) fn check(model: &Model<'_>, steps: &[Step], found: &mut Conformance) {
    let Some(part) = model.of_cpu(0).filter(|_| model.parts() == 1) else { return };
    let policy = part.policy;
    if policy.queues.iter().all(|queue| queue.key.is_none()) || sets(policy, Event::Tick) {
        return;
    }
    let late = sooner(steps);
    let mut tasks: HashMap<i32, Task> = HashMap::new();
    let mut last: HashMap<u16, u64> = HashMap::new();
    for (at, step) in steps.iter().enumerate() {
        // An operation reads the clock once, after what its CPU did before.
        let before = last.insert(step.cpu, step.time_ns).unwrap_or(0);
        let now = Range { least: before as i64, most: step.time_ns as i64 };
        let Some(tid) = step.task else { continue };
        let task = tasks.entry(tid).or_default();
        for moved in late.get(&at).into_iter().flatten() {
            task.written = task.written.max(steps[*moved].end);
        }
        if step.begin <= task.written {
            task.vars = None;
        }
        match step.what {
            What::Place => {
                (task.event, task.queue) = (step.queue, None);
                if step.queue == Event::New as u64 && step.begin > task.written {
                    let begins = policy.task_vars.iter().map(|var| Range::point(var.value));
                    task.vars = Some(begins.collect());
                }
            }
            What::Put => put(part, at, step, task, found),
            What::Run => {
                let block = Event::ALL.get(task.event as usize);
                task.does(policy, block.copied(), Range::COUNT, Placed::Run);
            }
            What::Move => {
                task.queue = Some(QueueNumber::of(step.queue));
                task.has_key(part, step);
            }
            What::Start => task.starts(part, step, now),
            What::Stop => {
                let ran = task.since.take().map_or(Range::COUNT, |since| Range {
                    least: (now.least - since.most).max(0),
                    most: (now.most - since.least).max(0),
                });
                task.does(policy, Some(Event::Stop), ran, Placed::No);
            }
            What::Leave if sets(policy, Event::Block) || sets(policy, Event::Exit) => {
                task.vars = None;
            }
            What::Left => *task = Task { written: task.written, ..Task::default() },
            _ => {}
        }
    }
}

/// A task is put: some path of its handler gives it that key.
fn put(part: &Part<'_>, at: usize, step: &Step, task: &mut Task, found: &mut Conformance) {
    let queue = QueueNumber::of(step.queue);
    task.queue = Some(queue);
    let key = part.kind(queue).and_then(|kind| part.policy.queues[kind].key);
    let event = Event::ALL.get(task.event as usize).copied();
    let Some(key) = key else {
        return task.does(part.policy, event, Range::COUNT, Placed::Put(None));
    };
    let Some(before) = task.vars.as_ref().map(|vars| vars[key]) else {
        found.count(Rule::Key).open += 1;
        return task.has_key(part, step);
    };
    task.does(part.policy, event, Range::COUNT, Placed::Put(Some((key, step.value))));
    let wrong = task.vars.is_none().then(|| {
        let (name, key) = (step.task.unwrap_or(0), step.value);
        let had = match before {
            Range { least, most } if least == most => format!("the key was {least}"),
            Range { least, most: i64::MAX } => format!("the key was {least} or more"),
            Range { least, most } => format!("the key was {least} to {most}"),
        };
        format!(
            "task {name} is enqueued with the key {key}, but no path of its handler gives this \
             key; before the handler ran, {had}"
        )
    });
    found.judge(Rule::Key, at, wrong);
    task.has_key(part, step);
}

/// How a handler places its task.
#[derive(Clone, Copy)]
enum Placed {
    No,
    Run,
    /// In a queue; if it is ordered: by which variable, and its value.
    Put(Option<(usize, i64)>),
}

impl Task {
    /// A handler runs. If none of its paths places the task in this way, nothing is known any more.
    fn does(&mut self, policy: &Policy, event: Option<Event>, ran: Range, placed: Placed) {
        let block = event.map_or(&[][..], |event| &policy.handlers[event as usize][..]);
        let Some(vars) = self.vars.take() else { return };
        let all = paths(policy, vec![vars], block, ran, placed);
        self.vars = all.into_iter().reduce(|a, b| a.into_iter().zip(b).map(either).collect());
    }

    /// Its key is in the log.
    fn has_key(&mut self, part: &Part<'_>, step: &Step) {
        let vars = &part.policy.task_vars;
        let kind = part.kind(QueueNumber::of(step.queue));
        let Some(key) = kind.and_then(|kind| part.policy.queues[kind].key) else { return };
        if step.begin <= self.written {
            return;
        }
        let known = self.vars.get_or_insert_with(|| vec![Range::ANY; vars.len()]);
        known[key] = Range::point(step.value);
    }

    /// It begins to run: if its CPU took it from another group, its key is carried over.
    fn starts(&mut self, part: &Part<'_>, step: &Step, now: Range) {
        let cpu = step.to.unwrap_or(step.cpu);
        self.since = Some(now);
        let rebase = part.policy.idle.as_ref().and_then(|idle| idle.rebase);
        if let (Some(queue), Some(var), Some(vars)) = (self.queue.take(), rebase, &mut self.vars)
            && !part.is_own(queue, CpuId(cpu))
        {
            vars[var] = Range::ANY;
        }
        self.does(part.policy, Some(Event::Start), Range::COUNT, Placed::No);
    }
}

fn either((a, b): (Range, Range)) -> Range {
    Range { least: a.least.min(b.least), most: a.most.max(b.most) }
}

/// What variables can be after each path of a block that places the task in this way.
fn paths(
    policy: &Policy,
    all: Vec<Vec<Range>>,
    block: &[Stmt],
    ran: Range,
    placed: Placed,
) -> Vec<Vec<Range>> {
    block.iter().fold(all, |mut all, stmt| match stmt {
        Stmt::SetTask(var, value) => {
            for vars in &mut all {
                vars[*var] = Known { policy, vars, ran }.number(value);
            }
            all
        }
        Stmt::Put(_) => {
            let Placed::Put(key) = placed else { return Vec::new() };
            let Some((var, value)) = key else { return all };
            all.retain(|vars| vars[var].least <= value && value <= vars[var].most);
            all.iter_mut().for_each(|vars| vars[var] = Range::point(value));
            all
        }
        Stmt::Run { .. } if !matches!(placed, Placed::Run) => Vec::new(),
        Stmt::If { then, otherwise, .. } => {
            let mut both = paths(policy, all.clone(), then, ran, placed);
            both.extend(paths(policy, all, otherwise, ran, placed));
            both
        }
        _ => all,
    })
}

/// Whether a handler sets a variable of its task.
fn sets(policy: &Policy, event: Event) -> bool {
    struct Sets(bool);
    impl Visitor for Sets {
        fn stmt(&mut self, stmt: &Stmt) {
            self.0 |= matches!(stmt, Stmt::SetTask(..));
        }
    }
    let mut sets = Sets(false);
    visit_block(&policy.handlers[event as usize], &mut sets);
    sets.0
}
