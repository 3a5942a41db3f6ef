//! What holds under every schedule where only events are known.
//!
//! Tasks that run the same program may take their work from one pile: another schedule may give to
//! one what the other did. Such tasks are a crew, and only what all of them did together is known.
//! Who is alone in its crew did its own work, one thing after the other. Tasks run programs of
//! their own only if that is seen: called alike, of one process, forked and not gone to another
//! program since, or of unknown origin, they are one crew. Threads of the kernel do no other task's
//! work.

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
    /// When the first of them can have begun.
    head: Span,
    /// What awaited ones computed and slept.
    own: Span,
}

impl Crews {
    /// Those of the tasks that acted.
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
            // Who forked it, and so on, up to one whose beginning is known.
            let mut path = vec![task];
            while let Some(&last) = path.last()
                && heads[last].is_none()
                && let Some((parent, _)) = lives[last].forked_by
                && path.len() <= lives.len()
            {
                path.push(parent);
            }
            while let Some(it) = path.pop() {
                // Who shares its work may have forked earlier.
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

    /// The longest that any of them takes.
    pub(super) fn longest(&self) -> Span {
        let span = |crew: &Crew| crew.head + Span(crew.own.0.div_ceil(crew.tasks));
        self.0.iter().map(span).max().unwrap_or(Span::ZERO)
    }
}

/// The crew of each task, by the first of it.
fn divide(history: &History, lives: &[Life], kernels: &[bool]) -> Vec<usize> {
    let mut first: Vec<usize> = (0..lives.len()).collect();
    let mut names: HashMap<String, usize> = HashMap::new();
    let mut processes: HashMap<i32, usize> = HashMap::new();
    // Those of whom nothing tells where they came from may have come from one task.
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
            continue; // it runs a program of its own
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

/// A name without the number of one of many: workers are called alike.
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
