//! Partitioned EDF: every task on one CPU for ever, each CPU an EDF of its own.

use wastenot_model::sporadic::{Sporadic, TaskSet};

use crate::demand::{compare, density};
use crate::number::Budget;
use crate::{Answer, single};

/// A partition, or that none was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// Whether all tasks found a CPU.
    pub answer: Answer,
    /// The CPU of each task, in the order of the set; empty if some task found none.
    pub cpu_of: Vec<u32>,
}

/// First fit by decreasing density: each task goes to the first CPU that by [`single::qpa`] still
/// meets all deadlines with it. What it finds holds; that it finds none proves nothing.
pub fn first_fit(tasks: &TaskSet, cpus: u32, budget: &mut Budget) -> Partition {
    let none = |answer| Partition { answer, cpu_of: Vec::new() };
    let mut order: Vec<usize> = (0..tasks.len()).collect();
    order.sort_by(|&a, &b| compare(density(&tasks[b]), density(&tasks[a])));
    let mut bins: Vec<Vec<Sporadic>> = Vec::new();
    let mut cpu_of = vec![0; tasks.len()];
    let (mut unknown, limit) = (false, (cpus as usize).min(tasks.len()));
    'tasks: for n in order {
        for cpu in 0..limit {
            if cpu == bins.len() {
                bins.push(Vec::new());
            }
            bins[cpu].push(tasks[n]);
            match single::meets(&bins[cpu], budget) {
                Ok(true) => {
                    cpu_of[n] = cpu as u32;
                    continue 'tasks;
                }
                Ok(false) => {}
                Err(_) => unknown = true,
            }
            bins[cpu].pop();
        }
        return none(if unknown { Answer::Unknown } else { Answer::Reject });
    }
    Partition { answer: Answer::Accept, cpu_of }
}
