//! Partitioned EDF: every task on one CPU for ever, each CPU an EDF of its own.

use std::cmp::Reverse;

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

/// Worst fit by decreasing utilization: each task goes to the cluster that has most CPUs' worth of
/// time left, of equals the first. Returns the cluster of each task, in the order of the set; that
/// a cluster has room for what it is given is not asked. `cpus` has those of each cluster.
pub fn worst_fit(tasks: &TaskSet, cpus: &[u32]) -> Vec<usize> {
    // In parts of 2^-64 of a CPU's time, rounded up: the same on every machine.
    let share = |task: &Sporadic| {
        (u128::from(task.wcet_us) << 64).div_ceil(u128::from(task.period_us)) as i128
    };
    let mut order: Vec<usize> = (0..tasks.len()).collect();
    order.sort_by_key(|&n| Reverse(share(&tasks[n])));
    let mut left: Vec<i128> = cpus.iter().map(|&cpus| i128::from(cpus) << 64).collect();
    let mut cluster_of = vec![0; tasks.len()];
    for n in order {
        let most = (0..left.len()).rev().max_by_key(|&cluster| left[cluster]);
        let Some(cluster) = most else { break };
        left[cluster] -= share(&tasks[n]);
        cluster_of[n] = cluster;
    }
    cluster_of
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
