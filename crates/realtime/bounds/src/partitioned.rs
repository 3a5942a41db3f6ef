//! Partitioned EDF: every task on one CPU for ever, each CPU an EDF of its own; or on one cluster
//! of CPUs.

use wastenot_model::sporadic::{Sporadic, TaskSet};

use crate::demand::{compare, density};
use crate::number::Budget;
use crate::{Answer, single};

/// A partition, or that none was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// Whether all tasks found a CPU.
    pub answer: Answer,
    /// The CPU, or cluster, of each task, in the order of the set; empty if some task found none.
    pub cpu_of: Vec<u32>,
}

/// First fit by decreasing density: each task goes to the first CPU that by [`single::qpa`] still
/// meets all deadlines with it. What it finds holds; that it finds none proves nothing.
pub fn first_fit(tasks: &TaskSet, cpus: u32, budget: &mut Budget) -> Partition {
    first_fit_by(tasks, cpus, |tasks| Answer::of(single::meets(tasks, budget)))
}

/// The same among clusters that are alike: `asked` says whether one with these tasks still meets
/// all deadlines.
pub(crate) fn first_fit_by(
    tasks: &TaskSet,
    clusters: u32,
    mut asked: impl FnMut(&[Sporadic]) -> Answer,
) -> Partition {
    let none = |answer| Partition { answer, cpu_of: Vec::new() };
    let mut order: Vec<usize> = (0..tasks.len()).collect();
    order.sort_by(|&a, &b| compare(density(&tasks[b]), density(&tasks[a])));
    let mut bins: Vec<Vec<Sporadic>> = Vec::new();
    let mut cpu_of = vec![0; tasks.len()];
    let (mut unknown, limit) = (false, (clusters as usize).min(tasks.len()));
    'tasks: for n in order {
        for cpu in 0..limit {
            if cpu == bins.len() {
                bins.push(Vec::new());
            }
            bins[cpu].push(tasks[n]);
            match asked(&bins[cpu]) {
                Answer::Accept => {
                    cpu_of[n] = cpu as u32;
                    continue 'tasks;
                }
                Answer::Unknown => unknown = true,
                Answer::Reject | Answer::NotApplicable(_) => {}
            }
            bins[cpu].pop();
            if bins[cpu].is_empty() {
                break; // whom an empty one does not take, no other empty one takes
            }
        }
        return none(if unknown { Answer::Unknown } else { Answer::Reject });
    }
    Partition { answer: Answer::Accept, cpu_of }
}
