//! Static checks of a workload: programs that never end, locks that are never released, barriers
//! that never open.

use std::collections::BTreeMap;

use wastenot_model::Workload;
use wastenot_model::workload::{Program, Step, TemplateId};

use super::dry_run;
pub(crate) use super::dry_run::Budget;
use super::lines::Lines;
use super::node::{Wrong, wrong};

/// The maximum number of steps in a loop that take no time.
const TIMELESS: u64 = 100_000;
/// The maximum number of tasks that a workload may create in its whole run: each costs memory until
/// the end.
pub(crate) const TASKS: u64 = 100_000;
/// An unlimited number of times.
const FOREVER: u64 = u64::MAX;

/// Whether the programs of a workload from a History can run: they use what exists, and they end.
pub fn can_run(workload: &Workload) -> bool {
    let mut lines = Lines::default();
    lines.fill(workload.templates.len(), 0);
    verify(workload, &lines, &mut Budget::default()).is_ok()
}

/// Refuses what cannot run.
pub(crate) fn verify(workload: &Workload, lines: &Lines, budget: &mut Budget) -> Result<(), Wrong> {
    somebody_is_there(workload, lines)?;
    let tasks = count(workload, lines)?;
    for (template, of) in workload.templates.iter().enumerate() {
        let at = |step| lines.of(template, step);
        loops_take_time(workload, &of.program, &at)?;
        locks_are_given_back(workload, &of.program, &at)?;
    }
    barriers_open(workload, lines, &tasks)?;
    somebody_answers(workload, lines, &tasks)?;
    dry_run::run(workload, lines, budget)
}

/// Refuses a workload without tasks: its run would end before it begins.
fn somebody_is_there(workload: &Workload, lines: &Lines) -> Result<(), Wrong> {
    if !workload.launches.is_empty() {
        return Ok(());
    }
    let help = match workload.templates.is_empty() {
        true => "add [[tasks]] with a name and a program",
        false => "create at least one task at the start, not only by `fork`",
    };
    Err(wrong(lines.of(0, 0), "no task starts, so there is nothing to simulate", help))
}

/// Refuses loops that take no time: they would keep the simulation at one instant.
fn loops_take_time(
    workload: &Workload,
    program: &Program,
    at: &impl Fn(usize) -> usize,
) -> Result<(), Wrong> {
    /// An open loop or condition: its position, its rounds, the steps in it, and whether any step
    /// takes time.
    struct Open {
        at: usize,
        times: u64,
        steps: u64,
        takes_time: bool,
    }
    let mut open: Vec<Open> = Vec::new();
    for (n, step) in program.steps().iter().enumerate() {
        match step {
            Step::Loop(times) => {
                let times = times.map_or(FOREVER, u64::from);
                open.push(Open { at: n, times, steps: 0, takes_time: false });
            }
            // The body may be skipped, so its steps do not count for the enclosing loop.
            Step::UnlessLate(_) => open.push(Open { at: n, times: 1, steps: 0, takes_time: false }),
            Step::End { .. } => {
                let Some(inner) = open.pop() else { continue };
                let skips = matches!(program.steps()[inner.at], Step::UnlessLate(_));
                let steps = inner.steps.max(1).saturating_mul(inner.times);
                if !inner.takes_time && !skips && steps > TIMELESS {
                    let help =
                        "add a step that takes time: \"compute 1us\", \"sleep 1ms\", \"get P\"";
                    return Err(wrong(
                        at(inner.at),
                        "the loop takes no time, so it would never end",
                        help,
                    ));
                }
                if let Some(outer) = open.last_mut() {
                    outer.steps = outer.steps.saturating_add(steps);
                    outer.takes_time |= inner.takes_time && !skips;
                }
            }
            step => {
                let Some(inner) = open.last_mut() else { continue };
                inner.steps = inner.steps.saturating_add(1);
                inner.takes_time |= takes_time(workload, step);
            }
        }
    }
    Ok(())
}

/// Whether time passes in a step, or another task must act before it ends.
fn takes_time(workload: &Workload, step: &Step) -> bool {
    match step {
        Step::Compute(length) | Step::Sleep(length) => length.mean().0 > 0,
        Step::Beat(_) | Step::Get(_) | Step::Await(_) | Step::WaitOne | Step::Run(_) => true,
        Step::Barrier(barrier) => workload.barriers[barrier.index()].parties > 1,
        Step::Put(pipe) => workload.pipes[pipe.index()].capacity.is_some(),
        _ => false,
    }
}

fn locks_are_given_back(
    workload: &Workload,
    program: &Program,
    at: &impl Fn(usize) -> usize,
) -> Result<(), Wrong> {
    let name = |lock: usize| &workload.locks[lock].name;
    let mut held: BTreeMap<usize, usize> = BTreeMap::new();
    let mut open = Vec::new();
    for (n, step) in program.steps().iter().enumerate() {
        match step {
            Step::Lock(lock) => {
                let twice = held.insert(lock.index(), n).map(|_| {
                    let what = format!("the lock `{}` is locked twice", name(lock.index()));
                    wrong(at(n), what, "add \"unlock\" between the two steps")
                });
                twice.map_or(Ok(()), Err)?;
            }
            Step::Unlock(lock) => {
                held.remove(&lock.index()).ok_or_else(|| {
                    let lock = name(lock.index());
                    let what =
                        format!("the lock `{lock}` is unlocked, but the task does not hold it");
                    wrong(at(n), what, format!("add \"lock {lock}\" before this step"))
                })?;
            }
            Step::Loop(_) | Step::UnlessLate(_) => open.push(held.clone()),
            Step::End { of } => {
                let before = open.pop().unwrap_or_default();
                if !before.keys().eq(held.keys()) {
                    let what = "the task holds different locks at the end of the block than at its \
                                start";
                    return Err(wrong(at(n), what, format!("compare with step {}", of + 1)));
                }
            }
            _ => {}
        }
    }
    match held.first_key_value() {
        None => Ok(()),
        Some((&lock, &n)) => {
            let what = format!("the lock `{}` is never unlocked", name(lock));
            Err(wrong(at(n), what, format!("add \"unlock {}\"", name(lock))))
        }
    }
}

/// How many tasks of each template the run creates; more than [`TASKS`] in all are refused.
fn count(workload: &Workload, lines: &Lines) -> Result<Vec<u64>, Wrong> {
    let templates = &workload.templates;
    let forks: Vec<BTreeMap<usize, u64>> =
        templates.iter().map(|template| forked_by(&template.program)).collect();
    let mut tasks = vec![0u64; templates.len()];
    for launch in &workload.launches {
        tasks[launch.template.index()] += 1;
    }
    // Parents before children, as long as there is a template whose parents are all counted.
    let mut parents = vec![0; templates.len()];
    forks.iter().flat_map(BTreeMap::keys).for_each(|&child| parents[child] += 1);
    let mut ready: Vec<usize> = (0..templates.len()).filter(|&n| parents[n] == 0).collect();
    let (mut counted, mut all) = (0, workload.launches.len() as u64);
    while let Some(parent) = ready.pop() {
        counted += 1;
        for (&child, &times) in &forks[parent] {
            let more = tasks[parent].saturating_mul(times);
            tasks[child] = tasks[child].saturating_add(more);
            all = all.saturating_add(if more == FOREVER { 0 } else { more });
            if all > TASKS {
                return Err(too_many(workload, lines, parent, child));
            }
            parents[child] -= 1;
            if parents[child] == 0 {
                ready.push(child);
            }
        }
    }
    if counted == templates.len() {
        return Ok(tasks);
    }
    // Each template that was not counted has a parent that was not counted, so going back finds a
    // cycle.
    let mut child = parents.iter().position(|&left| left > 0).unwrap_or_default();
    let mut parent = child;
    for _ in 0..=templates.len() {
        child = parent;
        let forks_it = |n: &usize| parents[*n] > 0 && forks[*n].contains_key(&child);
        parent = (0..templates.len()).find(forks_it).unwrap_or(child);
    }
    let name = &templates[parent].name;
    let what = format!("`{name}` forks itself endlessly, directly or through other tasks");
    let at = fork_of(workload, lines, parent, child);
    Err(wrong(at, what, "let one single task fork the other tasks"))
}

fn too_many(workload: &Workload, lines: &Lines, parent: usize, child: usize) -> Wrong {
    let name = &workload.templates[child].name;
    let what = format!("this fork of `{name}` creates too many tasks");
    let help = format!("fork fewer tasks: a run has at most {TASKS} tasks, including forked tasks");
    wrong(fork_of(workload, lines, parent, child), what, help)
}

/// The step in which `parent` forks `child`.
fn fork_of(workload: &Workload, lines: &Lines, parent: usize, child: usize) -> usize {
    let is = |step: &Step| *step == Step::Fork(TemplateId(child as u32));
    let steps = workload.templates[parent].program.steps();
    lines.of(parent, steps.iter().position(is).unwrap_or_default())
}

fn forked_by(program: &Program) -> BTreeMap<usize, u64> {
    let (mut times, mut open, mut forks) = (1u64, Vec::new(), BTreeMap::new());
    for step in program.steps() {
        match step {
            Step::Loop(count) => {
                open.push(times);
                times = times.saturating_mul(count.map_or(FOREVER, u64::from));
            }
            Step::UnlessLate(_) => open.push(times),
            Step::End { .. } => times = open.pop().unwrap_or(1),
            Step::Fork(TemplateId(child)) => {
                let known = forks.entry(*child as usize).or_insert(0u64);
                *known = known.saturating_add(times);
            }
            _ => {}
        }
    }
    forks
}

/// Checks that the tasks that reach a barrier are its parties, or a multiple of them.
fn barriers_open(workload: &Workload, lines: &Lines, tasks: &[u64]) -> Result<(), Wrong> {
    let mut reach = vec![(0u64, None); workload.barriers.len()];
    for (n, template) in workload.templates.iter().enumerate().filter(|(n, _)| tasks[*n] > 0) {
        let mut seen = vec![];
        for (step, what) in template.program.steps().iter().enumerate() {
            let Step::Barrier(barrier) = what else { continue };
            if seen.contains(&barrier.index()) {
                continue;
            }
            seen.push(barrier.index());
            let (count, first) = &mut reach[barrier.index()];
            *count = count.saturating_add(tasks[n]);
            *first = first.or(Some((n, step)));
        }
    }
    for (barrier, (count, first)) in workload.barriers.iter().zip(reach) {
        let Some((n, step)) = first else { continue };
        if count != FOREVER && !count.is_multiple_of(u64::from(barrier.parties)) {
            let what = format!(
                "the barrier `{}` has {} parties, but {count} tasks reach it",
                barrier.name, barrier.parties
            );
            return Err(wrong(lines.of(n, step), what, format!("write `parties = {count}`")));
        }
    }
    Ok(())
}

/// Checks that some task puts each token and makes each signal that a task waits for.
fn somebody_answers(workload: &Workload, lines: &Lines, tasks: &[u64]) -> Result<(), Wrong> {
    // The first wait for each object, and whether any task ends such a wait.
    let mut pipes: Vec<_> = workload.pipes.iter().map(|pipe| (None, pipe.tokens > 0)).collect();
    let mut conditions = vec![(None, false); workload.conditions.len()];
    for (n, template) in workload.templates.iter().enumerate().filter(|(n, _)| tasks[*n] > 0) {
        for (step, what) in template.program.steps().iter().enumerate() {
            let here = Some((n, step));
            match what {
                Step::Get(p) => pipes[p.index()].0 = pipes[p.index()].0.or(here),
                Step::Put(p) => pipes[p.index()].1 = true,
                Step::Await(c) => conditions[c.index()].0 = conditions[c.index()].0.or(here),
                Step::Signal(c) | Step::Broadcast(c) => conditions[c.index()].1 = true,
                _ => {}
            }
        }
    }
    for (pipe, (waits, answered)) in workload.pipes.iter().zip(pipes) {
        if let Some((template, step)) = waits.filter(|_| !answered) {
            let what = format!("no task puts a token into the pipe `{}`", pipe.name);
            let help = format!("add \"put {}\" to a program", pipe.name);
            return Err(wrong(lines.of(template, step), what, help));
        }
    }
    for (condition, (waits, answered)) in workload.conditions.iter().zip(conditions) {
        if let Some((template, step)) = waits.filter(|_| !answered) {
            let what = format!("no task signals the condition `{}`", condition.name);
            let help = format!("add \"signal {}\" to a program", condition.name);
            return Err(wrong(lines.of(template, step), what, help));
        }
    }
    Ok(())
}
