//! A bound that holds under every schedule, for Histories that contain only events.
//!
//! Tasks that run the same program may take their work from one pile: under another schedule, one
//! task may do what another one did. Such tasks are a crew, and only the crew's total work is
//! known. A task that is alone in its crew did its own work, one thing after the other. Tasks count
//! as running different programs only if that was observed. Tasks with the same name and process,
//! tasks that were forked and did not exec another program since, and tasks of unknown origin are
//! one crew. Kernel threads do not do the work of other tasks.

use std::collections::HashMap;

use wastenot_model::workload::Step;
use wastenot_model::{History, Span, TaskId};

use super::super::life::Life;

/// The crews of a History.
#[derive(Clone, Debug, Default)]
pub(crate) struct Crews(Vec<Crew>);

/// Tasks that may share their work.
#[derive(Clone, Debug)]
struct Crew {
    /// How many.
    tasks: u64,
    /// The earliest time at which the first of them can have begun.
    head: Span,
    /// CPU time and sleep of the awaited ones.
    own: Span,
}

impl Crews {
    /// The crews of the tasks that acted.
    pub(crate) fn of(
        history: &History,
        lives: &[Life],
        kernels: &[bool],
        awaited: &[bool],
    ) -> Crews {
        let crew_of = divide(history, lives, kernels);
        let mut sizes = vec![0_u64; lives.len()];
        let acted = |it: &usize| lives[*it].birth.is_some();
        (0..lives.len()).filter(acted).for_each(|it| sizes[crew_of[it]] += 1);
        let mut heads: Vec<Option<Span>> = vec![None; lives.len()];
        for task in (0..lives.len()).filter(acted) {
            // The task's parent, grandparent and so on, up to one whose beginning is known.
            let mut path = vec![task];
            while let Some(&last) = path.last()
                && heads[last].is_none()
                && let Some((parent, _)) = lives[last].forked_by
                && path.len() <= lives.len()
            {
                path.push(parent);
            }
            while let Some(it) = path.pop() {
                // A task that shares its work may have forked earlier.
                let parent = lives[it].forked_by.filter(|(it, _)| sizes[crew_of[*it]] == 1);
                let after = |(parent, own): (usize, Span)| Some(heads[parent]? + own);
                heads[it] = heads[it].or(Some(parent.and_then(after).unwrap_or(Span::ZERO)));
            }
        }
        let mut crews: HashMap<usize, Crew> = HashMap::new();
        for task in (0..lives.len()).filter(acted) {
            let head = heads[task].unwrap_or(Span::ZERO);
            let tasks = sizes[crew_of[task]];
            let new = Crew { tasks, head, own: Span::ZERO };
            let crew = crews.entry(crew_of[task]).or_insert(new);
            crew.head = crew.head.min(head);
            if awaited[task] {
                crew.own += lives[task].own();
            }
        }
        Crews(crews.into_values().filter(|crew| crew.own > Span::ZERO).collect())
    }

    /// The longest time that any crew takes.
    pub(super) fn longest(&self) -> Span {
        let span = |crew: &Crew| crew.head + Span(crew.own.0.div_ceil(crew.tasks));
        self.0.iter().map(span).max().unwrap_or(Span::ZERO)
    }
}

/// The crew of each task, named by its first task.
fn divide(history: &History, lives: &[Life], kernels: &[bool]) -> Vec<usize> {
    let mut first: Vec<usize> = (0..lives.len()).collect();
    let mut names: HashMap<String, usize> = HashMap::new();
    let mut processes: HashMap<i32, usize> = HashMap::new();
    // Tasks of unknown origin may all descend from one task.
    let mut strangers = None;
    for (it, life) in lives.iter().enumerate().filter(|(it, _)| !kernels[*it]) {
        let id = TaskId::nth(it);
        let name = history.task_name(id);
        let with = *names.entry(stem(&name).to_owned()).or_insert(it);
        join(&mut first, it, with);
        if let Some(pid) = history.task(id).and_then(|task| task.pid) {
            let with = *processes.entry(pid).or_insert(it);
            join(&mut first, it, with);
        }
        if life.birth.is_none() || life.steps.contains(&Step::Exec) {
            continue; // the task runs a program of its own
        }
        match life.forked_by {
            Some((parent, _)) => join(&mut first, it, parent),
            None => {
                let with = *strangers.get_or_insert(it);
                join(&mut first, it, with);
            }
        }
    }
    (0..first.len()).map(|it| root(&mut first, it)).collect()
}

/// A task's name without its number, since workers differ only in their numbers.
fn stem(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit() || "-_/:#.".contains(c))
}

fn root(first: &mut [usize], it: usize) -> usize {
    let mut at = it;
    while first[at] != at {
        first[at] = first[first[at]];
        at = first[at];
    }
    at
}

fn join(first: &mut [usize], a: usize, b: usize) {
    let (a, b) = (root(first, a), root(first, b));
    first[a.max(b)] = a.min(b);
}
