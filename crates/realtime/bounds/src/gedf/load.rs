//! LOAD: Baker, Baruah, "An analysis of global EDF schedulability for arbitrary-deadline sporadic
//! task systems", Real-Time Systems 43 (2009).

use wastenot_model::sporadic::TaskSet;

use super::{density_max, too_long};
use crate::Answer;
use crate::demand::{Windows, repeats, unmet, windows};
use crate::number::{Budget, Exact, Interval, decide};

/// Whether no window demands more than what densities leave of the CPUs. Deadlines may be beyond
/// periods. The load is not approximated: either all windows that matter are looked at, or the
/// budget is spent.
pub fn load(tasks: &TaskSet, cpus: u32, budget: &mut Budget) -> Answer {
    if tasks.iter().any(too_long) {
        return Answer::Reject;
    }
    let most = most(tasks, cpus);
    if most.0 <= 0 {
        return Answer::of(Ok(tasks.is_empty()));
    }
    let quick = |budget: &mut Budget| windows::<Interval>(tasks, most, budget);
    let exact = |budget: &mut Budget| windows::<Exact>(tasks, most, budget);
    let longest = match decide(budget, quick, exact) {
        Ok(Windows::Upto(longest)) => longest,
        Ok(Windows::None) => return Answer::Accept,
        Ok(Windows::Over) => return Answer::Reject,
        Ok(Windows::All) => match repeats(tasks) {
            Some(longest) => longest,
            None => return Answer::NotApplicable(ALL),
        },
        Err(_) => return Answer::Unknown,
    };
    Answer::of(unmet(tasks, most, longest, budget).map(|unmet| unmet.is_none()))
}

/// Why it is silent where demand does not fall behind, and takes too long to repeat.
const ALL: &str = "tasks need exactly as much as the test allows, so the length of time windows \
                   has no bound";

/// The greatest load, as a fraction: of `mu = m - (m - 1) delta`, the better of what is left with
/// `ceil(mu) - 1` and with `ceil(mu) - 2` tasks carried in.
fn most(tasks: &TaskSet, cpus: u32) -> (i128, i128) {
    let (num, den) = density_max(tasks);
    let cpus = i128::from(cpus);
    let mu = cpus * den - (cpus - 1) * num;
    let carried = (mu + den - 1).div_euclid(den) - 1;
    let first = mu - carried * num;
    let second = carried * den - (carried - 1) * num;
    (first.max(second), den)
}
