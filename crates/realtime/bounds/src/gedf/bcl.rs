//! BCL: Bertogna, Cirinei, Lipari, "Improved schedulability analysis of EDF on multiprocessor
//! platforms", ECRTS 2005; with slacks, "Schedulability analysis of global scheduling algorithms on
//! multiprocessor platforms", IEEE TPDS 20 (2009).
//!
//! No time is beyond 2^40, no C is longer than its D or T: what jobs do in a window is no longer
//! than the window, and sums over all tasks fit 64 bits.

use wastenot_model::sporadic::{Sporadic, TaskSet};

use super::too_long;
use crate::number::Budget;
use crate::{ARBITRARY, Answer};

/// Whether no task can be interfered with for longer than its laxity.
pub fn bcl(tasks: &TaskSet, cpus: u32, budget: &mut Budget) -> Answer {
    if !tasks.is_constrained() {
        return Answer::NotApplicable(ARBITRARY);
    }
    if tasks.iter().any(too_long) {
        return Answer::Reject;
    }
    for problem in 0..tasks.len() {
        match budget.spend(tasks.len()).map(|()| fits(tasks, cpus, problem)) {
            Ok(true) => {}
            other => return Answer::of(other),
        }
    }
    Answer::Accept
}

/// In units of 1 / D of the task, so that all is whole.
fn fits(tasks: &TaskSet, cpus: u32, problem: usize) -> bool {
    let window = tasks[problem].deadline_us as i64;
    let laxity = window - tasks[problem].wcet_us as i64;
    let (mut sum, mut partial) = (0, false);
    for (_, task) in tasks.iter().enumerate().filter(|&(n, _)| n != problem) {
        let work = demand_and_tail(task, window);
        partial |= 0 < work && work <= laxity;
        sum += work.min(laxity);
    }
    let (sum, room) = (i128::from(sum), i128::from(cpus) * i128::from(laxity));
    sum < room || sum == room && partial
}

/// The most that jobs of `task` run in a window that ends at a deadline of its: those due in it,
/// and the end of one more.
fn demand_and_tail(task: &Sporadic, window: i64) -> i64 {
    let (wcet, period) = (task.wcet_us as i64, task.period_us as i64);
    let beyond = window - task.deadline_us as i64;
    let jobs = if beyond < 0 { 0 } else { beyond / period + 1 };
    jobs * wcet + wcet.min((window - jobs * period).max(0))
}

/// The same with slacks: a task that is known to complete early carries less in. Tasks are looked
/// at in order, each with the slacks known so far, until a round in which all fit, or nothing
/// changed.
pub fn bcli(tasks: &TaskSet, cpus: u32, budget: &mut Budget) -> Answer {
    if !tasks.is_constrained() {
        return Answer::NotApplicable(ARBITRARY);
    }
    if tasks.iter().any(too_long) {
        return Answer::Reject;
    }
    let mut columns = Columns::of(tasks);
    loop {
        let (mut fit, mut changed) = (true, false);
        for n in 0..tasks.len() {
            if budget.spend(tasks.len()).is_err() {
                return Answer::Unknown;
            }
            let (known, slack) = (columns.slack[n] as i64, columns.slack(tasks, cpus, n));
            fit &= slack >= 0;
            changed |= slack > known;
            columns.slack[n] = known.max(slack) as f64;
        }
        if fit || !changed {
            return Answer::of(Ok(fit));
        }
    }
}

/// All tasks, column by column, so that [`edf_work`] is worked out for several at once. In doubles,
/// which CPUs divide side by side: all numbers are whole and far below 2^53, so that quotients are
/// rounded down to the right one and nothing else is rounded at all.
struct Columns {
    wcet: Vec<f64>,
    period: Vec<f64>,
    slack: Vec<f64>,
}

/// So many at once.
const LANES: usize = 8;
/// So many are added up in doubles: of times below 2^40 that stays below 2^53.
const ROWS: usize = 1 << 10;

impl Columns {
    fn of(tasks: &TaskSet) -> Columns {
        // Rows to fill lanes up run nothing.
        let rows = tasks.len().next_multiple_of(LANES);
        let column = |of: fn(&Sporadic) -> u64, rest: f64| {
            let mut column: Vec<f64> = tasks.iter().map(|task| of(task) as f64).collect();
            column.resize(rows, rest);
            column
        };
        Columns {
            wcet: column(|task| task.wcet_us, 0.0),
            period: column(|task| task.period_us, 1.0),
            slack: vec![0.0; rows],
        }
    }

    /// How long before its deadline a task is done; below 0 it may not be.
    fn slack(&self, tasks: &TaskSet, cpus: u32, problem: usize) -> i64 {
        let task = &tasks[problem];
        let deadline = task.deadline_us as i64;
        let laxity = deadline - task.wcet_us as i64;
        let own = edf_work(task, deadline, self.slack[problem] as i64).min(laxity + 1);
        let others = self.work(deadline, laxity + 1) - own;
        laxity - others / i64::from(cpus)
    }

    /// The sum of [`edf_work`] of all tasks, of each at most `most`.
    fn work(&self, window: i64, most: i64) -> i64 {
        let columns = self.wcet.chunks(ROWS).zip(self.period.chunks(ROWS));
        let (window, most) = (window as f64, most as f64);
        let chunk = |((wcets, periods), slacks): ((&[f64], &[f64]), &[f64])| {
            let mut sums = [0.0; LANES];
            let lanes = wcets.chunks_exact(LANES).zip(periods.chunks_exact(LANES));
            for ((wcets, periods), slacks) in lanes.zip(slacks.chunks_exact(LANES)) {
                for lane in 0..LANES {
                    let (wcet, period) = (wcets[lane], periods[lane]);
                    let jobs = floor(window / period);
                    let rest = greater(window - jobs * period - slacks[lane], 0.0);
                    sums[lane] += less(jobs * wcet + less(wcet, rest), most);
                }
            }
            sums.iter().sum::<f64>() as i64
        };
        columns.zip(self.slack.chunks(ROWS)).map(chunk).sum()
    }
}

/// The largest whole number that is not above `value`, of 0 to 2^51. The method of `f64` is a call
/// on CPUs that only the baseline is known of.
fn floor(value: f64) -> f64 {
    const WHOLE: f64 = (1_u64 << 52) as f64;
    let nearest = value + WHOLE - WHOLE;
    nearest - if nearest > value { 1.0 } else { 0.0 }
}

/// As an instruction has it; the method of `f64` thinks of what is not a number.
fn less(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

fn greater(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// The most that jobs of `task` run in a window that ends at a deadline of its, if each is done
/// `slack` before its own.
pub(super) fn edf_work(task: &Sporadic, window: i64, slack: i64) -> i64 {
    let (wcet, period) = (task.wcet_us as i64, task.period_us as i64);
    let (jobs, rest) = (window / period, window % period);
    jobs * wcet + wcet.min((rest - slack).max(0))
}

#[cfg(test)]
mod tests {
    use wastenot_model::workload::Random;

    use super::*;

    #[test]
    fn columns_add_up_to_what_each_task_takes() {
        let mut random = Random::stream(1, 0, 0);
        for round in 0..2_000 {
            let most = [10, 1_000, 1 << 20, 1 << 40][round % 4];
            let tasks = (0..=random.below(40)).map(|_| {
                let period = 1 + random.below(most);
                Sporadic::implicit(1 + random.below(period), period)
            });
            let tasks = TaskSet::new(tasks.collect()).expect("a task set");
            let mut columns = Columns::of(&tasks);
            let slacks: Vec<i64> =
                tasks.iter().map(|task| random.below(task.period_us) as i64).collect();
            columns.slack.iter_mut().zip(&slacks).for_each(|(it, slack)| *it = *slack as f64);
            // Whole numbers of periods, too.
            let period = tasks[0].period_us as i64;
            let times = 1 + random.below((1 << 40) / period as u64) as i64;
            for window in [period * times, period * times - 1, 1 + random.below(most) as i64] {
                let most = 1 + random.below(window as u64) as i64;
                let work = |(task, slack): (_, &i64)| edf_work(task, window, *slack).min(most);
                let sum = tasks.iter().zip(&slacks).map(work).sum::<i64>();
                assert_eq!(columns.work(window, most), sum, "{tasks:?}, {slacks:?}, {window}");
            }
        }
    }
}
