//! QPA, exact for preemptive EDF: Zhang, Burns, "Schedulability analysis for real-time systems with
//! EDF scheduling", IEEE Transactions on Computers 58 (2009).

use wastenot_model::sporadic::{Sporadic, TaskSet};

use super::busy_period;
use crate::Answer;
use crate::demand::{Windows, unmet, windows};
use crate::number::{Budget, Exact, Halt, Interval, decide};

/// Whether EDF on one CPU meets all deadlines: no if and only if it may miss one.
pub fn qpa(tasks: &TaskSet, budget: &mut Budget) -> Answer {
    Answer::of(meets(tasks, budget))
}

pub(crate) fn meets(tasks: &[Sporadic], budget: &mut Budget) -> Result<bool, Halt> {
    budget.spend(tasks.len())?;
    let quick = |budget: &mut Budget| windows::<Interval>(tasks, (1, 1), budget);
    let exact = |budget: &mut Budget| windows::<Exact>(tasks, (1, 1), budget);
    let longest = match decide(budget, quick, exact)? {
        Windows::Over => return Ok(false),
        Windows::None => return Ok(true),
        // No miss is later than the longest time that the CPU is busy.
        Windows::Upto(bounded) => busy_period(tasks, Some(bounded), budget)?.min(bounded),
        Windows::All => busy_period(tasks, None, budget)?,
    };
    Ok(unmet(tasks, (1, 1), longest, budget)?.is_none())
}
