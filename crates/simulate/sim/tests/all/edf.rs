//! Global EDF without overhead: known answers.

use std::ops::ControlFlow;

use wastenot_model::sporadic::{Sporadic, TaskSet};
use wastenot_sim::edf::{Done, Rule, Tie, gedf, synchronous};

fn implicit(tasks: &[(u64, u64)]) -> TaskSet {
    let task = |&(wcet, period)| Sporadic::implicit(wcet, period);
    TaskSet::new(tasks.iter().map(task).collect()).expect("a task set")
}

fn jobs(tasks: &TaskSet, cpus: u32, tie: Tie, until_us: u64) -> Vec<Done> {
    let mut all = Vec::new();
    gedf(tasks, cpus, Rule::edf(tie), until_us, synchronous(tasks), |done| {
        all.push(done);
        ControlFlow::Continue(())
    });
    all
}

fn first_miss(tasks: &TaskSet, cpus: u32) -> Option<u64> {
    let all = jobs(tasks, cpus, Tie::First, 1_000);
    let late = all.iter().filter(|done| done.at_us > done.deadline_us);
    late.map(|done| done.deadline_us).min()
}

#[test]
fn three_tasks_of_two_thirds() {
    // Cases of SchedCAT's own tests.
    let tasks = implicit(&[(2, 3); 3]);
    assert_eq!(first_miss(&tasks, 1), Some(3));
    assert_eq!(first_miss(&tasks, 2), Some(3));
    assert_eq!(first_miss(&tasks, 3), None);
}

#[test]
fn jobs_and_tardiness_of_a_full_machine() {
    // The result of SchedCAT's simulator for 100 s (it counts one job more, the last).
    let tasks = implicit(&[(80, 100), (33, 66), (7, 10)]);
    let all = jobs(&tasks, 2, Tie::Running, 100_000);
    let late = all.iter().filter(|done| done.at_us > done.deadline_us);
    let most = late.clone().map(|done| done.at_us - done.deadline_us).max();
    let first = late.clone().map(|done| done.deadline_us).min();
    assert_eq!((all.len(), late.count(), most, first), (12_514, 7_976, Some(66), Some(100)));
}
