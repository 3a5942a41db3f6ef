//! Demand: what jobs that are released and due within a window need.

use wastenot_model::sporadic::Sporadic;

use crate::number::{Budget, Halt};

/// What jobs of `task` need that are released and due within `window`, in us: dbf(t) of Baruah,
/// Mok, Rosier, "Preemptively scheduling hard-real-time sporadic tasks on one processor", RTSS 1990.
pub(crate) fn demand(task: &Sporadic, window: i128) -> i128 {
    let beyond = window - i128::from(task.deadline_us);
    if beyond < 0 {
        return 0;
    }
    (beyond / i128::from(task.period_us) + 1) * i128::from(task.wcet_us)
}

/// When jobs of `task` are due, from `start` on, if the first was released at 0.
pub(crate) fn due_from(task: &Sporadic, start: i128) -> impl Iterator<Item = i128> {
    let (deadline, period) = (i128::from(task.deadline_us), i128::from(task.period_us));
    let first = (start - deadline + period - 1).div_euclid(period).max(0);
    (first..).map(move |job| deadline + job * period)
}

/// The last instant before `end` at which a job of `task` is due.
fn due_before(task: &Sporadic, end: i128) -> Option<i128> {
    let (deadline, period) = (i128::from(task.deadline_us), i128::from(task.period_us));
    (end > deadline).then(|| (end - 1 - deadline) / period * period + deadline)
}

/// Whether a CPU of speed `speed.0 / speed.1` meets the demand of every window up to `longest`:
/// Zhang, Burns, "Schedulability analysis for real-time systems with EDF scheduling", IEEE TC 58
/// (2009), which goes down from the longest in leaps.
pub(crate) fn is_met(
    tasks: &[Sporadic],
    speed: (i128, i128),
    longest: i128,
    budget: &mut Budget,
) -> Result<bool, Halt> {
    let last = |end: i128| tasks.iter().filter_map(|task| due_before(task, end)).max();
    let mut window = last(longest + 1);
    while let Some(at) = window {
        budget.spend(tasks.len())?;
        let demand: i128 = tasks.iter().map(|task| demand(task, at)).sum();
        let (needs, has) = (demand * speed.1, at * speed.0);
        if needs > has {
            return Ok(false);
        }
        // Between what this demand takes and here no demand is greater.
        let takes = (needs + speed.0 - 1) / speed.0;
        window = last(takes.min(at));
    }
    Ok(true)
}
