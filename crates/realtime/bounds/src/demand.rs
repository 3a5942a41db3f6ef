//! Demand: what jobs that are released and due within a window need.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use wastenot_model::sporadic::{Sporadic, TaskSet};

use crate::number::{Budget, Halt, Number, div_rem};

/// What jobs of `task` need that are released and due within `window`, in us: dbf(t) of Baruah,
/// Mok, Rosier, "Preemptively scheduling hard-real-time sporadic tasks on one processor", RTSS 1990.
pub(crate) fn demand(task: &Sporadic, window: i128) -> i128 {
    let beyond = window - i128::from(task.deadline_us);
    if beyond < 0 {
        return 0;
    }
    (div_rem(beyond, task.period_us.into()).0 + 1) * i128::from(task.wcet_us)
}

/// What `task` uses of a CPU in the long run.
pub(crate) fn utilization<N: Number>(task: &Sporadic) -> N {
    N::ratio(task.wcet_us.into(), task.period_us.into())
}

/// C / min(D, T), as a fraction.
pub(crate) fn density(task: &Sporadic) -> (i128, i128) {
    (task.wcet_us.into(), task.deadline_us.min(task.period_us).into())
}

/// Of two fractions of whole numbers.
pub(crate) fn compare(a: (i128, i128), b: (i128, i128)) -> Ordering {
    (a.0 * b.1).cmp(&(b.0 * a.1))
}

/// What tasks use of CPUs in the long run.
pub(crate) fn total<N: Number>(tasks: &[Sporadic], budget: &mut Budget) -> Result<N, Halt> {
    N::sum(tasks.iter().map(utilization), budget)
}

/// When jobs are due from `start` to `last`, each instant once and in order, if all tasks release
/// their first at 0.
pub(crate) fn dues(tasks: &[Sporadic], start: i128, last: i128) -> impl Iterator<Item = i128> {
    let mut next: BinaryHeap<_> =
        tasks.iter().enumerate().map(|(n, task)| Reverse((due_from(task, start), n))).collect();
    std::iter::from_fn(move || {
        let Reverse((due, _)) = *next.peek()?;
        while let Some(mut first) = next.peek_mut().filter(|first| first.0.0 == due) {
            first.0.0 += i128::from(tasks[first.0.1].period_us);
        }
        (due <= last).then_some(due)
    })
}

/// The first instant from `start` on at which a job of `task` is due.
fn due_from(task: &Sporadic, start: i128) -> i128 {
    let (deadline, period) = (i128::from(task.deadline_us), i128::from(task.period_us));
    match start - deadline {
        later @ 1.. => deadline + div_rem(later + period - 1, period).0 * period,
        _ => deadline,
    }
}

/// The last instant before `end` at which a job of any task is due.
pub(crate) fn last_due(tasks: &[Sporadic], end: i128) -> Option<i128> {
    tasks.iter().filter_map(|task| due_before(task, end)).max()
}

/// The last instant before `end` at which a job of `task` is due.
fn due_before(task: &Sporadic, end: i128) -> Option<i128> {
    let (deadline, period) = (i128::from(task.deadline_us), i128::from(task.period_us));
    (end > deadline).then(|| div_rem(end - 1 - deadline, period).0 * period + deadline)
}

/// A window whose demand is more than CPUs of a speed meet together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unmet {
    pub(crate) window: i128,
    pub(crate) demand: i128,
}

/// The longest window up to `longest` of which a CPU of speed `speed.0 / speed.1` does not meet the
/// demand: Zhang, Burns, "Schedulability analysis for real-time systems with EDF scheduling", IEEE
/// TC 58 (2009), which goes down from the longest in leaps.
pub(crate) fn unmet(
    tasks: &[Sporadic],
    speed: (i128, i128),
    longest: i128,
    budget: &mut Budget,
) -> Result<Option<Unmet>, Halt> {
    let mut next = last_due(tasks, longest + 1);
    while let Some(window) = next {
        budget.spend(tasks.len())?;
        let demand: i128 = tasks.iter().map(|task| demand(task, window)).sum();
        let (needs, has) = (demand * speed.1, window * speed.0);
        if needs > has {
            return Ok(Some(Unmet { window, demand }));
        }
        // Between what this demand takes and here no demand is greater.
        let takes = (needs + speed.0 - 1) / speed.0;
        next = last_due(tasks, takes.min(window));
    }
    Ok(None)
}

/// No window is longer that is looked at, in us.
pub(crate) const LONGEST_US: i128 = 1 << 60;

/// Where tasks use just what CPUs give: the longest window that matters. What holds up to a common
/// multiple of periods after the latest deadline goes on for ever. `None` if that is too long.
pub(crate) fn repeats(tasks: &TaskSet) -> Option<i128> {
    let all = tasks.hyperperiod_us().map(i128::from).filter(|&all| all < LONGEST_US)?;
    let latest = tasks.iter().map(|task| task.deadline_us).max()?;
    Some(all + i128::from(latest))
}

/// Which windows matter to CPUs of a speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Windows {
    /// Those up to this.
    Upto(i128),
    /// None: tasks use less in the long run, and no deadline is before a period's end.
    None,
    /// Tasks use more than that speed in the long run.
    Over,
    /// They use just that, so that demand is bounded nowhere.
    All,
}

/// Demand is at most U t + sum u (T - D) over tasks whose deadline is before their period's end.
pub(crate) fn windows<N: Number>(
    tasks: &[Sporadic],
    speed: (i128, i128),
    budget: &mut Budget,
) -> Result<Windows, Halt> {
    let early = |task: &Sporadic| task.period_us.saturating_sub(task.deadline_us);
    let room = N::ratio(speed.0, speed.1) - total(tasks, budget)?;
    match room.compare(&N::whole(0))? {
        Ordering::Less => Ok(Windows::Over),
        _ if tasks.iter().all(|task| early(task) == 0) => Ok(Windows::None),
        Ordering::Equal => Ok(Windows::All),
        Ordering::Greater => {
            let rest = |task: &Sporadic| N::whole(early(task).into()) * utilization(task);
            (N::sum(tasks.iter().map(rest), budget)? / room).floor().map(Windows::Upto)
        }
    }
}
