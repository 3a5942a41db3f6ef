//! FF-DBF: Baruah, Bonifaci, Marchetti-Spaccamela, Stiller, "Improved multiprocessor global
//! schedulability analysis", Real-Time Systems 46 (2010).

use wastenot_model::sporadic::{Sporadic, TaskSet};

use super::{density_max, too_long};
use crate::demand::{dues, total};
use crate::number::{Budget, Exact, Halt, Interval, Number, decide, div_rem};
use crate::{ARBITRARY, Answer};

/// How finely [`ff_dbf`] looks for a speed: at the greatest density, then at multiples of one over
/// this.
const GRID: i128 = 50;
/// How far below the highest speed that is possible it stops: one over this. The windows that have
/// to be looked at become longer without limit as it is approached.
const SHORT: i128 = 10;

/// Whether, at some speed that every job can do with, what must have been done within no window is
/// more than what the CPUs do in it while each is used at least at that speed.
///
/// Speeds are tried at the greatest density and at multiples of 1/50, up to 1/10 below the highest
/// that is possible: both make it reject more, as they do in SchedCAT.
pub fn ff_dbf(tasks: &TaskSet, cpus: u32, budget: &mut Budget) -> Answer {
    if cpus < 2 {
        return Answer::NotApplicable("the test is for several CPUs");
    }
    if !tasks.is_constrained() {
        return Answer::NotApplicable(ARBITRARY);
    }
    if tasks.iter().any(too_long) {
        return Answer::Reject;
    }
    Answer::of(fits(tasks, cpus, budget))
}

fn fits(tasks: &TaskSet, cpus: u32, budget: &mut Budget) -> Result<bool, Halt> {
    let (num, den) = density_max(tasks);
    let steps = (num * GRID / den + 1..=GRID).map(|step| (step, GRID));
    for speed in std::iter::once((num, den)).chain(steps) {
        let quick = |budget: &mut Budget| longest::<Interval>(tasks, cpus, speed, budget);
        let exact = |budget: &mut Budget| longest::<Exact>(tasks, cpus, speed, budget);
        match decide(budget, quick, exact)? {
            None => break,
            Some(longest) if is_met(tasks, cpus, speed, longest, budget)? => return Ok(true),
            Some(_) => {}
        }
    }
    Ok(false)
}

/// The longest window that has to be looked at, unless that speed is too high: what is demanded is
/// below U t + sum C, what is done (m - (m - 1) speed) t.
fn longest<N: Number>(
    tasks: &TaskSet,
    cpus: u32,
    speed: (i128, i128),
    budget: &mut Budget,
) -> Result<Option<i128>, Halt> {
    let (cpus, speed) = (i128::from(cpus), N::ratio(speed.0, speed.1));
    let used = total::<N>(tasks, budget)?;
    let highest = (N::whole(cpus) - used.clone()) / N::whole(cpus - 1) - N::ratio(1, SHORT);
    if highest.below(&speed)? {
        return Ok(None);
    }
    let room = N::whole(cpus) - N::whole(cpus - 1) * speed - used;
    let wcets: i128 = tasks.iter().map(|task| i128::from(task.wcet_us)).sum();
    (N::whole(wcets) / room).floor().map(Some)
}

/// Whether the CPUs keep up in all windows up to `longest`. Demand is linear in pieces and rises
/// steeper only up to a deadline, so that it is greatest, relative to what is done, at deadlines.
fn is_met(
    tasks: &TaskSet,
    cpus: u32,
    speed: (i128, i128),
    longest: i128,
    budget: &mut Budget,
) -> Result<bool, Halt> {
    let (cpus, (num, den)) = (i128::from(cpus), speed);
    for window in dues(tasks, 0, longest) {
        budget.spend(tasks.len())?;
        let demand: i128 = tasks.iter().map(|task| demand(task, window, speed)).sum();
        if demand > (cpus * den - (cpus - 1) * num) * window {
            return Ok(false);
        }
    }
    Ok(true)
}

/// What jobs of `task` must have been given within `window` at least, if each that is not due in it
/// may do with `speed` from its end on: ff-dbf(t), in 1 / `speed.1` us.
pub(crate) fn demand(task: &Sporadic, window: i128, speed: (i128, i128)) -> i128 {
    let (wcet, period) = (i128::from(task.wcet_us), i128::from(task.period_us));
    let (jobs, rest) = div_rem(window, period);
    let before_deadline = (i128::from(task.deadline_us) - rest).max(0);
    jobs * wcet * speed.1 + (wcet * speed.1 - before_deadline * speed.0).max(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cases of SchedCAT's own tests, at full speed.
    #[test]
    fn demand_rises_at_the_given_speed_up_to_the_deadline() {
        let implicit = Sporadic::implicit(5_000, 10_000);
        let at = |window| demand(&implicit, window, (1, 1));
        let cases = [0, 5_000, 5_001, 7_000, 9_999, 10_001, 14_001].map(at);
        assert_eq!(cases, [0, 0, 1, 2_000, 4_999, 5_000, 5_000]);
        let at = |window| demand(&implicit.due(7_000), window, (1, 1));
        let cases = [1_000, 2_001, 4_000, 6_999, 10_001, 12_001].map(at);
        assert_eq!(cases, [0, 1, 2_000, 4_999, 5_000, 5_001]);
    }

    /// The instants up to 20 000 at which demand of all tasks together begins to rise steeper, and
    /// those at which it begins to rise less.
    fn bends(tasks: &[Sporadic], speed: (i128, i128)) -> (Vec<i128>, Vec<i128>) {
        let at = |window| tasks.iter().map(|task| demand(task, window, speed)).sum::<i128>();
        let bend = |window| at(window + 1) - 2 * at(window) + at(window - 1);
        let all = || (1..=20_000).map(|window| (window, bend(window)));
        let [steeper, less] = [1, -1].map(|sign| {
            all().filter(|(_, bend)| bend.signum() == sign).map(|(window, _)| window).collect()
        });
        (steeper, less)
    }

    /// SchedCAT's test points of two tasks. It looks at all of them; where demand begins to rise
    /// steeper it cannot be greatest relative to what CPUs do, so that we only look at those where
    /// it begins to rise less: at deadlines.
    #[test]
    fn demand_bends_at_its_test_points_and_those_that_matter_are_deadlines() {
        let first = Sporadic::implicit(5_000, 10_000);
        let second = first.due(7_000);
        let full = (1, 1);
        assert_eq!(bends(&[first], full), (vec![5_000, 15_000], vec![10_000, 20_000]));
        assert_eq!(bends(&[second], full), (vec![2_000, 12_000], vec![7_000, 17_000]));
        assert_eq!(bends(&[second], (4, 5)), (vec![750, 10_750], vec![7_000, 17_000]));
        let (steeper, less) = bends(&[first, second], full);
        let mut all = [steeper, less.clone()].concat();
        all.sort_unstable();
        let points = [2_000, 5_000, 7_000, 10_000, 12_000, 15_000, 17_000, 20_000];
        assert_eq!(all, points);
        assert_eq!(dues(&[first, second], 0, 20_000).collect::<Vec<_>>(), less);
    }
}
