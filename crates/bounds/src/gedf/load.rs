//! LOAD: Baker, Baruah, "An analysis of global EDF schedulability for arbitrary-deadline sporadic
//! task systems", Real-Time Systems 43 (2009).

use wastenot_model::sporadic::{Sporadic, TaskSet};

use super::{density_max, too_long, total, utilization};
use crate::Answer;
use crate::demand::is_met;
use crate::number::{Budget, Exact, Halt, Interval, Number, decide};

/// Whether no window demands more than what densities leave of the CPUs. Deadlines may be beyond
/// periods. The load is not approximated: either all windows that matter are looked at, or the
/// budget is spent.
pub fn load(tasks: &TaskSet, cpus: u32, budget: &mut Budget) -> Answer {
    if tasks.iter().any(too_long) {
        return Answer::Reject;
    }
    Answer::of(fits(tasks, cpus, budget))
}

fn fits(tasks: &TaskSet, cpus: u32, budget: &mut Budget) -> Result<bool, Halt> {
    let most = most(tasks, cpus);
    if most.0 <= 0 {
        return Ok(tasks.is_empty());
    }
    let quick = |_: &mut Budget| longest::<Interval>(tasks, most);
    match decide(budget, quick, |_| longest::<Exact>(tasks, most))? {
        Longest::Window(longest) => is_met(tasks, most, longest, budget),
        Longest::None => Ok(true),
        Longest::Never => Ok(false),
        Longest::Endless => Err(Halt::Spent),
    }
}

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

/// Which windows matter.
enum Longest {
    /// None longer than this.
    Window(i128),
    None,
    /// Tasks use more than that in the long run.
    Never,
    /// They use just that.
    Endless,
}

/// Beyond U t + sum (T - D) u there is no demand.
fn longest<N: Number>(tasks: &TaskSet, most: (i128, i128)) -> Result<Longest, Halt> {
    let early = |task: &Sporadic| {
        let rest = i128::from(task.period_us) - i128::from(task.deadline_us);
        N::whole(rest.max(0)) * utilization(task)
    };
    let room = N::ratio(most.0, most.1) - total(tasks);
    match room.compare(&N::whole(0))? {
        std::cmp::Ordering::Less => Ok(Longest::Never),
        _ if tasks.iter().all(|task| task.deadline_us >= task.period_us) => Ok(Longest::None),
        std::cmp::Ordering::Equal => Ok(Longest::Endless),
        std::cmp::Ordering::Greater => {
            let all = N::sum(tasks.iter().map(early));
            (all / room).floor().map(Longest::Window)
        }
    }
}
