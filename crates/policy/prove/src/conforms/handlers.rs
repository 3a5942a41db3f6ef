//! Handlers that place a task: each does what some path of its text does.

use std::collections::HashMap;

use wastenot_rota::ir::{Bool, Event, Level, Policy, Stmt, Visitor, visit_block};
use wastenot_rota::step_log::{Step, What};

use super::model::Model;
use super::{Conformance, Rule};

/// What of a handler the log tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    /// It searched for an idle CPU within this level, and found one or not.
    Find(i64, bool),
    /// It put the task into a queue; where is judged elsewhere.
    Put,
    /// It sent the task to a CPU.
    Run,
}

/// A handler that has begun.
struct Begun {
    task: Option<i32>,
    event: u64,
    acts: Vec<Act>,
}

/// Checks what each handler does, and how far the search goes that follows a put.
pub(super) fn check(model: &Model<'_>, steps: &[Step], found: &mut Conformance) {
    let paths: Vec<Vec<Vec<Act>>> = EVENTS.iter().map(|event| paths(model, *event)).collect();
    let wakes: Vec<Vec<i64>> = EVENTS.iter().map(|event| wakes(model, *event)).collect();
    let mut begun: HashMap<u16, Begun> = HashMap::new();
    let mut events: HashMap<i32, u64> = HashMap::new();
    let mut inserted: HashMap<u16, i32> = HashMap::new();
    for (at, step) in steps.iter().enumerate() {
        let after = inserted.remove(&step.cpu);
        match (step.what, step.task) {
            (What::Place, Some(task)) => {
                let (event, acts) = (step.queue, Vec::new());
                events.insert(task, event);
                begun.insert(step.cpu, Begun { task: step.task, event, acts });
            }
            (What::Find | What::Put | What::Run, _) => {
                let Some(it) = begun.get_mut(&step.cpu).filter(|it| it.task == step.task) else {
                    if step.what != What::Find {
                        let task = step.task.unwrap_or_default();
                        let why = format!("no handler was called that could place task {task}");
                        found.judge(Rule::Handler, at, Some(why));
                    }
                    continue;
                };
                it.acts.push(match step.what {
                    What::Find => Act::Find(step.value, step.to.is_some()),
                    What::Put => Act::Put,
                    _ => Act::Run,
                });
                if step.what == What::Find {
                    continue;
                }
                let wrong = begun.remove(&step.cpu).and_then(|it| path(&paths, &it));
                found.judge(Rule::Handler, at, wrong);
            }
            (What::In | What::Early, Some(task)) => {
                inserted.insert(step.cpu, task);
            }
            (What::Claim, Some(task)) => {
                let event = events.get(&task).filter(|_| after == Some(task));
                let levels = event.map(|event| wakes.get(*event as usize).map_or(&[][..], |it| it));
                let wrong = reach(task, step.value, levels.unwrap_or(&[Level::Machine as i64]));
                found.judge(Rule::Handler, at, wrong);
            }
            _ => {}
        }
    }
}

/// The events of [`What::Place`].
const EVENTS: [Event; 4] = [Event::New, Event::Wake, Event::Preempt, Event::Yield];

fn path(paths: &[Vec<Vec<Act>>], begun: &Begun) -> Option<String> {
    let all = paths.get(begun.event as usize)?;
    if all.contains(&begun.acts) {
        return None;
    }
    let event = Step::EVENTS.get(begun.event as usize).copied().unwrap_or("no event");
    let acts: Vec<String> = begun.acts.iter().map(|act| words(*act)).collect();
    Some(format!("no path of the handler of {event} has these actions: {}", acts.join(", ")))
}

fn words(act: Act) -> String {
    let level = |level: i64| Level::ALL.get(level as usize).map_or("?", |it| it.name());
    match act {
        Act::Find(within, true) => format!("finds an idle CPU within {}", level(within)),
        Act::Find(within, false) => format!("finds no idle CPU within {}", level(within)),
        Act::Put => "enqueues the task".into(),
        Act::Run => "runs the task".into(),
    }
}

/// A search for a waiting task goes as far as the text says.
fn reach(task: i32, level: i64, levels: &[i64]) -> Option<String> {
    if levels.contains(&level) {
        return None;
    }
    let name = Level::ALL.get(level as usize).map_or("?", |it| it.name());
    Some(format!(
        "for task {task}, the search for an idle CPU covers the level {name}, but the handler \
         states another level"
    ))
}

/// How far the puts of an event wake.
fn wakes(model: &Model<'_>, event: Event) -> Vec<i64> {
    struct Wakes(Vec<i64>);
    impl Visitor for Wakes {
        fn stmt(&mut self, stmt: &Stmt) {
            if let Stmt::Put(put) = stmt {
                self.0.push(put.wake as i64);
            }
        }
    }
    let mut wakes = Wakes(Vec::new());
    for policy in model.policies() {
        visit_block(&policy.handlers[event as usize], &mut wakes);
    }
    wakes.0
}

/// What the handlers of an event can do, in any partition.
fn paths(model: &Model<'_>, event: Event) -> Vec<Vec<Act>> {
    let of = |policy: &Policy| {
        let all = extended(vec![Path::default()], &policy.handlers[event as usize]);
        all.into_iter().map(|path| path.acts)
    };
    model.policies().flat_map(of).collect()
}

/// A path, and which of its searches found a CPU.
#[derive(Clone, Default)]
struct Path {
    acts: Vec<Act>,
    found: HashMap<usize, bool>,
}

/// Paths, each continued by each path of a block.
fn extended(paths: Vec<Path>, block: &[Stmt]) -> Vec<Path> {
    block.iter().fold(paths, |paths, stmt| match stmt {
        Stmt::Claim { slot, within, .. } => {
            let level = within.unwrap_or(Level::Machine) as i64;
            let both = paths.into_iter().flat_map(|path| {
                [true, false].map(|found| {
                    let mut path = path.clone();
                    path.acts.push(Act::Find(level, found));
                    path.found.insert(*slot, found);
                    path
                })
            });
            both.collect()
        }
        Stmt::Put(_) => with(paths, Act::Put),
        Stmt::Run { .. } => with(paths, Act::Run),
        Stmt::If { condition, then, otherwise } => {
            let mut all = Vec::new();
            for path in paths {
                let is = truth(&path, condition);
                if is != Some(false) {
                    all.extend(extended(vec![path.clone()], then));
                }
                if is != Some(true) {
                    all.extend(extended(vec![path], otherwise));
                }
            }
            all
        }
        _ => paths,
    })
}

fn with(mut paths: Vec<Path>, act: Act) -> Vec<Path> {
    paths.iter_mut().for_each(|path| path.acts.push(act));
    paths
}

/// Whether a condition holds on a path; `None`: the log does not tell.
fn truth(path: &Path, condition: &Bool) -> Option<bool> {
    match condition {
        Bool::Const(truth) => Some(*truth),
        Bool::Found(slot) => path.found.get(slot).copied(),
        Bool::Not(inner) => truth(path, inner).map(|it| !it),
        Bool::And(a, b) => match (truth(path, a), truth(path, b)) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        },
        Bool::Or(a, b) => match (truth(path, a), truth(path, b)) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        },
        _ => None,
    }
}
