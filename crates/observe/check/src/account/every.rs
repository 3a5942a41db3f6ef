//! Repeated requests: the account of each activation of a task, from a wakeup to the next sleep.

use wastenot_model::{Distribution, Span, TaskId, Time, Window};

use super::watch::{Is, Life};
use super::{Ground, Part, Tally};

/// From a wakeup of a task to its next sleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Activation {
    /// The task.
    pub task: TaskId,
    /// The window of the activation.
    pub window: Window,
}

/// All activations of some tasks.
#[derive(Clone, Debug, Default)]
pub struct Every {
    /// The lengths of the activations.
    pub lengths: Distribution,
    /// The number of activations that the window or a loss cuts off; they do not count.
    pub cut: u64,
    /// The total time of the activations by kind, the longest part first.
    pub parts: Vec<Part>,
    /// An activation of median length, and its parts.
    pub median: Option<(Activation, Vec<Part>)>,
    /// The longest activation.
    pub slowest: Option<Activation>,
}

impl Every {
    pub(super) fn of(ground: &Ground, tasks: &[TaskId], window: Window) -> Every {
        let mut every = Every::default();
        let mut all: Vec<Activation> = Vec::new();
        for &task in tasks {
            let Some(life) = ground.life(task) else { continue };
            for (from, to) in activations(life) {
                let whole = from.filter(|from| *from >= window.from && to <= Some(window.to));
                match (whole, to) {
                    (Some(from), Some(to)) => {
                        all.push(Activation { task, window: Window { from, to } });
                    }
                    _ => every.cut += 1,
                }
            }
        }
        let mut tally = Tally::default();
        for activation in &all {
            every.lengths.add(activation.window.span().0);
            ground.walk(activation.task, activation.window).iter().for_each(|it| tally.add(it));
        }
        every.parts = tally.finish();
        all.sort_by_key(|it| (it.window.span(), it.window.from, it.task));
        let middle = all.get(all.len().saturating_sub(1) / 2);
        every.median = middle.map(|it| (*it, Tally::of(&ground.walk(it.task, it.window))));
        every.slowest = all.last().copied();
        every
    }
}

/// The times from wakeups of a task to its next sleep or exit; an end is `None` if it is unknown.
fn activations(life: &Life) -> Vec<(Option<Time>, Option<Time>)> {
    let mut all = Vec::new();
    let mut from: Option<Option<Time>> = None;
    let mut known = None;
    for segment in &life.segments {
        let Window { from: begins, to: ends } = segment.window;
        if known.is_some_and(|known| known != begins) {
            // The time in between is unknown.
            all.extend(from.take().map(|from| (from, None)));
        }
        known = Some(ends);
        if let Is::Sleeping { waking, .. } = segment.is {
            all.extend(from.take().map(|from| (from, Some(begins))));
            from = Some(Some(waking));
        } else if from.is_none() {
            let born = life.born.map(|(born, _)| born);
            from = Some(born.filter(|born| *born == begins));
        }
    }
    let died = life.died.filter(|died| Some(*died) == known);
    let sleeps = life.segments.last().is_some_and(|it| matches!(it.is, Is::Sleeping { .. }));
    if died.is_some() || !sleeps {
        all.extend(from.map(|from| (from, died)));
    }
    all.retain(|(from, to)| from.zip(*to).is_none_or(|(from, to)| to - from > Span::ZERO));
    all
}
