//! BAR: Baruah, "Techniques for multiprocessor global schedulability analysis", RTSS 2007.

use wastenot_model::sporadic::{Sporadic, TaskSet};

use super::too_long;
use crate::demand::{demand, dues, total, utilization};
use crate::number::{Budget, Exact, Halt, Interval, Number, decide, div_rem};
use crate::{ARBITRARY, Answer};

/// Whether no task can miss in any window before which some CPU was idle: all windows are looked
/// at up to where the utilisation bounds what comes.
pub fn bar(tasks: &TaskSet, cpus: u32, budget: &mut Budget) -> Answer {
    if !tasks.is_constrained() {
        return Answer::NotApplicable(ARBITRARY);
    }
    if tasks.iter().any(too_long) {
        return Answer::Reject;
    }
    let room = |budget: &mut Budget| has_room::<Interval>(tasks, cpus, budget);
    match decide(budget, room, |budget| has_room::<Exact>(tasks, cpus, budget)) {
        Ok(true) => {}
        Ok(false) => {
            return Answer::NotApplicable(
                "tasks fully use all CPUs, so the length of time windows has no bound",
            );
        }
        Err(_) => return Answer::Unknown,
    }
    let Ok(limits) = Limits::<Interval>::of(tasks, cpus, budget) else { return Answer::Unknown };
    // Fractions are added up once, if at all.
    let mut exact_limits = None;
    let mut carried = Vec::with_capacity(tasks.len());
    let mut fits = |problem, window| fits_window(tasks, cpus, problem, window, &mut carried);
    // Where a task does not fit, it mostly does not fit the shortest window: those first.
    let mut longest = Vec::with_capacity(tasks.len());
    for (problem, task) in tasks.iter().enumerate() {
        let quick = |_: &mut Budget| limits.longest(task);
        let exact = |budget: &mut Budget| {
            let limits = match exact_limits.take() {
                Some(limits) => limits,
                None => Limits::<Exact>::of(tasks, cpus, budget)?,
            };
            budget.spend(limits.room.length())?;
            exact_limits.insert(limits).longest(task)
        };
        let known = budget.spend(tasks.len()).and_then(|()| decide(budget, quick, exact));
        match known {
            Ok(known) if known < 0 || fits(problem, task.deadline_us.into()) => longest.push(known),
            other => return Answer::of(other.map(|_| false)),
        }
    }
    let all = tasks.iter().zip(longest).enumerate();
    for (problem, (task, longest)) in all.filter(|(_, (_, longest))| *longest > 0) {
        let deadline = i128::from(task.deadline_us);
        for window in dues(tasks, deadline + 1, deadline + longest) {
            match budget.spend(tasks.len()).map(|()| fits(problem, window)) {
                Ok(true) => {}
                other => return Answer::of(other),
            }
        }
    }
    Answer::Accept
}

fn has_room<N: Number>(tasks: &TaskSet, cpus: u32, budget: &mut Budget) -> Result<bool, Halt> {
    total::<N>(tasks, budget)?.below(&N::whole(cpus.into()))
}

/// What limits the windows that have to be looked at, whichever task is in question.
struct Limits<N> {
    cpus: i128,
    /// The most that may be carried in.
    carried: i128,
    /// The sum of u (T - D).
    early: N,
    /// What tasks leave of the CPUs in the long run.
    room: N,
}

impl<N: Number> Limits<N> {
    fn of(tasks: &TaskSet, cpus: u32, budget: &mut Budget) -> Result<Limits<N>, Halt> {
        let mut wcets: Vec<u64> = tasks.iter().map(|task| task.wcet_us).collect();
        wcets.sort_unstable_by(|a, b| b.cmp(a));
        let early = |task: &Sporadic| {
            N::whole(i128::from(task.period_us) - i128::from(task.deadline_us)) * utilization(task)
        };
        Ok(Limits {
            cpus: cpus.into(),
            carried: wcets.iter().take(cpus as usize - 1).map(|&wcet| i128::from(wcet)).sum(),
            early: N::sum(tasks.iter().map(early), budget)?,
            room: N::whole(cpus.into()) - total(tasks, budget)?,
        })
    }

    /// How long before the release of `task` a window may begin; below 0 there is none.
    fn longest(&self, task: &Sporadic) -> Result<i128, Halt> {
        let most = N::whole(self.carried + self.cpus * i128::from(task.wcet_us))
            + self.early.clone()
            - N::whole(task.deadline_us.into()) * self.room.clone();
        (most / self.room.clone()).floor()
    }
}

/// `window` begins when a CPU was last idle, and ends at the deadline of `problem`.
fn fits_window(
    tasks: &TaskSet,
    cpus: u32,
    problem: usize,
    window: i128,
    more: &mut Vec<i128>,
) -> bool {
    let (wcet, deadline) =
        (i128::from(tasks[problem].wcet_us), i128::from(tasks[problem].deadline_us));
    let mut sum = 0;
    more.clear();
    for (n, task) in tasks.iter().enumerate() {
        let (own, most) = match n == problem {
            true => (wcet, window - deadline),
            // Time is whole: a task that interferes for longer does not for that long.
            false => (0, window - (wcet - 1)),
        };
        let without = (demand(task, window) - own).min(most);
        let with = (with_carry_in(task, window) - own).min(most);
        sum += without;
        more.push(with - without);
    }
    let carry = cpus as usize - 1;
    if carry < more.len() {
        more.select_nth_unstable_by(carry, |a, b| b.cmp(a));
        more.truncate(carry);
    }
    let more: i128 = more.iter().map(|&it| it.max(0)).sum();
    sum + more <= i128::from(cpus) * (window - wcet)
}

/// The most that jobs run in a window, the first of which began before it.
fn with_carry_in(task: &Sporadic, window: i128) -> i128 {
    let (wcet, period) = (i128::from(task.wcet_us), i128::from(task.period_us));
    let (jobs, rest) = div_rem(window, period);
    jobs * wcet + wcet.min(rest)
}
