//! Sporadic tasks: jobs that come at least a period apart, each with a deadline.

/// A sporadic task. Times are whole microseconds: who has others rounds what a job costs up, period
/// and deadline down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sporadic {
    /// The longest that a job runs (C), at least 1.
    pub wcet_us: u64,
    /// The shortest time between two jobs (T), at least 1.
    pub period_us: u64,
    /// How long after its release a job should be complete (D), at least 1.
    pub deadline_us: u64,
    /// What it works on in memory, in KiB; 0 if that is not known.
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

/// Sporadic tasks, in the order in which ties between equal deadlines are broken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskSet(Vec<Sporadic>);

/// Why tasks are no task set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotATaskSet {
    /// A number is 0.
    #[error("task {task}: its {what} is 0")]
    Zero {
        /// Counted from 1.
        task: usize,
        /// Which number.
        what: &'static str,
    },
    /// A number is larger than [`TaskSet::MOST_US`].
    #[error("task {task}: its {what} is longer than {} us (12 days)", TaskSet::MOST_US)]
    Long {
        /// Counted from 1.
        task: usize,
        /// Which number.
        what: &'static str,
    },
    /// There are more than [`TaskSet::MOST_TASKS`].
    #[error("{0} tasks are more than {most}", most = TaskSet::MOST_TASKS)]
    Many(usize),
}

impl TaskSet {
    /// No time is longer, in us: sums and products of what a task set says then fit 128 bits.
    pub const MOST_US: u64 = 1 << 40;
    /// No set has more.
    pub const MOST_TASKS: usize = 1 << 20;

    /// These tasks.
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
}

impl std::ops::Deref for TaskSet {
    type Target = [Sporadic];
    fn deref(&self) -> &[Sporadic] {
        &self.0
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
        // More than its deadline: a set that cannot be scheduled is a set.
        assert!(of(9, 5).is_ok());
    }
}
