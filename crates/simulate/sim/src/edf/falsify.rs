//! Schedules of global EDF in which a job may miss its deadline: a few that are likely to show a
//! miss.

use std::ops::ControlFlow;

use wastenot_model::sporadic::TaskSet;
use wastenot_model::workload::Random;

use super::core::{Rule, Tie};
use super::plain::{Done, gedf};

/// A job that was late.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missed {
    /// When each task released its first job, in us; each later job came one period after the last.
    pub offsets_us: Vec<u64>,
    /// The tie-breaking rule under which the job was late.
    pub tie: Tie,
    /// The tie-breaking rules under which some job is late with these offsets, `tie` among them.
    pub ties: Vec<Tie>,
    /// The first job that completed late.
    pub job: Done,
}

/// What was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// How many schedules.
    pub schedules: u32,
    /// How many jobs completed in them.
    pub jobs: u64,
    /// The first that was late.
    pub missed: Option<Missed>,
}

/// Tie-breaking rules, in the order in which they are tried.
const TIES: [Tie; 3] = [Tie::First, Tie::Last, Tie::Running];
/// How many sets of offsets are tried: the synchronous release first, the others random.
const OFFSETS: u64 = 9;

/// Looks for a job that misses its deadline, in schedules with all tie-breaking rules and several
/// offsets, until about `most` jobs. All jobs are as long and as frequent as they may be. If no job
/// is late, that proves nothing.
pub fn falsify(tasks: &TaskSet, cpus: u32, most: u64) -> Tried {
    let mut tried = Tried { schedules: 0, jobs: 0, missed: None };
    let each = most / (OFFSETS * TIES.len() as u64);
    for stream in 0..OFFSETS {
        let offsets_us = offsets(tasks, stream);
        for tie in TIES {
            // Starting a schedule costs as much as one job of each task.
            if tried.jobs + u64::from(tried.schedules) * tasks.len() as u64 > most {
                return tried;
            }
            let late = late(tasks, cpus, tie, &offsets_us, each, &mut tried);
            let Some(job) = late else { continue };
            let misses = |other: &Tie| {
                *other == tie || late_in(tasks, cpus, *other, &offsets_us, each).is_some()
            };
            let ties = TIES.into_iter().filter(misses).collect();
            tried.missed = Some(Missed { offsets_us, tie, ties, job });
            return tried;
        }
    }
    tried
}

/// Every offset 0, or each random within its period.
fn offsets(tasks: &TaskSet, stream: u64) -> Vec<u64> {
    let mut random = Random::stream(1, 0, stream);
    let one = |period_us| if stream == 0 { 0 } else { random.below(period_us) };
    tasks.iter().map(|task| task.period_us).map(one).collect()
}

fn late_in(tasks: &TaskSet, cpus: u32, tie: Tie, offsets_us: &[u64], most: u64) -> Option<Done> {
    let mut tried = Tried { schedules: 0, jobs: 0, missed: None };
    late(tasks, cpus, tie, offsets_us, most, &mut tried)
}

/// The first job that completes late in one schedule.
fn late(
    tasks: &TaskSet,
    cpus: u32,
    tie: Tie,
    offsets_us: &[u64],
    most: u64,
    tried: &mut Tried,
) -> Option<Done> {
    tried.schedules += 1;
    let release = |task: u32, last: Option<u64>| match last {
        Some(last) => last + tasks[task as usize].period_us,
        None => offsets_us[task as usize],
    };
    let (mut jobs, mut late) = (0, None);
    gedf(tasks, cpus, Rule::edf(tie), u64::MAX, release, |done| {
        jobs += 1;
        late = Some(done).filter(|done| done.at_us > done.deadline_us);
        if late.is_some() || jobs >= most {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    tried.jobs += jobs;
    late
}

#[cfg(test)]
mod tests {
    use wastenot_model::sporadic::Sporadic;

    use super::*;

    #[test]
    fn what_misses_is_found_and_what_does_not_is_not() {
        let three = TaskSet::new(vec![Sporadic::implicit(2, 3); 3]).expect("a task set");
        let missed = falsify(&three, 2, 10_000).missed.expect("a miss");
        assert_eq!((missed.tie, missed.ties.len()), (Tie::First, 3));
        let job = Done { task: 2, released_us: 0, deadline_us: 3, at_us: 4 };
        assert_eq!((missed.job, missed.offsets_us), (job, vec![0, 0, 0]));
        let tried = falsify(&three, 3, 10_000);
        assert_eq!((tried.schedules, tried.missed), (27, None));
    }

    #[test]
    fn a_tie_that_is_lost_is_told_apart_from_one_that_is_won() {
        // All are due at 4, and the long job is in time only if it gets a CPU at once: tie-breaking
        // decides.
        let all = [(1, 4), (1, 4), (4, 4)].map(|(c, t)| Sporadic::implicit(c, t));
        let set = TaskSet::new(all.to_vec()).expect("a task set");
        let missed = falsify(&set, 2, 10_000).missed.expect("a miss");
        assert_eq!((missed.tie, missed.ties), (Tie::First, vec![Tie::First, Tie::Running]));
    }
}
