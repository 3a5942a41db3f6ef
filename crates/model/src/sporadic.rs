//! Sporadic tasks: jobs that come at least one period apart, each with a deadline.

/// A sporadic task. Times are whole microseconds: other times are to be rounded, the cost of a job
/// up, the period and the deadline down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sporadic {
    /// The longest that a job runs (C), at least 1.
    pub wcet_us: u64,
    /// The shortest time between two jobs (T), at least 1.
    pub period_us: u64,
    /// How long after its release a job should be complete (D), at least 1.
    pub deadline_us: u64,
    /// Its working set in memory, in KiB; 0 if that is not known.
    pub wss_kb: u32,
}

impl Sporadic {
    /// A task whose deadline is its period.
    pub fn implicit(wcet_us: u64, period_us: u64) -> Sporadic {
        Sporadic { wcet_us, period_us, deadline_us: period_us, wss_kb: 0 }
    }
    /// The same task with this deadline.
    pub fn due(self, deadline_us: u64) -> Sporadic {
        Sporadic { deadline_us, ..self }
    }
}

/// Sporadic tasks, in the order of tie-breaking between equal deadlines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskSet(Vec<Sporadic>);

/// Why tasks do not form a task set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotATaskSet {
    /// A number is 0.
    #[error("task {task}: the {what} is 0; it must be at least 1 us")]
    Zero {
        /// Counted from 1.
        task: usize,
        /// Which number.
        what: &'static str,
    },
    /// A number is larger than [`TaskSet::MOST_US`].
    #[error("task {task}: the {what} is longer than {} us (12 days)", TaskSet::MOST_US)]
    Long {
        /// Counted from 1.
        task: usize,
        /// Which number.
        what: &'static str,
    },
    /// There are more than [`TaskSet::MOST_TASKS`].
    #[error("the set has {0} tasks; the maximum is {most}", most = TaskSet::MOST_TASKS)]
    Many(usize),
}

impl TaskSet {
    /// No time is longer, in us: then sums and products of a task set's numbers fit 128 bits.
    pub const MOST_US: u64 = 1 << 40;
    /// No set has more tasks.
    pub const MOST_TASKS: usize = 1 << 20;

    /// A set of these tasks.
    ///
    /// # Errors
    /// A time is 0 or longer than [`TaskSet::MOST_US`], or there are too many tasks.
    pub fn new(tasks: Vec<Sporadic>) -> Result<TaskSet, NotATaskSet> {
        if tasks.len() > TaskSet::MOST_TASKS {
            return Err(NotATaskSet::Many(tasks.len()));
        }
        for (n, it) in tasks.iter().enumerate() {
            let times =
                [("wcet", it.wcet_us), ("period", it.period_us), ("deadline", it.deadline_us)];
            for (what, time_us) in times {
                match time_us {
                    0 => return Err(NotATaskSet::Zero { task: n + 1, what }),
                    TaskSet::MOST_US.. => return Err(NotATaskSet::Long { task: n + 1, what }),
                    _ => {}
                }
            }
        }
        Ok(TaskSet(tasks))
    }
    /// Whether no deadline is beyond its task's period.
    pub fn is_constrained(&self) -> bool {
        self.iter().all(|task| task.deadline_us <= task.period_us)
    }
    /// Whether every deadline is its task's period.
    pub fn is_implicit(&self) -> bool {
        self.iter().all(|task| task.deadline_us == task.period_us)
    }
    /// The least common multiple of all periods, unless it overflows.
    pub fn hyperperiod_us(&self) -> Option<u64> {
        self.iter().try_fold(1_u64, |all, task| {
            let (mut a, mut b) = (all, task.period_us);
            while b > 0 {
                (a, b) = (b, a % b);
            }
            all.checked_mul(task.period_us / a)
        })
    }
    /// The tasks of each of `clusters` clusters, in the order of the set. `cluster_of` has the
    /// cluster of each task; a task with another number is in none.
    pub fn divided(&self, cluster_of: &[usize], clusters: usize) -> Vec<TaskSet> {
        let mut parts = vec![Vec::new(); clusters];
        for (task, &cluster) in self.iter().zip(cluster_of) {
            if let Some(part) = parts.get_mut(cluster) {
                part.push(*task);
            }
        }
        parts.into_iter().map(TaskSet).collect()
    }
    /// Worst fit by decreasing utilisation: each task goes to the cluster with the most free CPU
    /// capacity, among equals to the first; among equal tasks the first is placed first. Returns
    /// the cluster of each task, in the order of the set. It does not check that a cluster has room
    /// for its tasks. `cpus` has the number of CPUs of each cluster.
    pub fn worst_fit(&self, cpus: &[u32]) -> Vec<usize> {
        // A CPU's time in parts of which each task uses a whole number. If there is no such part,
        // parts are as small as sums allow, and shares are rounded up: the same on every machine.
        let whole = self.hyperperiod_us().map_or(1 << 64, i128::from);
        let share = |task: &Sporadic| {
            let (wcet, period) = (i128::from(task.wcet_us), i128::from(task.period_us));
            (wcet * whole + period - 1) / period
        };
        let mut order: Vec<(i128, usize)> =
            self.iter().enumerate().map(|(n, task)| (-share(task), n)).collect();
        order.sort_unstable();
        let mut left: Vec<i128> = cpus.iter().map(|&cpus| i128::from(cpus) * whole).collect();
        let mut cluster_of = vec![0; self.len()];
        for (share, n) in order {
            let most = (0..left.len()).rev().max_by_key(|&cluster| left[cluster]);
            let Some(cluster) = most else { break };
            left[cluster] += share;
            cluster_of[n] = cluster;
        }
        cluster_of
    }
}

impl std::ops::Deref for TaskSet {
    type Target = [Sporadic];
    fn deref(&self) -> &[Sporadic] {
        &self.0
    }
}

/// What a task set has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Criterion {
    /// No deadline is missed; each overhead is the longest that was observed.
    Hard,
    /// Tardiness is bounded; each overhead is its average.
    Soft,
}

impl Criterion {
    /// As written.
    pub fn word(self) -> &'static str {
        match self {
            Criterion::Hard => "hard",
            Criterion::Soft => "soft",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_no_sense_is_refused() {
        let of = |wcet, period| TaskSet::new(vec![Sporadic::implicit(wcet, period)]);
        assert_eq!(of(0, 5), Err(NotATaskSet::Zero { task: 1, what: "wcet" }));
        assert_eq!(of(1, 0), Err(NotATaskSet::Zero { task: 1, what: "period" }));
        assert_eq!(of(1, 1 << 50), Err(NotATaskSet::Long { task: 1, what: "period" }));
        // More than its deadline: a set that cannot be scheduled is still a set.
        assert!(of(9, 5).is_ok());
    }
    fn set(tasks: &[(u64, u64)]) -> TaskSet {
        let task = |&(wcet, period)| Sporadic::implicit(wcet, period);
        TaskSet::new(tasks.iter().map(task).collect()).expect("a task set")
    }

    /// By decreasing utilisation, each to the CPU with the most free time: 0.9, 0.6, 0.5, 0.5, 0.1.
    #[test]
    fn worst_fit_spreads_tasks_over_clusters() {
        let tasks = set(&[(1, 10), (5, 10), (9, 10), (6, 10), (5, 10)]);
        assert_eq!(tasks.worst_fit(&[1, 1]), [1, 1, 0, 1, 0]);
        assert_eq!(tasks.worst_fit(&[1, 2]), [1, 0, 1, 1, 0]);
        assert_eq!(tasks.worst_fit(&[3]), [0; 5]);
        assert_eq!(tasks.worst_fit(&[]), [0; 5]);
        // Both CPUs are full when the last task is placed, the first by thirds.
        let tasks = set(&[(2, 3), (1, 2), (1, 2), (1, 3), (1, 100)]);
        assert_eq!(tasks.worst_fit(&[1, 1]), [0, 1, 1, 0, 0]);
        // With the largest allowed numbers.
        let long = TaskSet::MOST_US - 1;
        let tasks = set(&[(long, long - 1), (long, long), (1, long - 2), (long, 1)]);
        assert_eq!(tasks.worst_fit(&[8_192, 1]), [1, 1, 1, 0]);
    }

    #[test]
    fn parts_keep_the_order_of_the_set() {
        let tasks = set(&[(1, 10), (2, 10), (3, 10), (4, 10)]);
        let parts = tasks.divided(&[2, 0, 2, 9], 3);
        let wcet = |part: &TaskSet| part.iter().map(|task| task.wcet_us).collect::<Vec<_>>();
        assert_eq!(parts.iter().map(wcet).collect::<Vec<_>>(), [vec![2], vec![], vec![1, 3]]);
    }

    #[test]
    fn periods_have_a_common_multiple_unless_it_is_too_long() {
        assert_eq!(set(&[(1, 4), (1, 6), (1, 10)]).hyperperiod_us(), Some(60));
        assert_eq!(TaskSet::default().hyperperiod_us(), Some(1));
        let long = TaskSet::MOST_US - 1;
        assert_eq!(set(&[(1, long), (1, long - 1)]).hyperperiod_us(), None);
    }
}
