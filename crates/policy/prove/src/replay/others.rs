//! Forced steps that are not an attempt: a wakeup, a candidate, a circle of moves, a key.

use wastenot_model::{CpuId, CpuSet, TaskId};
use wastenot_rota::interpret::{Found, Placed};
use wastenot_rota::ir::{ClaimKind, Event};

use super::Otherwise;
use super::attempt::memory;
use super::lead::RAN;
use super::stage::Stage;
use crate::explore::{Place, Step, broken};

/// A task is put, and no CPU is woken for it though a CPU sleeps that would take it. The handler
/// finds no idle CPU, but some CPUs are idle when the task is in its queue. Each CPU that is awake
/// then goes on, until no CPU is.
pub(super) fn not_woken(stage: &mut Stage<'_>) -> Result<(), Otherwise> {
    let told = stage.told;
    let Some((Step::Woken { task, event, prev, queue, group }, _)) = told.steps.first().cloned()
    else {
        return Err(unlike("a put"));
    };
    let (put, sleeping) = (TaskId::nth(task), stage.forced.sleeping());
    let mut awake: Vec<CpuId> = Vec::new();
    if matches!(event, Event::Preempt | Event::Yield) {
        if stage.forced.stops(prev, event, RAN) != Some(put) {
            return Err(format!("task {task} does not run on CPU {prev}").into());
        }
        awake.push(prev);
    }
    let placed = stage.forced.places((event, put), prev, (CpuSet::new(), sleeping));
    if placed != Placed::Waits((queue, group), None) {
        return Err(stage.placed(task, placed).into());
    }
    stage.as_recorded();
    let mut words = Vec::new();
    awake.splice(0..0, stage.forced.kicks().into_iter().map(|(cpu, _)| cpu));
    while !awake.is_empty() {
        let cpu = awake.remove(0);
        if !stage.forced.is_idle(cpu) {
            continue;
        }
        words.push(match stage.forced.dispatches(cpu) {
            Some(task) => format!("CPU {cpu} looks for a task and takes task {}", task.ordinal()),
            None => format!("CPU {cpu} looks for a task and finds none"),
        });
        awake.extend(stage.forced.kicks().into_iter().map(|(cpu, _)| cpu));
    }
    let sleeps = |cpu: &CpuId| stage.forced.is_idle(*cpu) && stage.forced.may(put, *cpu);
    let takes = |cpu: &CpuId| stage.forced.clone().dispatches(*cpu).is_some();
    let waits = stage.forced.queue(put).is_some();
    if waits && told.cpus().iter().any(|cpu| sleeps(cpu) && takes(cpu)) {
        return Ok(());
    }
    words.push(match waits {
        true => format!("no sleeping CPU would take task {task}"),
        false => format!("task {task} no longer waits"),
    });
    Err(Otherwise(words))
}

/// A task waits, and each CPU that may run it looks for a task and does not take it, though no task
/// is before it in its queue.
pub(super) fn not_first(stage: &mut Stage<'_>) -> Result<(), Otherwise> {
    let told = stage.told;
    let waiting = told.situation.tasks.iter().enumerate().find_map(|(n, task)| match task.place {
        Place::Waits { queue, group } => Some((n, task, (queue, group))),
        _ => None,
    });
    let Some((n, task, at)) = waiting else { return Err(unlike("a task that waits")) };
    told.steps.iter().for_each(|_| stage.as_recorded());
    for cpu in told.cpus().into_iter().filter(|&cpu| task.allowed(cpu)) {
        if !stage.forced.is_idle(cpu) {
            return Err(format!("CPU {cpu} runs a task already").into());
        }
        if stage.forced.dispatches(cpu) == Some(TaskId::nth(n)) {
            let queue = stage.queue(at);
            return Err(
                format!("CPU {cpu} looks for a task and takes task {n} from {queue}").into()
            );
        }
    }
    Ok(())
}

/// A candidate passes the filter, and the CPU takes a task from it that may not run there.
pub(super) fn stolen(stage: &mut Stage<'_>) -> Result<(), Otherwise> {
    match candidate(stage)? {
        (_, Found::Task(task)) if !stage.forced.may(task, stage.told.cpu) => {
            stage.as_recorded();
            Ok(())
        }
        (group, found) => Err(stage.tried(stage.told.cpu, group, found).into()),
    }
}

/// Reads the candidate of the first step, which has to pass the filter, and tries it.
fn candidate(stage: &mut Stage<'_>) -> Result<(usize, Found), Otherwise> {
    let told = stage.told;
    let cpu = told.cpu;
    let Some((Step::Read { group, .. }, queue)) = told.steps.first().cloned() else {
        return Err(unlike("a read"));
    };
    let balance = told.policy.idle.as_ref().filter(|balance| Some(balance.from) == queue);
    let levels = balance.map_or(0, |balance| balance.levels.len());
    let looks = (0..levels).any(|n| stage.forced.candidates(cpu, n).contains(&group));
    if !looks {
        return Err(format!("CPU {cpu} does not look into this queue").into());
    }
    let memory = memory(stage);
    let read = stage.forced.reads(cpu, group, &memory);
    if !read.passed {
        return Err(stage.says(cpu, group, false).into());
    }
    stage.as_recorded();
    Ok((group, stage.forced.tries(cpu, group, read.seen)))
}

/// Tasks are moved, and at the end each waits in its first queue again.
pub(super) fn circle(stage: &mut Stage<'_>) -> Result<(), Otherwise> {
    let told = stage.told;
    for (step, _) in &told.steps {
        let Step::Moved { by, task, from, into } = *step else { return Err(unlike("a move")) };
        stage.pulls((by, task), from, into)?;
        stage.as_recorded();
    }
    let afresh = stage.afresh();
    let tasks = 0..told.situation.tasks.len();
    let moved =
        |task: &usize| stage.forced.queue(TaskId::nth(*task)) != afresh.queue(TaskId::nth(*task));
    match tasks.into_iter().find(moved) {
        None if !told.steps.is_empty() => Ok(()),
        None => Err(unlike("a move")),
        Some(task) => {
            Err(format!("task {task} waits in a different queue than at the start").into())
        }
    }
}

/// A handler sets a key to a value that breaks the claim.
pub(super) fn key(stage: &mut Stage<'_>) -> Result<(), Otherwise> {
    let told = stage.told;
    let Some((Step::Sets { event, given, .. }, _)) = told.steps.first().cloned() else {
        return Err(unlike("a key that is set"));
    };
    let mut claims = told.policy.claims.iter().map(|claim| &claim.kind);
    let claim = match claims.find(|claim| claim.name() == told.claim) {
        Some(claim) => claim,
        None if told.claim == ClaimKind::VtMonotone.name() => &ClaimKind::VtMonotone,
        // Only the claim has the bound.
        None => return Err(format!("the policy does not claim `{}`", told.claim).into()),
    };
    match broken(&told.world(), claim, event, given) {
        Some(_) => {
            stage.as_recorded();
            Ok(())
        }
        None => Err(format!(
            "in `{}` the handler sets the key to a value that the claim allows",
            event.name()
        )
        .into()),
    }
}

/// The recorded steps lack one that this way of breaking a claim needs.
fn unlike(what: &str) -> Otherwise {
    format!("the counterexample lacks {what}").into()
}
