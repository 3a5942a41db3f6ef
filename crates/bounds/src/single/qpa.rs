//! QPA, exact for preemptive EDF: Zhang, Burns, "Schedulability analysis for real-time systems with
//! EDF scheduling", IEEE Transactions on Computers 58 (2009).

use wastenot_model::sporadic::{Sporadic, TaskSet};

use super::busy_period;
use crate::Answer;
use crate::demand::is_met;
use crate::number::{Budget, Exact, Halt, Interval, Number, decide};

/// Whether EDF on one CPU meets all deadlines: no if and only if it may miss one.
pub fn qpa(tasks: &TaskSet, budget: &mut Budget) -> Answer {
    Answer::of(meets(tasks, budget))
}

pub(crate) fn meets(tasks: &[Sporadic], budget: &mut Budget) -> Result<bool, Halt> {
    match longest(tasks, budget)? {
        Some(longest) => is_met(tasks, (1, 1), longest, budget),
        None => Ok(false),
    }
}

/// The longest window that has to be looked at, unless tasks use more than a CPU: the longest time
/// that the CPU is busy, or where the demand is bounded by the utilisation, whatever is shorter.
fn longest(tasks: &[Sporadic], budget: &mut Budget) -> Result<Option<i128>, Halt> {
    let quick = |_: &mut Budget| bounded::<Interval>(tasks);
    let bounded = match decide(budget, quick, |_| bounded::<Exact>(tasks))? {
        Bounded::Over => return Ok(None),
        Bounded::At(window) => Some(window),
        Bounded::Never => None,
    };
    let busy = busy_period(tasks, bounded, budget)?;
    Ok(Some(bounded.map_or(busy, |bounded| bounded.min(busy))))
}

/// Where the demand is bounded by the utilisation.
enum Bounded {
    /// Tasks use more than a CPU.
    Over,
    /// From there on.
    At(i128),
    /// Tasks use all of it.
    Never,
}

fn bounded<N: Number>(tasks: &[Sporadic]) -> Result<Bounded, Halt> {
    let early = |task: &Sporadic| {
        let rest = i128::from(task.period_us) - i128::from(task.deadline_us);
        N::whole(rest.max(0)) * N::ratio(task.wcet_us.into(), task.period_us.into())
    };
    let used =
        N::sum(tasks.iter().map(|task| N::ratio(task.wcet_us.into(), task.period_us.into())));
    match used.compare(&N::whole(1))? {
        std::cmp::Ordering::Greater => Ok(Bounded::Over),
        std::cmp::Ordering::Equal => Ok(Bounded::Never),
        std::cmp::Ordering::Less => {
            let all = N::sum(tasks.iter().map(early));
            (all / (N::whole(1) - used)).floor().map(Bounded::At)
        }
    }
}
